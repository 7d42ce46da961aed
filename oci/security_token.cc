#include "oci/security_token.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "oci/clock_skew.h"
#include "oci/text.h"

namespace oci {
namespace {

// What a header can carry.
constexpr size_t kMaxTokenBytes = 32 << 10;
// The year 9999: what is later is no time that anybody meant.
constexpr int64_t kLastSecond = 253402300799;

bool IsBase64Url(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

}  // namespace

absl::StatusOr<SecurityToken> ParseSecurityToken(absl::string_view text, absl::string_view what) {
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": not a token: ", why));
  };
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return refuse("it is empty");
  if (text.size() > kMaxTokenBytes) {
    return refuse(absl::StrCat("larger than ", kMaxTokenBytes, " bytes"));
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), IsBase64Url)) {
    return refuse("expected three parts of base64url with dots between");
  }
  std::string claims;
  if (!absl::WebSafeBase64Unescape(parts[1], &claims)) return refuse("its claims are no base64url");
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(claims, "claims");
  // Without the parser's words, which could show a claim.
  if (!document.ok() || !document->IsObject()) return refuse("its claims are no JSON object");
  const absl::StatusOr<int64_t> expires = base::ReadInt(*document, "exp");
  if (!expires.ok() || *expires <= 0 || *expires > kLastSecond) {
    return refuse("its claim exp is not a time in seconds");
  }
  return SecurityToken{.text = std::string(text), .expires = absl::FromUnixSeconds(*expires)};
}

absl::Status CheckNewToken(const SecurityToken& token, const http::Response& answer, absl::Time now,
                           absl::string_view what) {
  if (token.expires - now > kLeastTokenLife) return absl::OkStatus();
  const std::string hint = ClockHint(answer.headers, now);
  return absl::UnauthenticatedError(
      absl::StrCat(what, ": the token that came has ended already, at ", TimeText(token.expires),
                   hint.empty() ? ", though this machine's clock agrees with the server's" : hint));
}

}  // namespace oci
