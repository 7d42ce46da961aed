// What to change so that a rollout fits.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_ADVICE_H_
#define OCI_BACKEND_DRAIN_CAPACITY_ADVICE_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "capacity/rollout.h"
#include "kube/types.h"

namespace capacity {

// Each by itself, with everything else as it is. Absent: that alone does not help.
struct Advice {
  std::optional<int> max_surge;         // the largest; below the present one
  std::optional<absl::Duration> grace;  // the longest, in whole seconds
  std::optional<int> replicas;          // the most; at least 1
};

// For a rollout of `workload` with `replicas` Pods when `room` slots are there for
// its backends. Makes some 40 forecasts. All absent also where nothing needs to
// change, and for more than kMaxReplicas.
Advice Advise(const kube::Workload& workload, int replicas, const Times& times, int room);

// "maxSurge 12, or terminationGracePeriodSeconds 40, or 460 replicas"; empty if
// nothing helps.
std::string Describe(const Advice& advice);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_ADVICE_H_
