// Credentials out of an OCI configuration file, ~/.oci/config.
//
//   [DEFAULT]
//   user=ocid1.user.oc1..aaaa
//   fingerprint=20:3b:97:13:...
//   tenancy=ocid1.tenancy.oc1..bbbb
//   region=us-ashburn-1
//   key_file=~/.oci/api_key.pem
//   pass_phrase=...                    (only if the key is encrypted)
//
// or, of `oci session authenticate`, security_token_file in place of user.
#ifndef OCI_BACKEND_DRAIN_OCI_CONFIG_FILE_H_
#define OCI_BACKEND_DRAIN_OCI_CONFIG_FILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "oci/credentials.h"

namespace oci {

// The keys of one profile that are used; empty where the file has none.
struct ConfigProfile {
  std::string user;
  std::string fingerprint;
  std::string tenancy;
  std::string region;
  std::string key_file;
  std::string pass_phrase;
  std::string security_token_file;
  std::string authentication_type;
};

// As Oracle's SDKs read it: "[NAME]" at the start of a line begins a profile, the
// first of that name counts and inherits from none; lines without "=" and unknown
// keys are ignored; keys compare without case, values are trimmed and otherwise
// taken as they are, with no quotes and no comments. Unlike theirs, a value may
// contain "=". NotFound names the profiles that `text` has.
absl::StatusOr<ConfigProfile> ParseConfigProfile(absl::string_view text, absl::string_view profile);

// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// That of this process.
Environment ProcessEnvironment();

struct ConfigFileOptions {
  // Empty: $HOME/.oci/config if it exists, else $OCI_CONFIG_FILE, else the former.
  std::string path = {};
  std::string profile = "DEFAULT";
  Environment environment = ProcessEnvironment();
};

class ConfigFileCredentials final : public CredentialsProvider {
 public:
  // Reads the file, the key and the token. Every error names file, profile and key,
  // and what to put there; none shows a secret.
  static absl::StatusOr<std::unique_ptr<ConfigFileCredentials>> Load(ConfigFileOptions options);

  // As of Load: the profile's, else $OCI_REGION, else empty.
  const std::string& region() const { return region_; }

  absl::StatusOr<Credentials> Get() override;
  // Reads all files again: a key may have been replaced, a session renewed.
  absl::Status Refresh() override;

 private:
  ConfigFileCredentials(ConfigFileOptions options, std::string region, Credentials credentials);

  const ConfigFileOptions options_;
  const std::string region_;
  absl::Mutex mutex_;
  Credentials credentials_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CONFIG_FILE_H_
