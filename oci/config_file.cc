#include "oci/config_file.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "oci/security_token.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr size_t kMaxTokenBytes = 64 << 10;
constexpr size_t kMaxNamedProfiles = 10;
constexpr absl::Duration kLookForNewToken = absl::Minutes(5);
constexpr absl::Duration kBetweenLooks = absl::Seconds(10);

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

// Fit for a quoted string of a header.
bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

bool IsFingerprint(absl::string_view text) {
  const std::vector<absl::string_view> pairs = absl::StrSplit(text, ':');
  return pairs.size() == 16 && std::all_of(pairs.begin(), pairs.end(), [](absl::string_view p) {
           return p.size() == 2 && absl::ascii_isxdigit(static_cast<unsigned char>(p[0])) &&
                  absl::ascii_isxdigit(static_cast<unsigned char>(p[1]));
         });
}

absl::Status Prefixed(absl::string_view prefix, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

std::string PathOf(const ConfigFileOptions& options) {
  if (!options.path.empty()) return options.path;
  const std::string usual = absl::StrCat(options.environment("HOME").value_or(""), "/.oci/config");
  if (access(usual.c_str(), F_OK) == 0) return usual;
  return options.environment("OCI_CONFIG_FILE").value_or(usual);
}

}  // namespace

// One read of everything a profile names; `Wrong` makes its errors.
class ConfigFileCredentials::Reader {
 public:
  explicit Reader(const ConfigFileOptions& options) : options_(options), path_(PathOf(options)) {}

  absl::StatusOr<Contents> Read() {
    const absl::StatusOr<std::string> text = base::ReadFile(path_, kMaxConfigBytes);
    if (!text.ok()) return Prefixed("OCI configuration: ", text.status());
    absl::StatusOr<ConfigProfile> profile = ParseConfigProfile(*text, options_.profile);
    if (!profile.ok()) {
      return Prefixed(absl::StrCat("OCI configuration ", path_, ": "), profile.status());
    }
    profile_ = *std::move(profile);
    Contents contents;
    contents.region =
        profile_.region.empty() ? ValueOf(options_.environment, "OCI_REGION") : profile_.region;
    const absl::Status identified = Identify(contents);
    if (!identified.ok()) return identified;
    absl::StatusOr<std::shared_ptr<const PrivateKey>> key = Key();
    if (!key.ok()) return key.status();
    contents.credentials.key = *std::move(key);
    return contents;
  }

 private:
  std::string Where(absl::string_view key) const {
    return absl::StrCat("OCI configuration ", path_, ", profile ", options_.profile, ": ", key,
                        ": ");
  }

  absl::Status Wrong(absl::string_view key, absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat(Where(key), why));
  }

  std::string Expanded(const std::string& path) const {
    if (path != "~" && !absl::StartsWith(path, "~/")) return path;
    return absl::StrCat(ValueOf(options_.environment, "HOME"), path.substr(1));
  }

  absl::Status Identify(Contents& contents) const {
    if (!profile_.authentication_type.empty() &&
        !absl::EqualsIgnoreCase(profile_.authentication_type, "api_key") &&
        !absl::EqualsIgnoreCase(profile_.authentication_type, "security_token")) {
      return Wrong("authentication_type",
                   absl::StrCat(OneLine(profile_.authentication_type, 64),
                                " is neither an API key nor a session token; remove the line or "
                                "choose another profile or --auth"));
    }
    if (options_.session_token && profile_.security_token_file.empty()) {
      return Wrong("security_token_file",
                   "missing; choose the profile that oci session authenticate made");
    }
    const bool session =
        !profile_.security_token_file.empty() && (options_.session_token || profile_.user.empty());
    if (session) return ReadSessionToken(contents);
    absl::StatusOr<std::string> id = ApiKeyId(profile_, "=");
    if (!id.ok()) {
      return Prefixed(
          absl::StrCat("OCI configuration ", path_, ", profile ", options_.profile, ": "),
          id.status());
    }
    contents.credentials.key_id = *std::move(id);
    return absl::OkStatus();
  }

  absl::Status ReadSessionToken(Contents& contents) const {
    const std::string path = Expanded(profile_.security_token_file);
    const absl::StatusOr<std::string> text = base::ReadFile(path, kMaxTokenBytes);
    if (!text.ok()) return Wrong("security_token_file", text.status().message());
    const absl::StatusOr<SecurityToken> token = ParseSecurityToken(*text, path);
    if (!token.ok()) {
      return Wrong("security_token_file",
                   absl::StrCat(token.status().message(), "; run: oci session authenticate"));
    }
    if (token->expires - options_.clock->Now() <= kLeastTokenLife) {
      return absl::UnauthenticatedError(absl::StrCat(
          Where("security_token_file"), path, ": the token ended at ", TimeText(token->expires),
          "; run: oci session authenticate, and oci session refresh --profile ", options_.profile,
          " before it ends"));
    }
    contents.expires = token->expires;
    contents.credentials.key_id = absl::StrCat("ST$", token->text);
    return absl::OkStatus();
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

  const ConfigFileOptions& options_;
  const std::string path_;
  ConfigProfile profile_;
};

absl::StatusOr<std::string> ApiKeyId(const ConfigProfile& profile, absl::string_view separator) {
  const auto wrong = [](absl::string_view key, const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": ", why));
  };
  const std::pair<absl::string_view, const std::string&> ocids[] = {{"tenancy", profile.tenancy},
                                                                    {"user", profile.user}};
  for (const auto& [key, value] : ocids) {
    if (value.empty()) {
      return wrong(key, absl::StrCat("missing; add ", key, separator,
                                     "<its OCID, as the console shows it>"));
    }
    if (!absl::StartsWith(value, "ocid") || !IsPlain(value)) {
      return wrong(key, absl::StrCat("\"", OneLine(value, 64), "\" is not an OCID; expected ", key,
                                     separator, "ocid1.", key, ".oc1.."));
    }
  }
  if (profile.fingerprint.empty()) {
    return wrong("fingerprint", absl::StrCat("missing; add fingerprint", separator,
                                             "<that of the API key, as the console shows it>"));
  }
  if (!IsFingerprint(profile.fingerprint)) {
    return wrong("fingerprint", absl::StrCat("\"", OneLine(profile.fingerprint, 64),
                                             "\" is not 16 pairs of hex digits with colons"));
  }
  return absl::StrCat(profile.tenancy, "/", profile.user, "/", profile.fingerprint);
}

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

absl::StatusOr<std::unique_ptr<ConfigFileCredentials>> ConfigFileCredentials::Load(
    ConfigFileOptions options) {
  absl::StatusOr<Contents> read = Reader(options).Read();
  if (!read.ok()) return read.status();
  return std::unique_ptr<ConfigFileCredentials>(
      new ConfigFileCredentials(std::move(options), *std::move(read)));
}

ConfigFileCredentials::ConfigFileCredentials(ConfigFileOptions options, Contents contents)
    : options_(std::move(options)), region_(contents.region), contents_(std::move(contents)) {}

absl::StatusOr<Credentials> ConfigFileCredentials::Get() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = options_.clock->Now();
  absl::Status read;
  if (contents_.expires - now <= kLookForNewToken && now - read_ >= kBetweenLooks) {
    read = ReadAgain(now);
  }
  if (contents_.expires - now > kLeastTokenLife) return contents_.credentials;
  if (!read.ok()) return read;
  return absl::UnauthenticatedError(
      absl::StrCat("OCI configuration, profile ", options_.profile,
                   ": the session token has ended; run: oci session authenticate"));
}

absl::Status ConfigFileCredentials::Refresh(const Credentials& refused) {
  absl::MutexLock lock(&mutex_);
  const auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return contents_.credentials.key_id != refused.key_id ||
           contents_.credentials.key != refused.key;
  };
  if (changed()) return absl::OkStatus();
  return ReadAgain(options_.clock->Now());
}

absl::Status ConfigFileCredentials::ReadAgain(absl::Time now) {
  read_ = now;
  absl::StatusOr<Contents> read = Reader(options_).Read();
  if (!read.ok()) return read.status();
  contents_ = *std::move(read);
  return absl::OkStatus();
}

}  // namespace oci
