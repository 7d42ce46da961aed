#include "cmd/explain_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "controller/snapshot.h"

namespace cmd {

absl::StatusOr<std::string> FormatPodOf(const std::vector<const controller::Preview*>& passes,
                                        const kube::ObjectKey& pod, bool json) {
  controller::PodExplanation explanation;
  explanation.pod = pod;
  for (const controller::Preview* pass : passes) controller::ExplainPod(*pass, explanation);
  if (explanation.sets.empty()) return controller::NoSetKnows(pod, passes);
  return json ? controller::ExplanationToJson(explanation)
              : controller::FormatExplanation(explanation);
}

absl::StatusOr<std::string> ExplainFromSnapshot(const std::string& path, const kube::ObjectKey& pod,
                                                bool json) {
  const auto text = base::ReadFile(path, controller::kMaxSnapshotBytes);
  if (!text.ok()) return text.status();
  auto snapshot = controller::DecodeSnapshot(*text);
  if (!snapshot.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", snapshot.status().message()));
  }
  controller::Preview pass;
  pass.input = std::move(snapshot->input);
  pass.plan = drain::MakePlan(pass.input);
  return FormatPodOf({&pass}, pod, json);
}

}  // namespace cmd
