// A picture of a rollout for docs/capacity.md.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_PLOT_H_
#define OCI_BACKEND_DRAIN_CAPACITY_PLOT_H_

#include <string>

#include "absl/time/time.h"
#include "capacity/rollout.h"

namespace capacity {

// An SVG document: the backends that a rollout of `replicas` Pods (maxSurge 25 %,
// maxUnavailable 0, 60 s of grace) needs over time without a limit, and what it has
// and how many Pods wait with `limit` slots, with and without withdrawal.
std::string PlotRollout(int replicas, int limit);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_PLOT_H_
