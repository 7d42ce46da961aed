#include "oci/config_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
// What a header can carry.
constexpr size_t kMaxTokenBytes = 32 << 10;
constexpr size_t kMaxNamedProfiles = 10;

// The name within "[NAME]" if a profile begins here.
std::optional<absl::string_view> ProfileHeader(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "[")) return std::nullopt;
  const size_t end = line.rfind(']');
  if (end == absl::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

void SetField(ConfigProfile& profile, absl::string_view key, absl::string_view value) {
  const std::pair<absl::string_view, std::string*> fields[] = {
      {"user", &profile.user},
      {"fingerprint", &profile.fingerprint},
      {"tenancy", &profile.tenancy},
      {"region", &profile.region},
      {"key_file", &profile.key_file},
      {"pass_phrase", &profile.pass_phrase},
      {"passphrase", &profile.pass_phrase},
      {"security_token_file", &profile.security_token_file},
      {"authentication_type", &profile.authentication_type},
  };
  for (const auto& [name, field] : fields) {
    if (absl::EqualsIgnoreCase(name, key)) *field = std::string(value);
  }
}

// One read of everything a profile names; `Wrong` makes its errors.
class ProfileReader {
 public:
  ProfileReader(const ConfigFileOptions& options, std::string path)
      : options_(options), path_(std::move(path)) {}

  struct Result {
    std::string region;
    Credentials credentials;
  };

  absl::StatusOr<Result> Read() {
    const absl::StatusOr<std::string> text = base::ReadFile(path_, kMaxConfigBytes);
    if (!text.ok()) return Prefixed("OCI configuration: ", text.status());
    absl::StatusOr<ConfigProfile> profile = ParseConfigProfile(*text, options_.profile);
    if (!profile.ok()) {
      return Prefixed(absl::StrCat("OCI configuration ", path_, ": "), profile.status());
    }
    profile_ = *std::move(profile);
    Result result;
    result.region =
        profile_.region.empty() ? options_.environment("OCI_REGION").value_or("") : profile_.region;
    const absl::StatusOr<std::string> key_id = KeyId();
    if (!key_id.ok()) return key_id.status();
    absl::StatusOr<std::shared_ptr<const PrivateKey>> key = Key();
    if (!key.ok()) return key.status();
    result.credentials = {.key_id = *key_id, .key = *std::move(key)};
    return result;
  }

 private:
  static absl::Status Prefixed(absl::string_view prefix, const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
  }

  absl::Status Wrong(absl::string_view key, absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat("OCI configuration ", path_, ", profile ",
                                                   options_.profile, ": ", key, ": ", why));
  }

  std::string Expanded(const std::string& path) const {
    if (path != "~" && !absl::StartsWith(path, "~/")) return path;
    return absl::StrCat(options_.environment("HOME").value_or(""), path.substr(1));
  }

  absl::StatusOr<std::string> KeyId() const {
    if (!profile_.authentication_type.empty() &&
        !absl::EqualsIgnoreCase(profile_.authentication_type, "api_key") &&
        !absl::EqualsIgnoreCase(profile_.authentication_type, "security_token")) {
      return Wrong("authentication_type",
                   absl::StrCat(OneLine(profile_.authentication_type, 64),
                                " is neither an API key nor a session token; remove the line or "
                                "choose another profile"));
    }
    if (profile_.user.empty() && !profile_.security_token_file.empty()) return SessionKeyId();
    const std::pair<absl::string_view, const std::string&> ocids[] = {{"tenancy", profile_.tenancy},
                                                                      {"user", profile_.user}};
    for (const auto& [key, value] : ocids) {
      if (value.empty()) {
        return Wrong(key,
                     absl::StrCat("missing; add ", key, "=<its OCID, as the console shows it>"));
      }
      if (!absl::StartsWith(value, "ocid") || !IsPlain(value)) {
        return Wrong(key, absl::StrCat("\"", OneLine(value, 64), "\" is not an OCID; expected ",
                                       key, "=ocid1.", key, ".oc1.."));
      }
    }
    if (profile_.fingerprint.empty()) {
      return Wrong("fingerprint",
                   "missing; add fingerprint=<that of the API key, as the console shows it>");
    }
    if (!IsFingerprint(profile_.fingerprint)) {
      return Wrong("fingerprint", absl::StrCat("\"", OneLine(profile_.fingerprint, 64),
                                               "\" is not 16 pairs of hex digits with colons"));
    }
    return absl::StrCat(profile_.tenancy, "/", profile_.user, "/", profile_.fingerprint);
  }

  absl::StatusOr<std::string> SessionKeyId() const {
    const std::string path = Expanded(profile_.security_token_file);
    const absl::StatusOr<std::string> text = base::ReadFile(path, kMaxTokenBytes);
    if (!text.ok()) return Wrong("security_token_file", text.status().message());
    const absl::string_view token = absl::StripAsciiWhitespace(*text);
    if (token.empty() || !IsPlain(token)) {
      return Wrong("security_token_file",
                   absl::StrCat(path, " has no token; run: oci session authenticate"));
    }
    return absl::StrCat("ST$", token);
  }

  absl::StatusOr<std::shared_ptr<const PrivateKey>> Key() const {
    if (profile_.key_file.empty()) {
      return Wrong("key_file", "missing; add key_file=<path of the private key in PEM form>");
    }
    const std::string path = Expanded(profile_.key_file);
    const absl::StatusOr<std::string> pem = base::ReadFile(path, kMaxConfigBytes);
    if (!pem.ok()) return Wrong("key_file", pem.status().message());
    absl::StatusOr<std::shared_ptr<const PrivateKey>> key =
        PrivateKey::FromPem(*pem, profile_.pass_phrase);
    if (!key.ok()) {
      return Wrong("key_file",
                   absl::StrCat("cannot read private key ", path, ": ", key.status().message(),
                                profile_.pass_phrase.empty() ? "; if it is encrypted, add "
                                                               "pass_phrase=..."
                                                             : ""));
    }
    return key;
  }

  // Fit for a quoted string of a header.
  static bool IsPlain(absl::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  }

  static bool IsFingerprint(absl::string_view text) {
    const std::vector<absl::string_view> pairs = absl::StrSplit(text, ':');
    return pairs.size() == 16 && std::all_of(pairs.begin(), pairs.end(), [](absl::string_view p) {
             return p.size() == 2 && absl::ascii_isxdigit(static_cast<unsigned char>(p[0])) &&
                    absl::ascii_isxdigit(static_cast<unsigned char>(p[1]));
           });
  }

  const ConfigFileOptions& options_;
  const std::string path_;
  ConfigProfile profile_;
};

std::string PathOf(const ConfigFileOptions& options) {
  if (!options.path.empty()) return options.path;
  const std::string usual = absl::StrCat(options.environment("HOME").value_or(""), "/.oci/config");
  if (access(usual.c_str(), F_OK) == 0) return usual;
  return options.environment("OCI_CONFIG_FILE").value_or(usual);
}

}  // namespace

absl::StatusOr<ConfigProfile> ParseConfigProfile(absl::string_view text,
                                                 absl::string_view profile) {
  ConfigProfile result;
  bool found = false;
  std::vector<std::string> names;
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (const std::optional<absl::string_view> name = ProfileHeader(line); name.has_value()) {
      if (found) return result;
      found = *name == profile;
      if (names.size() < kMaxNamedProfiles) names.push_back(OneLine(*name, 64));
      continue;
    }
    if (!found) continue;
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() < 2) continue;
    SetField(result, absl::StripAsciiWhitespace(parts[0]), absl::StripAsciiWhitespace(parts[1]));
  }
  if (found) return result;
  return absl::NotFoundError(
      absl::StrCat("no profile [", OneLine(profile, 64), "]; ",
                   names.empty() ? "it has none, and needs a line [DEFAULT]"
                                 : absl::StrCat("it has ", absl::StrJoin(names, ", "))));
}

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<std::unique_ptr<ConfigFileCredentials>> ConfigFileCredentials::Load(
    ConfigFileOptions options) {
  absl::StatusOr<ProfileReader::Result> read = ProfileReader(options, PathOf(options)).Read();
  if (!read.ok()) return read.status();
  return std::unique_ptr<ConfigFileCredentials>(new ConfigFileCredentials(
      std::move(options), std::move(read->region), std::move(read->credentials)));
}

ConfigFileCredentials::ConfigFileCredentials(ConfigFileOptions options, std::string region,
                                             Credentials credentials)
    : options_(std::move(options)),
      region_(std::move(region)),
      credentials_(std::move(credentials)) {}

absl::StatusOr<Credentials> ConfigFileCredentials::Get() {
  absl::MutexLock lock(&mutex_);
  return credentials_;
}

absl::Status ConfigFileCredentials::Refresh() {
  absl::StatusOr<ProfileReader::Result> read = ProfileReader(options_, PathOf(options_)).Read();
  if (!read.ok()) return read.status();
  absl::MutexLock lock(&mutex_);
  credentials_ = std::move(read->credentials);
  return absl::OkStatus();
}

}  // namespace oci
