// What goes wrong in a rollout with the gate and the barrier, and when.
#ifndef OCI_BACKEND_DRAIN_SIM_LIFECYCLE_FAULTS_H_
#define OCI_BACKEND_DRAIN_SIM_LIFECYCLE_FAULTS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "sim/call_faults.h"
#include "sim/call_gate.h"
#include "sim/lifecycle.h"
#include "sim/virtual_world.h"

namespace sim {

// Not thread-safe. Both must outlive it.
class LifecycleFaults {
 public:
  LifecycleFaults(VirtualWorld& world, const Lifecycle& lifecycle);

  // Faults are counted from here on; until then there are none.
  void Start(absl::Time now) { start_ = now; }
  // Told of each fault that begins.
  void OnFault(std::function<void(const std::string&)> callback) {
    callback_ = std::move(callback);
  }

  // Does what is due and answers when to come again.
  absl::Time Act(absl::Time now);
  CallFate OnCall(const Call& call, absl::Time now);
  bool BarrierGone(absl::Time now) const;

 private:
  void Do(const sim::Act& act, absl::Time now);
  void DoToWatches(const sim::Act& act, absl::Time now);

  VirtualWorld& world_;
  const Lifecycle& lifecycle_;
  CallFaults calls_;
  std::function<void(const std::string&)> callback_;
  absl::Time start_ = absl::InfiniteFuture();
  size_t next_ = 0;
  absl::Time expire_ = absl::InfiniteFuture();  // watches, since events were dropped
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LIFECYCLE_FAULTS_H_
