// An RSA private key of an API user or a session.
#ifndef OCI_BACKEND_DRAIN_OCI_PRIVATE_KEY_H_
#define OCI_BACKEND_DRAIN_OCI_PRIVATE_KEY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct evp_pkey_st;

namespace oci {

// Immutable and thread-safe. No message or accessor shows any of it.
class PrivateKey {
 public:
  // `pem`: PKCS#1 or PKCS#8, plain or encrypted (the old DEK-Info form too); what
  // surrounds the PEM block is ignored. InvalidArgument says what is wrong: not
  // PEM, not RSA, encrypted without or with another pass phrase.
  static absl::StatusOr<std::shared_ptr<const PrivateKey>> FromPem(absl::string_view pem,
                                                                   absl::string_view pass_phrase);
  // A new RSA key of 2048 bits, for a session. Takes some 100 ms.
  static absl::StatusOr<std::shared_ptr<const PrivateKey>> Generate();
  ~PrivateKey();
  PrivateKey(const PrivateKey&) = delete;
  PrivateKey& operator=(const PrivateKey&) = delete;

  // RSASSA-PKCS1-v1_5 over SHA-256, base64.
  absl::StatusOr<std::string> Sign(absl::string_view text) const;

  // "-----BEGIN PUBLIC KEY-----...", for whoever is to verify signatures.
  std::string PublicKeyPem() const;

 private:
  explicit PrivateKey(evp_pkey_st* key) : key_(key) {}
  evp_pkey_st* const key_;
};

// Base64 of the SHA-256 of `bytes`.
std::string Sha256Base64(absl::string_view bytes);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_PRIVATE_KEY_H_
