// `oci-drain plan --snapshot FILE`: what would be done now, and why.
#ifndef OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cmd {

enum class PlanOutput { kText, kJson };

// "text" or "json".
absl::StatusOr<PlanOutput> ParsePlanOutput(absl::string_view text);

// The plan of the snapshot in `path`, ending in a line break. InvalidArgument and
// the statuses of reading a file name it, the member and what is allowed;
// Internal: the plan breaks an invariant.
absl::StatusOr<std::string> PlanFromSnapshot(const std::string& path, PlanOutput output);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_
