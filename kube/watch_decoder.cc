#include "kube/watch_decoder.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {

// After a longer line its memory is given back.
constexpr size_t kKeptBytes = 64 << 10;

}  // namespace

absl::Status WatchDecoder::Feed(absl::string_view bytes, const OnEvent& on_event) {
  for (;;) {
    const size_t end = bytes.find('\n');
    const absl::string_view piece = bytes.substr(0, end);
    if (incomplete_.size() + piece.size() > max_line_bytes_) {
      Reset();
      return absl::ResourceExhaustedError(absl::StrCat("watch ", ResourceName(resource_),
                                                       ": a line is longer than ", max_line_bytes_,
                                                       " bytes"));
    }
    if (end == absl::string_view::npos) {
      incomplete_.append(piece.data(), piece.size());
      return absl::OkStatus();
    }
    bytes.remove_prefix(end + 1);
    absl::Status status;
    if (incomplete_.empty()) {
      status = TakeLine(piece, on_event);
    } else {
      incomplete_.append(piece.data(), piece.size());
      status = TakeLine(incomplete_, on_event);
      Reset();
    }
    if (!status.ok()) return status;
  }
}

void WatchDecoder::Reset() {
  incomplete_.clear();
  if (incomplete_.capacity() > kKeptBytes) incomplete_.shrink_to_fit();
}

absl::Status WatchDecoder::TakeLine(absl::string_view line, const OnEvent& on_event) {
  if (absl::StripAsciiWhitespace(line).empty()) return absl::OkStatus();
  absl::StatusOr<WatchEvent> event = DecodeWatchEvent(resource_, line);
  if (!event.ok()) return event.status();
  return on_event(*std::move(event));
}

}  // namespace kube
