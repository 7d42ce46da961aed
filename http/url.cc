#include "http/url.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace http {
namespace {

int DefaultPort(bool tls) { return tls ? 443 : 80; }

bool IsHostCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
}

std::string Encode(absl::string_view text, absl::string_view also_literal) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || absl::StrContains("-._~", c) ||
        absl::StrContains(also_literal, c)) {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(kHex[byte >> 4]);
      encoded.push_back(kHex[byte & 15]);
    }
  }
  return encoded;
}

}  // namespace

std::string ServerUrl::Authority() const {
  return port == DefaultPort(tls) ? host : absl::StrCat(host, ":", port);
}

std::string ServerUrl::ToString() const {
  return absl::StrCat(tls ? "https://" : "http://", Authority());
}

absl::StatusOr<ServerUrl> ParseServerUrl(absl::string_view text) {
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("server address \"", text.substr(0, 256),
                                                   "\": ", why, "; expected https://host[:port]"));
  };
  ServerUrl url;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "https://")) {
    url.tls = true;
  } else if (!absl::ConsumePrefix(&rest, "http://")) {
    return refuse("it does not start with http:// or https://");
  }
  absl::ConsumeSuffix(&rest, "/");
  if (absl::StrContains(rest, '@')) return refuse("user information is not supported");
  if (absl::StrContains(rest, '[')) {
    return refuse("an IPv6 literal is not supported, use a host name");
  }
  if (rest.find_first_of("/?#") != absl::string_view::npos) {
    return refuse("a path or query is not supported");
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, absl::MaxSplits(':', 1));
  url.host = absl::AsciiStrToLower(parts[0]);
  url.port = DefaultPort(url.tls);
  if (url.host.empty()) return refuse("the host is empty");
  for (const char c : url.host) {
    if (!IsHostCharacter(c)) return refuse("the host has a character that no host name has");
  }
  // "iaas..oraclecloud.com" is what an empty region makes.
  if (url.host.front() == '.' || absl::StrContains(url.host, "..")) {
    return refuse("the host has an empty label");
  }
  if (parts.size() == 2 &&
      (!absl::SimpleAtoi(parts[1], &url.port) || url.port < 1 || url.port > 65535)) {
    return refuse("the port is not a number from 1 to 65535");
  }
  return url;
}

bool IsIpv4Literal(absl::string_view host) {
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  if (parts.size() != 4) return false;
  for (const absl::string_view part : parts) {
    if (part.empty() || part.size() > 3) return false;
    for (const char c : part) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
    }
  }
  return true;
}

std::string EncodePathSegment(absl::string_view segment) { return Encode(segment, ":"); }

std::string EncodeQueryValue(absl::string_view value) { return Encode(value, ""); }

}  // namespace http
