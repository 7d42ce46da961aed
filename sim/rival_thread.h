// Drives a Rival by the machine's clock, for programs and the demo.
#ifndef OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_
#define OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_

#include <condition_variable>
#include <mutex>
#include <thread>

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
  void Notify();
  // As of the end of the last step.
  RivalCounts counts() const;

 private:
  void Run();

  Rival rival_;               // the thread's own
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable woken_;
  bool stop_ = false;
  bool notified_ = false;
  RivalCounts counts_;
  std::thread thread_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_RIVAL_THREAD_H_
