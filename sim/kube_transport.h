// A transport that ends in a FakeApiServer without leaving the thread: for tests
// and simulations in virtual time.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_TRANSPORT_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "sim/fake_api_server.h"

namespace sim {

// Statuses as http::Transport has them: a delay is slept on the clock, one over
// the request's timeout, a lost reply and a cut stream are DeadlineExceeded.
// Not thread-safe; what it is made of must outlive it.
class KubeTransport : public http::Transport {
 public:
  // `pump` is called by Stream while it has nothing to hand on. It lets the world
  // go on to the next moment at which something happens, and answers false when
  // there is none: the stream then ends with Cancelled.
  KubeTransport(FakeApiServer& server, base::Clock& clock, std::function<bool()> pump = nullptr)
      : server_(server), clock_(clock), pump_(std::move(pump)) {}
  ~KubeTransport() override;

  absl::StatusOr<http::Response> Send(const http::Request& request) override;
  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation> cancellation) override;

  // Streams without blocking, for a world that has many on one thread.
  //
  // Sends the request and hands on its head and what is there at once. `on_end` is
  // called once, with what Stream would return, from here or from Deliver; the
  // stream is gone then. `handler` must live until that or until CloseStream; it
  // ends its own stream by answering an error, not by CloseStream.
  int64_t OpenStream(const http::Request& request, http::StreamHandler& handler,
                     std::function<void(const absl::Status&)> on_end);
  // Hands on what has come for the open streams. True if there was anything.
  bool Deliver();
  // When a stream that stays silent is given up.
  absl::Time NextSilence() const;
  // Ends it without a call of on_end.
  void CloseStream(int64_t id);

 private:
  struct Open {
    int64_t watch = 0;
    http::StreamHandler* handler = nullptr;
    std::function<void(const absl::Status&)> on_end;
    absl::Duration silence;
    absl::Time last_heard;
  };

  absl::StatusOr<KubeAnswer> Ask(const http::Request& request);
  // nullopt while it is open.
  std::optional<absl::Status> HandOn(Open& stream, bool& any);

  FakeApiServer& server_;
  base::Clock& clock_;
  std::function<bool()> pump_;
  std::map<int64_t, Open> streams_;
  int64_t next_id_ = 1;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_TRANSPORT_H_
