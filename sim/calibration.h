// The rollout of docs/adr/0002 that was measured with the real ingress controller, in
// virtual time: the rival alone, and beside policies that set drain flags only.
#ifndef OCI_BACKEND_DRAIN_SIM_CALIBRATION_H_
#define OCI_BACKEND_DRAIN_SIM_CALIBRATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sim {

enum class DrainOnlyPolicy {
  kNone,
  kOnePerPod,   // one UpdateBackend for each terminating Pod, each awaited
  kOnePerPass,  // one UpdateBackendSet for all of them, awaited
};

// One rollout: 10 replicas, maxSurge 3, maxUnavailable 0, Ready after 3 s, the
// process gone 25 s after the deletion, published until then; work requests of 6 to
// 14 s, the ETag moves at acceptance and at completion.
struct CalibrationFigures {
  double drained_before_exit = 0;  // or gone, of 10
  double latency_p50 = 0;          // s, from deletion to drained or gone
  double latency_max = 0;          // s
  double conflicts = 0;            // 412 that the rival got
  double replaced_after = 0;       // s, until the last replacement was routable
  double fewest_good = 0;          // in the set, undrained, its process running
  double none_good = 0;            // s
  double dead_routable = 0;        // s
};

CalibrationFigures RunCalibration(DrainOnlyPolicy policy, uint64_t seed);

// Of each figure by itself, over seeds 1 to `seeds`.
CalibrationFigures MedianOf(DrainOnlyPolicy policy, int seeds);

// What was measured on 2026-11-30, one run each.
CalibrationFigures Measured(DrainOnlyPolicy policy);

// One figure, for a table and for its tolerance.
struct CalibrationRow {
  absl::string_view name;
  double CalibrationFigures::*figure;
  bool is_count;  // else seconds
};
const std::vector<CalibrationRow>& CalibrationRows();
absl::string_view PolicyName(DrainOnlyPolicy policy);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CALIBRATION_H_
