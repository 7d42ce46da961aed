// X.509 certificates of an OCI instance, as far as its identity needs them.
#ifndef OCI_BACKEND_DRAIN_OCI_CERTIFICATE_H_
#define OCI_BACKEND_DRAIN_OCI_CERTIFICATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace oci {

struct Certificate {
  std::string der_base64;      // as it stands in PEM, without line breaks
  std::string fingerprint;     // SHA-1 over the DER form: "aa:bb:..."
  std::string public_key_pem;  // as PrivateKey::PublicKeyPem
  // From a value "opc-tenant:ocid1.tenancy..." in the subject; empty if it has none.
  std::string tenancy;
  absl::Time not_before;
  absl::Time not_after;
};

// Every certificate of the PEM text, 1 to 10 of them; what surrounds them is ignored.
// InvalidArgument that begins with `what` for none, too many or a damaged one.
absl::StatusOr<std::vector<Certificate>> ParseCertificates(absl::string_view pem,
                                                           absl::string_view what);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CERTIFICATE_H_
