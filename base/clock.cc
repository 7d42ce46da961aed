#include "base/clock.h"

#include "absl/time/clock.h"

namespace base {
namespace {

class MachineClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  void SleepFor(absl::Duration duration) override { absl::SleepFor(duration); }
};

}  // namespace

Clock& RealClock() {
  static MachineClock* const clock = new MachineClock;
  return *clock;
}

}  // namespace base
