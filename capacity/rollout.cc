#include "capacity/rollout.h"

#include <algorithm>

#include "annotations/table.h"

namespace capacity {
namespace {

constexpr absl::Duration kLongest = absl::Hours(24);

absl::Duration Clamp(absl::Duration duration) {
  return std::clamp(duration, absl::ZeroDuration(), kLongest);
}

bool WaitsForLoadBalancer(const kube::Workload& workload) {
  const auto& gates = workload.readiness_gates;
  return std::find(gates.begin(), gates.end(), annotations::kReadyCondition) != gates.end();
}

}  // namespace

Rollout RolloutOf(const kube::Workload& workload, int replicas, const Times& times) {
  Rollout rollout;
  rollout.replicas = std::clamp(replicas, 0, kMostReplicas);
  rollout.min_ready = Clamp(workload.min_ready);
  rollout.startup = Clamp(times.startup);
  rollout.address = Clamp(times.address);
  rollout.registration = Clamp(times.registration);
  rollout.drained = Clamp(times.drained);
  rollout.termination = Clamp(std::min(times.termination.value_or(workload.grace), workload.grace));
  rollout.gated = WaitsForLoadBalancer(workload);
  if (workload.kind == "StatefulSet") {
    rollout.style = workload.on_delete ? Style::kNone : Style::kOrdered;
    rollout.partition = std::clamp(workload.partition, 0, rollout.replicas);
    rollout.max_unavailable =
        std::max(1, workload.written_max_unavailable.RoundedDown(rollout.replicas));
  } else if (workload.kind != "Deployment") {
    rollout.style = Style::kNone;
  } else if (workload.recreate) {
    rollout.style = Style::kRecreate;
  } else {
    const kube::RolloutLimits limits = kube::ResolveRolloutLimits(
        workload.written_max_unavailable, workload.written_max_surge, rollout.replicas);
    rollout.max_surge = limits.max_surge;
    rollout.max_unavailable = limits.max_unavailable;
  }
  return rollout;
}

}  // namespace capacity
