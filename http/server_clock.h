// How far this machine's clock is off a server's, by the Date header of its answers.
#ifndef OCI_BACKEND_DRAIN_HTTP_SERVER_CLOCK_H_
#define OCI_BACKEND_DRAIN_HTTP_SERVER_CLOCK_H_

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"

namespace http {

// This machine's clock is ahead of the server's by something between the two;
// negative: behind it. The header has whole seconds, and the answer was under way.
struct ClockReading {
  absl::Duration at_least;
  absl::Duration at_most;

  // The part that is beyond doubt: zero if the clocks may agree.
  absl::Duration Certain() const;
};

// Of an answer to a request that was sent and came back at these times of this machine.
// nullopt without a Date that can be read.
std::optional<ClockReading> ReadServerClock(const Headers& headers, absl::Time sent,
                                            absl::Time received);

// Passes everything on and remembers the reading of the last answer to a Send.
class DatedTransport final : public Transport {
 public:
  // `clock` must outlive it.
  DatedTransport(std::shared_ptr<Transport> inner, base::Clock& clock);

  absl::StatusOr<Response> Send(const Request& request) override;
  absl::Status Stream(const Request& request, StreamHandler& handler,
                      std::shared_ptr<Cancellation> cancellation) override;
  void EndCalls() override { inner_->EndCalls(); }

  // nullopt: no answer with a Date has come yet.
  std::optional<ClockReading> last() const;

 private:
  const std::shared_ptr<Transport> inner_;
  base::Clock& clock_;
  mutable absl::Mutex mutex_;
  std::optional<ClockReading> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_SERVER_CLOCK_H_
