// Rollouts at and near the limits of a load balancer, in virtual time.
#ifndef OCI_BACKEND_DRAIN_SIM_CAPACITY_ROLLOUT_H_
#define OCI_BACKEND_DRAIN_SIM_CAPACITY_ROLLOUT_H_

#include <cstdint>

#include "absl/time/time.h"
#include "controller/settings.h"

namespace sim {

// Deployments, each behind a Service that opts in by the label, that all get a new
// template at the same moment.
struct CapacityRolloutOptions {
  uint64_t seed = 1;
  int deployments = 1;
  int replicas = 10;
  int max_surge = 1;
  int max_unavailable = 0;
  absl::Duration ready_after = absl::Seconds(30);  // from a Pod's creation
  absl::Duration shutdown = absl::Seconds(30);     // from its deletion to its end
  absl::Duration grace = absl::Seconds(60);
  int limit_of_set = 512;
  int limit_of_load_balancer = 512;
  int foreign = 0;            // backends in a set of somebody else
  bool gate = false;          // Pods have the readiness gate
  bool release_gate = false;  // --gate_at_limit=release
  controller::CapacityAction action = controller::CapacityAction::kWarn;
  bool with_rival = true;
  absl::Duration at_most = absl::Hours(1);
};

struct CapacityRolloutResult {
  // All Pods are replaced and registered, the old ones out of the load balancer.
  bool finished = false;
  int peak = 0;       // backends of the Deployments, at the end of any write
  int over = 0;       // writes of ours that a limit refused
  int withdrawn = 0;  // Pods whose label was taken away
  // The longest that a replacement waited for its slot, from its publication or, if
  // that was later, from the deletion of the Pod whose slot it gets; a rollout that
  // does not finish has waited to its end. Time with a foreign work request
  // unfinished is not counted.
  absl::Duration longest_wait = absl::ZeroDuration();
  absl::Duration slowest_write = absl::ZeroDuration();  // ours, queueing included
  // From the publication of the first Pod without a slot to the Event
  // RolloutBlockedByBackendLimit; infinite: there was none.
  absl::Duration blocked_after = absl::InfiniteDuration();
  absl::Duration took = absl::ZeroDuration();
};

CapacityRolloutResult RunCapacityRollout(const CapacityRolloutOptions& options);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CAPACITY_ROLLOUT_H_
