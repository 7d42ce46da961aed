// The stream of a watch: however the network cuts it, the events are the same.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/fuzzer.h"
#include "kube/watch_decoder.h"

namespace {

constexpr size_t kMaxLineBytes = 16 << 10;

std::string Describe(const kube::WatchEvent& event) {
  return absl::StrCat(static_cast<int>(event.type), " ", event.resource_version, " ",
                      event.key.ToString(), " ", event.uid, " ", event.object.has_value(), " ",
                      event.error.ToString());
}

// What comes of `stream` in pieces of at most `piece_bytes`: the events, and how it
// ended.
std::vector<std::string> Decode(kube::Resource resource, absl::string_view stream,
                                size_t piece_bytes) {
  std::vector<std::string> seen;
  kube::WatchDecoder decoder(resource, kMaxLineBytes);
  absl::Status status;
  while (status.ok() && !stream.empty()) {
    const absl::string_view piece = stream.substr(0, piece_bytes);
    stream.remove_prefix(piece.size());
    status = decoder.Feed(piece, [&](const kube::WatchEvent& event) {
      seen.push_back(Describe(event));
      return absl::OkStatus();
    });
  }
  seen.push_back(status.ToString());
  return seen;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view stream = fuzz::TextOf(data, size);
  for (const kube::Resource resource :
       {kube::Resource::kPods, kube::Resource::kEndpointSlices, kube::Resource::kIngresses}) {
    const std::vector<std::string> whole = Decode(resource, stream, std::max<size_t>(size, 1));
    for (const size_t piece_bytes : {1, 7, 1024}) {
      fuzz::Require(Decode(resource, stream, piece_bytes) == whole,
                    "a stream gives the same events however it is cut");
    }
  }
  return 0;
}
