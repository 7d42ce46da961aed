// Time that stands still until a test, or whoever sleeps, lets it go on.
#ifndef OCI_BACKEND_DRAIN_SIM_MANUAL_CLOCK_H_
#define OCI_BACKEND_DRAIN_SIM_MANUAL_CLOCK_H_

#include <mutex>

#include "absl/time/time.h"
#include "base/clock.h"

namespace sim {

// Thread-safe. A sleep takes no real time.
class ManualClock final : public base::Clock {
 public:
  explicit ManualClock(absl::Time start) : now_(start) {}

  absl::Time Now() override {
    std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }
  void SleepFor(absl::Duration duration) override { Advance(duration); }

  // Also back, as somebody may set a machine's clock.
  void Advance(absl::Duration duration) {
    std::lock_guard<std::mutex> lock(mutex_);
    now_ += duration;
  }

 private:
  std::mutex mutex_;
  absl::Time now_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_MANUAL_CLOCK_H_
