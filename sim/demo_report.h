// What the demonstration concludes: promises, tables, one line of JSON. Pure.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_REPORT_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/demo_meter.h"
#include "sim/json_tree.h"

namespace sim {

struct WriteFigures {
  // Of the controller; zero without one.
  int waves = 0;              // groups of drains that fell due together, per set, summed
  int writes_accepted = 0;    // those that carry a wave
  int writes_corrective = 0;  // all others
  int conflicts_412 = 0;
  // Of the ingress controller.
  int rival_writes = 0;
  int rival_conflicts_412 = 0;
  // Of everybody.
  int work_requests = 0;
  absl::Duration mean_work_request;
  absl::Duration longest_work_request;
};

// One run: one world, one rollout.
struct RunResult {
  std::string name;  // above its column
  bool with_controller = false;
  absl::Time trigger;
  absl::Duration took;  // from the trigger to the end of the rollout, or of patience
  ServiceFigures web;
  std::optional<ServiceFigures> neighbour;
  WriteFigures writes;
  double controller_peak_mb = 0;
  // Why the figures are not those of a whole rollout, or cannot be trusted.
  std::vector<std::string> faults;
};

struct DemoResult {
  uint64_t seed = 0;
  int replicas = 0;
  int good_floor = 0;  // replicas less what may be unavailable
  RunResult alone;     // one Service, the ingress controller without help
  RunResult helped;
  // With another Service on the same load balancer, rolled at the same moment.
  RunResult shared_alone;
  RunResult shared;
  RunResult shared_carry_all;
};

struct Promise {
  std::string text;
  bool kept = false;
  std::string figure;  // what was seen
};

std::vector<Promise> JudgePromises(const DemoResult& result);

// How late the neighbour's last replacement may be routed, from the trigger.
// A burst is one wave's write: the demonstration drains in one set.
absl::Duration NeighbourBound(const DemoResult& result, const RunResult& run);

// The closing tables and the promises, without colours.
std::string DescribeResult(const DemoResult& result);

// Where the seconds with a dead backend came from, a line each; empty without any.
std::string DescribeDeadTimes(const RunResult& run);

JsonTree ResultJson(const DemoResult& result);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_REPORT_H_
