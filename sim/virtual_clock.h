// Time that stands still until a world lets it go on.
#ifndef OCI_BACKEND_DRAIN_SIM_VIRTUAL_CLOCK_H_
#define OCI_BACKEND_DRAIN_SIM_VIRTUAL_CLOCK_H_

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"

namespace sim {

// Not thread-safe.
class VirtualClock final : public base::Clock {
 public:
  explicit VirtualClock(absl::Time start) : now_(start) {}

  absl::Time Now() override { return now_; }

  // Who sleeps lets everybody else go on: `live_until` is called with the moment
  // of waking and answers when it is that time. Without it time only moves on.
  void OnSleep(std::function<void(absl::Time)> live_until) { live_until_ = std::move(live_until); }
  void SleepFor(absl::Duration duration) override {
    if (duration <= absl::ZeroDuration()) return;
    const absl::Time wake = now_ + duration;
    if (live_until_) live_until_(wake);
    Set(wake);
  }

  // Never back.
  void Set(absl::Time now) { now_ = std::max(now_, now); }

 private:
  absl::Time now_;
  std::function<void(absl::Time)> live_until_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_VIRTUAL_CLOCK_H_
