// The loop that the calling thread goes round, so that whoever waits on it can say so
// without being handed the loop.
#ifndef OCI_BACKEND_DRAIN_HEALTH_THIS_LOOP_H_
#define OCI_BACKEND_DRAIN_HEALTH_THIS_LOOP_H_

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "health/vitals.h"

namespace health {

// While it lives, the thread that made it is that loop. Not to be nested. `vitals`
// must outlive it.
class ThisLoop {
 public:
  ThisLoop(Vitals& vitals, absl::string_view name);
  ~ThisLoop();
  ThisLoop(const ThisLoop&) = delete;
  ThisLoop& operator=(const ThisLoop&) = delete;

 private:
  Vitals& vitals_;
  const Vitals::LoopId id_;
};

// The calling thread's loop ticks; nothing happens on a thread that is none.
void Tick();

// A wait of the calling thread that ends at `until` (base::Clock::Monotonic) at the
// latest: from its construction until its destruction, which is a tick.
class DeclaredWait {
 public:
  explicit DeclaredWait(absl::Duration until) { Extend(until); }
  ~DeclaredWait() { Tick(); }
  DeclaredWait(const DeclaredWait&) = delete;
  DeclaredWait& operator=(const DeclaredWait&) = delete;

  // It goes on, until another moment.
  void Extend(absl::Duration until);
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_THIS_LOOP_H_
