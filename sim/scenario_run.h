// One scenario from its first Pod to its end, under every oracle.
#ifndef OCI_BACKEND_DRAIN_SIM_SCENARIO_RUN_H_
#define OCI_BACKEND_DRAIN_SIM_SCENARIO_RUN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/call_gate.h"
#include "sim/scenario.h"

namespace sim {

// The first promise that did not hold.
struct Breach {
  std::string invariant;  // name of the oracle
  std::string what;
  absl::Duration at;  // from the start of the controller
};

struct SentCall {
  CallKind kind = CallKind::kGetLoadBalancer;
  absl::Duration at;  // from the start of the controller
};

struct ScenarioResult {
  std::optional<Breach> breach;
  // One line an event, if it was asked for.
  std::vector<std::string> trace;
  // Every call of ours, in their order, if the trace was asked for.
  std::vector<SentCall> sent;
  // How often each kind of act had an effect.
  std::map<ActKind, int> fired;
  absl::Duration virtual_time;
  int writes = 0;        // of ours, accepted
  int rival_writes = 0;  // of the ingress controller
  int calls = 0;         // of ours, whatever became of them
};

// The same scenario gives the same result on every machine. Not thread-safe.
ScenarioResult RunScenario(const Scenario& scenario, bool trace);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_SCENARIO_RUN_H_
