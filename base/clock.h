// Time as an argument.
//
// Pure code takes `absl::Time now`. Code that waits takes a Clock. The real
// clock lives in clock.cc and nowhere else, so that the simulator can own time.
#ifndef OCI_BACKEND_DRAIN_BASE_CLOCK_H_
#define OCI_BACKEND_DRAIN_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace base {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall-clock time. Comparable with timestamps of the cluster and of OCI.
  virtual absl::Time Now() = 0;

  // Time since some moment before the process began, which nobody sets: it goes on
  // while the machine is suspended, never back, and means nothing to another
  // machine. For leases and for how long something has taken. A clock of tests,
  // which nobody sets either, is its own.
  virtual absl::Duration Monotonic() { return Now() - absl::UnixEpoch(); }

  // Returns at or after Now() + duration.
  virtual void SleepFor(absl::Duration duration) = 0;
};

// The machine's clock. Lives as long as the process.
Clock& RealClock();

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_CLOCK_H_
