#include "cmd/plan_command.h"

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "controller/plan_json.h"
#include "controller/snapshot.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "drain/plan.h"

namespace cmd {

absl::StatusOr<PlanOutput> ParsePlanOutput(absl::string_view text) {
  if (text == "text") return PlanOutput::kText;
  if (text == "json") return PlanOutput::kJson;
  if (text == "snapshot") return PlanOutput::kSnapshot;
  return absl::InvalidArgumentError(
      absl::StrCat("--output=", text, ": expected text, json or snapshot"));
}

std::string FormatPlan(const drain::Input& input, const drain::Plan& plan, PlanOutput output) {
  switch (output) {
    case PlanOutput::kText:
      return drain::Explain(input, plan);
    case PlanOutput::kJson:
      return absl::StrCat(controller::PlanToJson(input, plan), "\n");
    case PlanOutput::kSnapshot:
      return controller::EncodeSnapshot({"", input});
  }
  return "";
}

absl::StatusOr<std::string> PlanFromSnapshot(const std::string& path, PlanOutput output) {
  const auto json = base::ReadFile(path, controller::kMaxSnapshotBytes);
  if (!json.ok()) return json.status();
  const auto snapshot = controller::DecodeSnapshot(*json);
  if (!snapshot.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", snapshot.status().message()));
  }
  const drain::Plan plan = drain::MakePlan(snapshot->input);
  const absl::Status check = drain::CheckPlan(snapshot->input, plan);
  if (!check.ok()) return check;
  return FormatPlan(snapshot->input, plan, output);
}

}  // namespace cmd
