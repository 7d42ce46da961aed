#include "oci/ingress_secret.h"

#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "kube/yaml_view.h"
#include "oci/private_key.h"

namespace oci {
namespace {

constexpr size_t kMaxBytes = 256 << 10;
// How often it is read until no new version came in between.
constexpr int kTries = 3;

// Which version of the volume is mounted: what the kubelet's link says. Empty for a
// folder of plain files.
std::string VersionOf(const std::string& folder) {
  std::array<char, 256> target = {};
  const ssize_t length =
      readlink(absl::StrCat(folder, "/..data").c_str(), target.data(), target.size());
  return length <= 0 ? "" : std::string(target.data(), static_cast<size_t>(length));
}

absl::Status In(absl::string_view folder, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("OCI Secret in ", folder, ": ", status.message()));
}

struct Contents {
  std::string region;
  Credentials credentials;
};

absl::StatusOr<Contents> ReadVersion(const std::string& folder, const std::string& version) {
  const std::string place = version.empty() ? folder : absl::StrCat(folder, "/", version);
  const absl::StatusOr<std::string> yaml = base::ReadFile(place + "/config", kMaxBytes);
  if (!yaml.ok()) return yaml.status();
  const absl::StatusOr<std::string> pem = base::ReadFile(place + "/private-key", kMaxBytes);
  if (!pem.ok()) return pem.status();
  const absl::StatusOr<ConfigProfile> profile = ParseIngressSecretConfig(*yaml, "key config");
  if (!profile.ok()) return profile.status();
  absl::StatusOr<std::string> id = ApiKeyId(*profile, ": ");
  if (!id.ok()) {
    return absl::Status(id.status().code(),
                        absl::StrCat("key config: auth: ", id.status().message()));
  }
  if (profile->region.empty()) {
    return absl::InvalidArgumentError(
        "key config: auth: region: missing; add region: <such as us-ashburn-1>");
  }
  auto key = PrivateKey::FromPem(*pem, profile->pass_phrase);
  if (!key.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key private-key: ", key.status().message(),
        profile->pass_phrase.empty() ? "; if it is encrypted, add passphrase to auth" : ""));
  }
  return Contents{.region = profile->region,
                  .credentials = {.key_id = *std::move(id), .key = *std::move(key)}};
}

absl::StatusOr<Contents> ReadSecret(const std::string& folder) {
  absl::StatusOr<Contents> contents = absl::UnknownError("");
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    const std::string version = VersionOf(folder);
    contents = ReadVersion(folder, version);
    // A version that went away while it was read is no error, but the next is to be read.
    if (contents.ok() || VersionOf(folder) == version) break;
  }
  if (!contents.ok()) return In(folder, contents.status());
  return contents;
}

}  // namespace

absl::StatusOr<ConfigProfile> ParseIngressSecretConfig(const std::string& yaml,
                                                       absl::string_view what) {
  const absl::StatusOr<kube::YamlView> document = kube::ParseYaml(yaml);
  if (!document.ok()) {
    // The parser's words could show a value.
    return absl::InvalidArgumentError(absl::StrCat(what, ": it is no YAML that can be read"));
  }
  const kube::YamlView auth = (*document)["auth"];
  if (!auth.exists()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": there is no auth: with region, tenancy, user and fingerprint"));
  }
  ConfigProfile profile;
  const std::pair<const char*, std::string*> fields[] = {{"region", &profile.region},
                                                         {"tenancy", &profile.tenancy},
                                                         {"user", &profile.user},
                                                         {"fingerprint", &profile.fingerprint},
                                                         {"passphrase", &profile.pass_phrase}};
  for (const auto& [name, field] : fields) {
    const kube::YamlView value = auth[name];
    if (!value.exists()) continue;
    std::optional<std::string> text = value.Text();
    if (!text.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": auth: ", name, " is no text"));
    }
    *field = *std::move(text);
  }
  return profile;
}

absl::StatusOr<std::unique_ptr<IngressSecretCredentials>> IngressSecretCredentials::Load(
    const std::string& folder) {
  absl::StatusOr<Contents> read = ReadSecret(folder);
  if (!read.ok()) return read.status();
  return std::unique_ptr<IngressSecretCredentials>(
      new IngressSecretCredentials(folder, std::move(read->region), std::move(read->credentials)));
}

IngressSecretCredentials::IngressSecretCredentials(std::string folder, std::string region,
                                                   Credentials credentials)
    : folder_(std::move(folder)),
      region_(std::move(region)),
      credentials_(std::move(credentials)) {}

absl::StatusOr<Credentials> IngressSecretCredentials::Get() {
  absl::MutexLock lock(&mutex_);
  return credentials_;
}

absl::Status IngressSecretCredentials::Refresh(const Credentials& refused) {
  absl::MutexLock lock(&mutex_);
  if (credentials_.key != refused.key) return absl::OkStatus();
  absl::StatusOr<Contents> read = ReadSecret(folder_);
  if (!read.ok()) return read.status();
  credentials_ = std::move(read->credentials);
  return absl::OkStatus();
}

}  // namespace oci
