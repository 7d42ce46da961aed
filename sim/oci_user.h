// A user of the fake OCI API: a key, and the configuration file that names it.
#ifndef OCI_BACKEND_DRAIN_SIM_OCI_USER_H_
#define OCI_BACKEND_DRAIN_SIM_OCI_USER_H_

#include <string>

#include "absl/status/status.h"
#include "sim/request_signature.h"

namespace sim {

// A value; its copies have the same key.
class OciUser {
 public:
  // Makes the key, which takes some milliseconds.
  OciUser() : key_(MakeKeyPair()) {}

  const KeyPair& key() const { return key_; }
  // Under which a SignatureVerifier knows the key.
  std::string key_id() const;
  // The fake answers this user's requests, as `client`.
  absl::Status AddTo(SignatureVerifier& verifier, const std::string& client) const;
  // Writes key.pem and config into the folder, for oci::ConfigFileCredentials and
  // --oci_config_file. The error names the file.
  absl::Status WriteConfig(const std::string& folder) const;

 private:
  KeyPair key_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_OCI_USER_H_
