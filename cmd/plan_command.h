// What `oci-drain plan` prints, and the plan of a snapshot.
#ifndef OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "drain/plan.h"

namespace cmd {

// kSnapshot prints what the plan rests on instead of the plan: kept in a file, it
// gives the same plan again with --snapshot.
enum class PlanOutput { kText, kJson, kSnapshot };

// "text", "json" or "snapshot".
absl::StatusOr<PlanOutput> ParsePlanOutput(absl::string_view text);

// Ends in a line break.
std::string FormatPlan(const drain::Input& input, const drain::Plan& plan, PlanOutput output);

// The plan of the snapshot in `path`, ending in a line break. InvalidArgument and
// the statuses of reading a file name it, the member and what is allowed;
// Internal: the plan breaks an invariant.
absl::StatusOr<std::string> PlanFromSnapshot(const std::string& path, PlanOutput output);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_PLAN_COMMAND_H_
