// A measurement in the laboratory: load on one world, without a rollout and with some.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_LAB_RUN_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_LAB_RUN_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "probe/figures.h"
#include "probe/marks.h"
#include "sim/lab/lab_world.h"

namespace sim {

struct LabLoad {
  int clients = 20;
  double rate = 175;  // requests a second, of all clients
  double slow_fraction = 0;
  absl::Duration slow;                         // how long such a request takes
  absl::Duration control;                      // the load without a rollout, first
  absl::Duration before;                       // load before the rollout
  absl::Duration after;                        // and after the last one
  int rollouts = 1;                            // one after another
  absl::Duration patience = absl::Minutes(5);  // for one rollout
};

struct LabResult {
  probe::RunFigures control;
  probe::RunFigures run;
  std::vector<probe::Mark> marks;
  int rollouts = 0;             // that were over
  absl::Duration rollout_time;  // of all of them together
  int killed = 0;
};

// Blocks. Its own thread does the load. An error is one of the laboratory's own, a
// rollout that is not over in time among them. `interrupted` ends it early, with
// Cancelled.
absl::StatusOr<LabResult> RunLab(const LabOptions& options, const LabLoad& load,
                                 const std::atomic<bool>& interrupted);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_LAB_RUN_H_
