#include "kube/token_source.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace kube {
namespace {

constexpr size_t kMaxTokenBytes = 64 << 10;
constexpr absl::Duration kReadAgainAfter = absl::Seconds(10);

}  // namespace

absl::StatusOr<std::string> CheckToken(absl::string_view text, absl::string_view where) {
  const absl::string_view token = absl::StripAsciiWhitespace(text);
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(where, ": the token is empty"));
  const bool printable =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (token.size() > kMaxTokenBytes || !printable) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": this is no token"));
  }
  return std::string(token);
}

absl::StatusOr<std::string> FileTokenSource::Token() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = clock_.Now();
  if (now - read_at_ < kReadAgainAfter && now >= read_at_) return token_;
  const absl::StatusOr<std::string> text = base::ReadFile(path_, kMaxTokenBytes);
  absl::StatusOr<std::string> token =
      text.ok() ? CheckToken(*text, path_) : absl::StatusOr<std::string>(text.status());
  if (!token.ok()) {
    if (token_.empty()) return token.status();
    return token_;
  }
  token_ = *std::move(token);
  read_at_ = now;
  return token_;
}

void FileTokenSource::Refused() {
  absl::MutexLock lock(&mutex_);
  read_at_ = absl::InfinitePast();
}

}  // namespace kube
