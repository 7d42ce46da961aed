// Certificates and keys made at test time, so that none is in the repository.
#ifndef OCI_BACKEND_DRAIN_SIM_CERTIFICATES_H_
#define OCI_BACKEND_DRAIN_SIM_CERTIFICATES_H_

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sim {

struct CertificateOptions {
  std::string common_name = {};  // empty: "test CA" of an authority, else "test"
  // Host names and IPv4 addresses that it is for.
  std::vector<std::string> names = {};
  bool is_authority = false;
  // "opc-tenant:ocid1..." of an instance of OCI. Empty: none.
  std::string organizational_unit = {};
  bool rsa = false;  // else an EC key, which is quick to make
  // Relative to now.
  absl::Duration valid_from = -absl::Hours(1);
  absl::Duration valid_until = absl::Hours(24);
};

struct CertificateAndKey {
  std::string certificate_pem;
  std::string key_pem;
};

// Signed by `issuer`, or by itself if null.
CertificateAndKey MakeCertificate(const CertificateOptions& options,
                                  const CertificateAndKey* issuer = nullptr);

// An RSA private key, PKCS#8 PEM, as API keys have.
std::string MakeRsaKeyPem(int bits = 2048);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CERTIFICATES_H_
