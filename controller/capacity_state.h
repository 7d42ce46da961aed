// What capacity planning keeps for one load balancer between passes.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_STATE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_STATE_H_

#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "capacity/memo.h"
#include "capacity/plan.h"
#include "controller/rollout_times.h"
#include "drain/memory.h"
#include "health/metrics.h"

namespace controller {

struct CapacityState {
  capacity::ForecastMemo memo;
  RolloutTimes times;
  // Findings that were told and have not ended.
  std::set<capacity::FindingKey> raised;
  // Since when this process knows a drain to be confirmed.
  std::map<drain::BackendKey, absl::Time> confirmed_at;
  // What a set and its load balancer held when OCI refused more for the set, and until
  // when that is believed.
  struct Refusal {
    int in_set = 0;
    int in_all = 0;
    absl::Time until;
  };
  std::map<oci::BackendSetName, Refusal> refusals;
  // UIDs of Pods whose label was taken away, while they are seen.
  std::set<std::string> withdrawn;
  // As of the last plan, for who asks.
  health::LoadBalancerSlots slots;
  // Sets that were told of as without forecast.
  std::set<oci::BackendSetName> unforeseen;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_STATE_H_
