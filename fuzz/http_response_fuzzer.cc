// What a server sends to the probe: the same whatever the pieces in which it arrives.
#include "fuzz/fuzzer.h"
#include "probe/response_parser.h"

namespace {

constexpr probe::ResponseParser::Bounds kBounds = {.head_bytes = 512, .body_bytes = 4096};

struct Seen {
  probe::ResponseParser::State state = probe::ResponseParser::State::kMore;
  size_t used = 0;
};

Seen Feed(absl::string_view text, size_t step, probe::ResponseParser& parser) {
  Seen seen;
  for (size_t at = 0; at < text.size() && seen.state == probe::ResponseParser::State::kMore;
       at += step) {
    size_t used = 0;
    seen.state = parser.Feed(text.substr(at, step), used);
    seen.used += used;
  }
  return seen;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  probe::ResponseParser whole(kBounds);
  const Seen at_once = Feed(text, size + 1, whole);
  fuzz::Require(at_once.used <= size, "no more is used than there is");
  probe::ResponseParser split(kBounds);
  const Seen in_pieces = Feed(text, 1, split);
  const bool done = at_once.state == probe::ResponseParser::State::kDone;
  fuzz::Require(done == (in_pieces.state == probe::ResponseParser::State::kDone),
                "the end does not depend on the pieces");
  if (!done) return 0;
  fuzz::Require(at_once.used == in_pieces.used, "nor does its place");
  fuzz::Require(whole.status() == split.status() && whole.keep_alive() == split.keep_alive(),
                "nor what was read");
  fuzz::Require(whole.cookies().size() <= 16, "cookies have a bound");
  return 0;
}
