// One rollout with the readiness gate and the drain barrier in virtual time: no Pod is
// to get SIGTERM while a backend of it is routable, and at every instant a Pod serves.
#ifndef OCI_BACKEND_DRAIN_SIM_LIFECYCLE_ROLLOUT_H_
#define OCI_BACKEND_DRAIN_SIM_LIFECYCLE_ROLLOUT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/lifecycle.h"

namespace sim {

struct LifecycleResult {
  bool finished = false;  // all Pods are replaced, and no others are routed to
  int pods = 0;           // that got SIGTERM
  // Of them with an undrained backend then: since a foreign write that was accepted
  // after the confirmation; for another reason.
  int undrained_by_foreign = 0;
  int undrained = 0;
  // Of the latter those of which no Event says so.
  int unreported = 0;
  // Of the latter those whose wait no controller knew of when SIGTERM came and shortly
  // after: the barrier could not be reached, or its process had ended.
  int unheard = 0;
  // Backends of Pods that were drained at SIGTERM, undrained afterwards by a foreign write
  // that had been accepted before it.
  int taken_back = 0;
  absl::Duration without_pod;   // some set had no routed, serving Pod
  absl::Duration longest_wait;  // of a preStop hook
  absl::Duration took;
  absl::Duration virtual_time;
  int writes = 0;  // ours, accepted
  // What was promised and did not hold, for a person.
  std::vector<std::string> violations;
  std::vector<std::string> trace;  // one line an event, if it was asked for
};

// Without faults every promise is checked; with faults only that what does not hold is
// reported and ends. The same rollout gives the same result on every machine.
LifecycleResult RunLifecycle(const Lifecycle& lifecycle, bool trace);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LIFECYCLE_ROLLOUT_H_
