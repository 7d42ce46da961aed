#include "base/clock.h"

#include <ctime>

#include "absl/time/clock.h"

namespace base {
namespace {

class MachineClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  absl::Duration Monotonic() override {
    timespec since_boot{};
    // CLOCK_MONOTONIC stands still while the machine is suspended: a lease does not.
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return absl::DurationFromTimespec(since_boot);
  }
  void SleepFor(absl::Duration duration) override { absl::SleepFor(duration); }
};

}  // namespace

Clock& RealClock() {
  static MachineClock* const clock = new MachineClock;
  return *clock;
}

}  // namespace base
