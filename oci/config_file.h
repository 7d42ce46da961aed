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

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "oci/credentials.h"
#include "oci/environment.h"

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

// "tenancy/user/fingerprint", as which OCI knows the profile's API key. InvalidArgument
// begins with the key that is missing or wrong, and shows how it is set in a file where
// keys and values are written with `separator` between: "=" or ": ".
absl::StatusOr<std::string> ApiKeyId(const ConfigProfile& profile, absl::string_view separator);

struct ConfigFileOptions {
  // Empty: $HOME/.oci/config if it exists, else $OCI_CONFIG_FILE, else the former.
  std::string path = {};
  std::string profile = "DEFAULT";
  // Insists on the profile's security_token_file. Otherwise it is used where the profile
  // has no user.
  bool session_token = false;
  Environment environment = ProcessEnvironment();
  base::Clock* clock = &base::RealClock();  // outlives the credentials
};

class ConfigFileCredentials final : public CredentialsProvider {
 public:
  // Reads the file, the key and the token, which must not have ended. Every error names
  // file, profile and key, and what to put there; none shows a secret.
  static absl::StatusOr<std::unique_ptr<ConfigFileCredentials>> Load(ConfigFileOptions options);

  // As of Load: the profile's, else $OCI_REGION, else empty.
  const std::string& region() const { return region_; }

  // A session token within five minutes of its end is looked for again in its file, every
  // ten seconds: `oci session refresh` puts a new one there. Unauthenticated, with that
  // advice, where it has ended.
  absl::StatusOr<Credentials> Get() override;
  // Reads all files again: a key may have been replaced, a session renewed.
  absl::Status Refresh(const Credentials& refused) override;

 private:
  // What was read at one moment.
  struct Contents {
    std::string region;
    Credentials credentials;
    absl::Time expires = absl::InfiniteFuture();  // of the session token
  };
  class Reader;

  ConfigFileCredentials(ConfigFileOptions options, Contents contents);

  absl::Status ReadAgain(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ConfigFileOptions options_;
  const std::string region_;
  absl::Mutex mutex_;
  Contents contents_ ABSL_GUARDED_BY(mutex_);
  absl::Time read_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CONFIG_FILE_H_
