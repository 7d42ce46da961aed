// A small HTTP server with a thread of its own, for answers that are made at once.
#ifndef OCI_BACKEND_DRAIN_HEALTH_HTTP_SERVER_H_
#define OCI_BACKEND_DRAIN_HEALTH_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace health {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  // Of the header Content-Security-Policy; empty: none.
  std::string content_security_policy = {};
};

struct HttpServerOptions {
  std::string address = "0.0.0.0";
  uint16_t port = 8081;  // 0: any free one
  // For a request's head to arrive, and for an answer to be taken.
  absl::Duration patience = absl::Seconds(5);
  // More are closed at once.
  int max_connections = 64;
};

// GET only, one request a connection. Nothing else runs on its thread but what it
// is given here, so it answers whatever the rest of the process does.
class HttpServer {
 public:
  // A head of more is answered with 431.
  static constexpr size_t kMaxHeadBytes = 4 << 10;

  // Answers a target as it came: "/readyz?verbose". Called on the server's thread; it
  // must not wait.
  using Handler = std::function<HttpAnswer(absl::string_view target)>;
  // Called on the server's thread every `period`.
  struct Chore {
    absl::Duration period;
    std::function<void()> run;
  };

  // Listens and serves. Unavailable if the address is taken, InvalidArgument if it is
  // none.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Handler handler,
                                                           std::vector<Chore> chores,
                                                           const HttpServerOptions& options);
  // Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_HTTP_SERVER_H_
