// The fake load balancer on a socket of the loopback interface.
//
//   auto server = sim::FakeLoadBalancerServer::Start({}, base::RealClock());
//   (*server)->With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
//     core.AddLoadBalancer(json, clock.Now());
//     http.keys().AddKey(key_id, "controller", public_key_pem);
//   });
//   ... speak to (*server)->url() ...
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_SERVER_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_SERVER_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "sim/fake_load_balancer.h"
#include "sim/fake_load_balancer_http.h"
#include "sim/http_server.h"

namespace sim {

// Thread-safe. What is due is applied when somebody asks; a test that looks at
// the core itself calls Advance first.
class FakeLoadBalancerServer {
 public:
  // Status as of HttpServer::Start. `clock` must outlive the server.
  static absl::StatusOr<std::unique_ptr<FakeLoadBalancerServer>> Start(
      FakeLoadBalancerOptions options, base::Clock& clock, ServerOptions server_options = {});
  ~FakeLoadBalancerServer();

  std::string url() const { return server_->url(); }
  int port() const { return server_->port(); }
  HttpServer& http_server() { return *server_; }

  // Ends in this server without a socket, and needs no signature: `client` speaks.
  // Thread-safe; the server must outlive it.
  std::unique_ptr<http::Transport> TrustedTransport(const std::string& client);

  // Calls `function(FakeLoadBalancer&, FakeLoadBalancerHttp&)` while no request is
  // being handled, and returns what it returns. It must not call the server.
  template <typename Function>
  auto With(Function&& function) {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<Function>(function)(core_, http_);
  }

 private:
  class Trusted;

  FakeLoadBalancerServer(FakeLoadBalancerOptions options, base::Clock& clock)
      : clock_(clock), core_(options), http_(core_) {}

  Answer Handle(const http::Request& request);

  base::Clock& clock_;
  // Not absl's: ThreadSanitizer does not see into the system's libabsl.
  std::mutex mutex_;  // guards core_ and http_
  FakeLoadBalancer core_;
  FakeLoadBalancerHttp http_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_SERVER_H_
