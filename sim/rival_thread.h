// Drives a Rival by the machine's clock, for programs and the demo.
#ifndef OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_
#define OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sim/rival.h"

namespace sim {

// Thread-safe.
class RivalThread {
 public:
  // Starts at once. `world` and `transport` are used by its thread only and must
  // outlive it.
  RivalThread(RivalOptions options, RivalWorld& world, http::Transport& transport);
  // Stops after the call that is running.
  ~RivalThread();

  // See Rival::Notify. Does not wait for a pass that is running.
  void Notify() ABSL_LOCKS_EXCLUDED(mutex_);
  // As of the end of the last step.
  RivalCounts counts() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Woken() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || notified_; }

  Rival rival_;  // the thread's own
  mutable absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  RivalCounts counts_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_
