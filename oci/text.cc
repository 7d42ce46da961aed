#include "oci/text.h"

#include "absl/strings/ascii.h"

namespace oci {

std::string OneLine(absl::string_view text, size_t max_bytes) {
  std::string line;
  for (const char c : absl::StripAsciiWhitespace(text)) {
    if (line.size() >= max_bytes) return line + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isspace(byte)) {
      if (line.back() != ' ') line.push_back(' ');
    } else {
      line.push_back(absl::ascii_isprint(byte) ? c : '?');
    }
  }
  return line;
}

}  // namespace oci
