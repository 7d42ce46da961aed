#include "oci/text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace oci {
namespace {

constexpr absl::string_view kRedacted = "[redacted]";
// What is shorter has no claims.
constexpr size_t kLeastTokenBytes = 16;

bool IsTokenCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-_.=+/", c);
}

// How many bytes at the start of `text` are a secret.
size_t SecretLength(absl::string_view text) {
  // What every JSON Web Token begins with: base64 of {".
  if (absl::StartsWith(text, "eyJ")) {
    size_t length = 0;
    while (length < text.size() && IsTokenCharacter(text[length])) ++length;
    return length < kLeastTokenBytes ? 0 : length;
  }
  constexpr absl::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  if (absl::StartsWith(text, kBegin)) {
    const size_t end = text.find(kEnd);
    if (end == absl::string_view::npos) return text.size();
    const size_t dashes = text.find("-----", end + kEnd.size());
    return dashes == absl::string_view::npos ? text.size() : dashes + 5;
  }
  // Of an Authorization header, with or without escaped quotes.
  for (const absl::string_view name : {"signature=\"", "signature=\\\""}) {
    if (!absl::StartsWithIgnoreCase(text, name)) continue;
    const size_t end = text.find('"', name.size());
    return end == absl::string_view::npos ? text.size() : end + 1;
  }
  return 0;
}

}  // namespace

std::string OneLine(absl::string_view text, size_t max_bytes) {
  std::string line;
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    if (line.size() >= max_bytes) return line + "...";
    if (const size_t secret = SecretLength(text); secret > 0) {
      absl::StrAppend(&line, kRedacted);
      text.remove_prefix(secret);
      continue;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    if (absl::ascii_isspace(byte)) {
      if (line.empty() || line.back() != ' ') line.push_back(' ');
    } else {
      line.push_back(absl::ascii_isprint(byte) ? text.front() : '?');
    }
    text.remove_prefix(1);
  }
  return line;
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace oci
