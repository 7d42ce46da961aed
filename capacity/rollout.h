// How a workload replaces its Pods, as numbers: what a forecast is made from.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_ROLLOUT_H_
#define OCI_BACKEND_DRAIN_CAPACITY_ROLLOUT_H_

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "kube/types.h"

namespace capacity {

// How long the steps of a rollout take. The defaults are for what was not measured.
struct Times {
  absl::Duration startup = absl::Seconds(30);  // creation to Ready
  absl::Duration address = absl::Seconds(3);   // creation to published in Endpoints
  // Published to in the backend set: half a running work request and one of one's own.
  // From gone to out of it is two thirds of that: a write that takes a new Pod in
  // leaves out what has gone since that Pod came.
  absl::Duration registration = absl::Seconds(15);
  absl::Duration drained = absl::Seconds(15);  // deletion to confirmed drain
  // Deletion to the end of the process; absent: the whole grace period.
  std::optional<absl::Duration> termination;
  friend bool operator==(const Times&, const Times&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Times& times) {
    return H::combine(std::move(state), times.startup, times.address, times.registration,
                      times.drained, times.termination.value_or(absl::InfiniteDuration()));
  }
};

enum class Style {
  kRolling,   // Deployment: new Pods beside old ones
  kRecreate,  // Deployment: all old Pods go, then the new ones come
  kOrdered,   // StatefulSet: a Pod goes, then its successor comes under its name
  kNone,      // StatefulSet with OnDelete: nothing is replaced by itself
};

// More Pods than this are not simulated (see Simulate).
inline constexpr int kMaxReplicas = 10000;

// What anybody may write into a manifest ends here, so that counts can be added.
inline constexpr int kMostReplicas = 1'000'000;

// A rollout of all Pods of one workload. Values are clamped to what makes sense:
// replicas to 0 and kMostReplicas, durations to 0 and a day.
struct Rollout {
  Style style = Style::kRolling;
  int replicas = 0;
  int max_surge = 0;        // kRolling
  int max_unavailable = 0;  // kRolling, kOrdered; 0 with no surge counts as 1
  int partition = 0;        // kOrdered: so many Pods stay as they are
  // A new Pod is available only once it is registered with the load balancer.
  bool gated = false;
  absl::Duration min_ready = absl::ZeroDuration();
  absl::Duration startup;
  absl::Duration address;
  absl::Duration registration;
  absl::Duration drained;
  absl::Duration termination;
  friend bool operator==(const Rollout&, const Rollout&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Rollout& rollout) {
    return H::combine(std::move(state), rollout.style, rollout.replicas, rollout.max_surge,
                      rollout.max_unavailable, rollout.partition, rollout.gated, rollout.min_ready,
                      rollout.startup, rollout.address, rollout.registration, rollout.drained,
                      rollout.termination);
  }
};

// What Kubernetes does when the Pod template of `workload` changes while it has
// `replicas` Pods: percentages become Pods by its rules (surge rounded up,
// unavailable down, never both zero; a StatefulSet has no surge and at least one
// unavailable). `workload` of another kind than Deployment and StatefulSet: kNone.
Rollout RolloutOf(const kube::Workload& workload, int replicas, const Times& times);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_ROLLOUT_H_
