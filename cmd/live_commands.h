// The commands of oci-drain that speak to a cluster and to OCI.
#ifndef OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_
#define OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cmd/plan_command.h"

namespace cmd {

struct LiveOptions {
  std::string load_balancer;  // OCID; empty: every one that an IngressClass names
  PlanOutput output = PlanOutput::kText;
  absl::Duration patience = absl::Seconds(60);  // until the watches have synced
};

// Prints what the controller would do now, and why, for each load balancer.
// Writes nothing.
absl::Status RunLivePlan(const LiveOptions& options, std::ostream& out);

// Un-drains every backend that the ledgers say is drained by us and whose Pod
// lives: for uninstalling. Tells its progress on `progress`. Unavailable if it is
// not done within `at_most`.
absl::Status RunRelease(const LiveOptions& options, absl::Duration at_most, std::ostream& out,
                        std::ostream& progress);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_LIVE_COMMANDS_H_
