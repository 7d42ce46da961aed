// --oci_qps and --oci_burst: one budget of calls to OCI for all load balancers.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CALL_BUDGET_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CALL_BUDGET_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/token_bucket.h"
#include "health/this_loop.h"

namespace controller {

// Thread-safe.
class CallBudget {
 public:
  // `clock` must outlive it.
  CallBudget(base::Clock& clock, double per_second, int burst)
      : clock_(clock), bucket_(per_second, burst) {}

  // Waits until a call may go out.
  void Spend() {
    absl::Duration wait;
    {
      absl::MutexLock lock(&mutex_);
      wait = bucket_.Reserve(clock_.Now());
    }
    if (wait <= absl::ZeroDuration()) return;
    const health::DeclaredWait declared(clock_.Monotonic() + wait);
    clock_.SleepFor(wait);
  }

 private:
  base::Clock& clock_;
  absl::Mutex mutex_;
  base::TokenBucket bucket_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CALL_BUDGET_H_
