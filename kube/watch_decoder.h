// The bytes of a watch stream, cut anywhere -> its events.
#ifndef OCI_BACKEND_DRAIN_KUBE_WATCH_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_WATCH_DECODER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/decoder.h"
#include "kube/kube_api.h"

namespace kube {

// Not thread-safe.
class WatchDecoder {
 public:
  // Takes one event. A non-OK answer ends the stream.
  using OnEvent = std::function<absl::Status(WatchEvent)>;

  // A line of more than `max_line_bytes` ends the stream.
  WatchDecoder(Resource resource, size_t max_line_bytes)
      : resource_(resource), max_line_bytes_(max_line_bytes) {}

  // Hands on the events of all lines that are complete now. Not OK: the stream is
  // to be ended; InvalidArgument for a line that is no event, ResourceExhausted
  // for one that is too long, or what `on_event` answered.
  absl::Status Feed(absl::string_view bytes, const OnEvent& on_event);

  // Forgets an incomplete line: a new stream begins.
  void Reset();

 private:
  absl::Status TakeLine(absl::string_view line, const OnEvent& on_event);

  const Resource resource_;
  const size_t max_line_bytes_;
  std::string incomplete_;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_WATCH_DECODER_H_
