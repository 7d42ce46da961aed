// The commands of oci-drain that speak to a cluster and to OCI.
#ifndef OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_
#define OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cmd/capacity_command.h"
#include "cmd/plan_command.h"
#include "kube/types.h"

namespace cmd {

struct LiveOptions {
  std::string load_balancer;  // OCID; empty: every one that an IngressClass names
  PlanOutput output = PlanOutput::kText;
  absl::Duration patience = absl::Seconds(60);  // until the watches have synced
};

// Prints what the controller would do now, and why, for each load balancer.
// Writes nothing.
absl::Status RunLivePlan(const LiveOptions& options, std::ostream& out);

// Prints the table of slots of each load balancer and what people would be told; OK
// also if a rollout would not fit, which the answer says. Writes nothing.
absl::StatusOr<bool> RunLiveCapacity(const LiveOptions& options, CapacityStyle style,
                                     std::ostream& out);

// Why the Pod's backends are as they are, ending in a line break. NotFound: no set knows
// it. Writes nothing.
absl::StatusOr<std::string> ExplainLivePod(const LiveOptions& options, const kube::ObjectKey& pod,
                                           bool json);

// Prints for each Service that opted in how long its Pods need to end, by the work
// requests that the load balancer remembers and a Pod's `startup`. Writes nothing.
absl::Status RunLiveBudget(const LiveOptions& options, absl::Duration startup, std::ostream& out);

// Un-drains every backend that the ledgers say is drained by us and whose Pod
// lives: for uninstalling. Tells its progress on `progress`. Unavailable if it is
// not done within `at_most`.
absl::Status RunRelease(const LiveOptions& options, absl::Duration at_most, std::ostream& out,
                        std::ostream& progress);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_
