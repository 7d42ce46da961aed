// A real HTTP server on the loopback interface for tests and fakes.
//
//   auto server = sim::HttpServer::Start([](const http::Request& request) {
//     return http::Response{.status = 200, .body = request.target};
//   });
//   ... talk to (*server)->url() ...
//
// It keeps connections alive, sets TCP_NODELAY and sends head and body in one
// write. Each connection has its own thread (good for some hundred of them), so
// a handler may block; a handler that does must end when its fake is stopped.
#ifndef OCI_BACKEND_DRAIN_SIM_HTTP_SERVER_H_
#define OCI_BACKEND_DRAIN_SIM_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace sim {

// The body of a streaming answer while it is being sent. Thread-safe: another
// thread may write while the handler's own waits in WaitUntilClosed. Valid until
// the stream function returns.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // Sends `bytes` as one chunk at once. Blocks while the peer does not read.
  // False once the peer or the server is gone, or after Finish or Cut.
  virtual bool Write(absl::string_view bytes) = 0;
  // Ends the body in an orderly way; the connection stays usable.
  virtual void Finish() = 0;
  // Breaks the connection in the middle of the body.
  virtual void Cut() = 0;
  // True once the peer or the server is gone, or after Finish or Cut.
  virtual bool closed() const = 0;
  // Blocks until closed() or for `at_most`; returns closed().
  virtual bool WaitUntilClosed(absl::Duration at_most) const = 0;
};

// What a handler answers. An http::Response converts to it.
struct Answer {
  enum class Fault {
    kNone,
    kLoseReply,       // close the connection instead of answering
    kResetReply,      // the same with a TCP reset
    kCutBody,         // announce the whole body, send half of it, close
    kCloseAfterward,  // answer, then close without having said so
  };

  Answer() = default;
  Answer(http::Response r) : response(std::move(r)) {}  // NOLINT: meant to convert

  http::Response response;
  // If set, the answer is chunked and this function sends its body, on the
  // connection's thread; response.body is ignored. When it returns, the body is
  // finished unless it was cut.
  std::function<void(StreamWriter&)> stream;
  // If not empty, sent as it is in place of an answer; then the connection closes.
  std::string raw;
  Fault fault = Fault::kNone;
  // Waited before the answer; ended early by Stop or by a peer that leaves.
  absl::Duration delay = absl::ZeroDuration();
};

// Called on the connections' threads, several at a time. The request's headers
// are those of the wire, in their order and spelling, Host and Content-Length
// included; its target is the raw one. Request bodies over 64 MiB and heads over
// 64 KiB are refused before the handler is asked.
using Handler = std::function<Answer(const http::Request&)>;

struct ServerTls {
  std::string certificate_pem;  // leaf first, then its chain
  std::string key_pem;
  std::string client_ca_pem = {};  // if not empty, a client certificate is required
};

struct ServerOptions {
  uint16_t port = 0;  // 0: any free one
  std::optional<ServerTls> tls = std::nullopt;
};

class HttpServer {
 public:
  // Listens on 127.0.0.1. Unavailable if the port is taken, InvalidArgument if a
  // certificate or key is not usable.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Handler handler,
                                                           ServerOptions options = {});
  // Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::string url() const;  // "http://127.0.0.1:4711" or "https://..."

  int64_t connections_accepted() const;
  int64_t requests_received() const;

  // Closes every open connection, as a network fault would; keeps listening.
  void DropConnections();
  // Closes every connection and joins every thread. Idempotent. Not from a handler.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_HTTP_SERVER_H_
