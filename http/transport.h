// HTTP as values, and the one door to the network.
//
// A Transport speaks to one server (scheme, host, port, TLS settings are given
// when it is made). cpprest_transport.h makes the real one; tests and the
// simulator may give their own.
#ifndef OCI_BACKEND_DRAIN_HTTP_TRANSPORT_H_
#define OCI_BACKEND_DRAIN_HTTP_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace http {

// Names compare without case. Their order means nothing.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The first header of that name, or an empty view.
absl::string_view FindHeader(const Headers& headers, absl::string_view name);

struct Request {
  std::string method = {};  // "GET", "PUT", ...
  // Path and query exactly as they go on the wire (already percent-encoded):
  // what is signed is what is sent.
  std::string target = {};
  Headers headers = {};  // without Host and Content-Length, which the transport adds
  std::string body = {};
  // For Send: from the first byte sent to the last byte received.
  // For Stream: the longest silence before the stream is given up.
  absl::Duration timeout = absl::Seconds(20);
  // A longer answer is ResourceExhausted and nothing of it is returned.
  size_t max_response_bytes = 64 << 20;
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

// Ends a Stream from another thread. Thread-safe; shared by both sides.
class Cancellation {
 public:
  // Idempotent. Callbacks registered before run in this call, later ones at once.
  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Replaces the callback; an empty function removes it.
  void OnCancel(std::function<void()> callback);

 private:
  std::atomic<bool> cancelled_{false};
  std::function<void()> callback_;
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

// What a stream calls, on the thread that called Stream.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Once, before any data. A non-OK answer ends the stream with that status.
  virtual absl::Status OnHead(int status, const Headers& headers) = 0;
  // `bytes` is valid during the call only. A non-OK answer ends the stream.
  virtual absl::Status OnData(absl::string_view bytes) = 0;
};

// Blocks the calling thread, never a thread of its own. Thread-safe.
//
// Errors of the connection (a status of 4xx or 5xx is not one, it is a Response):
//   Unavailable       refused, unreachable, name or TLS failure: no whole request was
//                     sent, so nothing was done.
//   DeadlineExceeded  timeout, or the connection broke after the request may have
//                     been sent: it may have happened. Read before deciding.
//   ResourceExhausted the answer is larger than max_response_bytes.
//   Cancelled         a Stream was cancelled, or EndCalls was called.
// The message names the server and the cause; for TLS the certificate and why.
//   InvalidArgument   a target or header that cannot go out as it is.
// A request is sent at most once, but for a GET or HEAD whose kept connection turned
// out to be closed.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual absl::StatusOr<Response> Send(const Request& request) = 0;

  // Returns OK when the server ended the body in an orderly way.
  // DeadlineExceeded after request.timeout without a byte.
  virtual absl::Status Stream(const Request& request, StreamHandler& handler,
                              std::shared_ptr<Cancellation> cancellation) = 0;

  // Ends every call in flight with Cancelled (it may have happened), and answers so
  // from now on: for a process that ends. A transport whose calls cannot hang does
  // nothing.
  virtual void EndCalls() {}
};

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_TRANSPORT_H_
