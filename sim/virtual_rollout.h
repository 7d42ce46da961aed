// The rollout of testdata/demo in virtual time: what docs/demo.md shows in two
// minutes, in milliseconds and for any seed.
#ifndef OCI_BACKEND_DRAIN_SIM_VIRTUAL_ROLLOUT_H_
#define OCI_BACKEND_DRAIN_SIM_VIRTUAL_ROLLOUT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/demo_meter.h"
#include "sim/virtual_world.h"

namespace sim {

struct VirtualRolloutOptions {
  VirtualWorldOptions world = {};
  bool neighbour = false;  // a second Service on the same load balancer rolls too
  bool carry_all = false;  // P/backend-drain-carry: "all"
  absl::Duration at_most = absl::Minutes(6);
};

struct VirtualRolloutResult {
  bool finished = false;
  ServiceFigures figures;
  ServiceFigures neighbour;
  int writes = 0;         // accepted, ours
  int single_writes = 0;  // of them, UpdateBackend
  int rival_writes = 0;
  int conflicts = 0;                  // 412 that we got
  std::vector<std::string> timeline;  // one line an event, for a person who looks
};

VirtualRolloutResult RunVirtualRollout(const VirtualRolloutOptions& options);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_VIRTUAL_ROLLOUT_H_
