// The load balancer's API as HTTP, still without a socket: a request in, an
// answer out, at a time that is told.
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_HTTP_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_HTTP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "sim/fake_load_balancer.h"
#include "sim/request_faults.h"
#include "sim/request_signature.h"

namespace sim {

// An answer and what befalls it.
struct Exchange {
  http::Response response;
  Damage damage = Damage::kNone;
  absl::Duration delay = absl::ZeroDuration();
};

// Not thread-safe.
class FakeLoadBalancerHttp {
 public:
  // `core` must outlive it.
  explicit FakeLoadBalancerHttp(FakeLoadBalancer& core) : core_(core) {}

  // Whose signatures are accepted by Handle.
  SignatureVerifier& keys() { return keys_; }
  RequestFaults& faults() { return faults_; }
  // How far the Date of its answers is before the time that it is told.
  void SetClockAhead(absl::Duration ahead) { clock_ahead_ = ahead; }

  // A request with the headers of the wire, Host and Content-Length included. 401
  // unless its signature is good.
  Exchange Handle(const http::Request& request, absl::Time now);
  // The same from a client that needs no signature.
  Exchange HandleTrusted(const http::Request& request, const std::string& client, absl::Time now);

  // Every request since the start, the newest kKeptRequests of them.
  const std::deque<RequestRecord>& requests() const { return requests_; }
  static constexpr size_t kKeptRequests = 100'000;
  // Called after each answer was decided.
  void SetOnAnswered(std::function<void(const RequestRecord&)> callback) {
    on_answered_ = std::move(callback);
  }
  // Answers by client and status, never forgotten.
  const std::map<std::pair<std::string, int>, int64_t>& answers() const { return answers_; }

 private:
  Exchange Carry(RequestRecord record);
  ApiReply Dispatch(const RequestRecord& record);
  void Remember(RequestRecord record);

  FakeLoadBalancer& core_;
  SignatureVerifier keys_;
  RequestFaults faults_;
  std::deque<RequestRecord> requests_;
  std::function<void(const RequestRecord&)> on_answered_;
  std::map<std::pair<std::string, int>, int64_t> answers_;
  int64_t requests_seen_ = 0;
  absl::Duration clock_ahead_ = absl::ZeroDuration();
};

// What a transport makes of the exchange: a delay is slept on `clock`; one that
// exceeds the request's timeout, and a lost or cut reply, is DeadlineExceeded.
absl::StatusOr<http::Response> Deliver(const http::Request& request, Exchange exchange,
                                       base::Clock& clock);

// A transport that ends in a FakeLoadBalancerHttp without leaving the thread: for
// the simulator. Not thread-safe; what it is made of must outlive it.
class InMemoryTransport : public http::Transport {
 public:
  // `client`: who speaks, without a signature. Empty: signatures are verified.
  InMemoryTransport(FakeLoadBalancerHttp& server, base::Clock& clock, std::string client)
      : server_(server), clock_(clock), client_(std::move(client)) {}

  absl::StatusOr<http::Response> Send(const http::Request& request) override;
  // The API has no streams: Unimplemented.
  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation> cancellation) override;

  static constexpr char kHost[] = "load-balancer.invalid";

 private:
  FakeLoadBalancerHttp& server_;
  base::Clock& clock_;
  const std::string client_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_HTTP_H_
