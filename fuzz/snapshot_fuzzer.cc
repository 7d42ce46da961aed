// Snapshots of `oci-drain plan --snapshot`: whatever a person writes, the same text
// comes back, and a plan is made that keeps its promises.
#include <string>

#include "controller/snapshot.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "drain/plan.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<controller::Snapshot> snapshot =
      controller::DecodeSnapshot(fuzz::TextOf(data, size));
  if (!snapshot.ok()) {
    fuzz::Require(snapshot.status().code() == absl::StatusCode::kInvalidArgument,
                  "a snapshot is read or InvalidArgument");
    fuzz::Require(snapshot.status().message().size() < 4096, "a message has a bound");
    return 0;
  }
  const std::string text = controller::EncodeSnapshot(*snapshot);
  const absl::StatusOr<controller::Snapshot> again = controller::DecodeSnapshot(text);
  fuzz::Require(again.ok() && controller::EncodeSnapshot(*again) == text,
                "a snapshot that was written is read the same");
  const drain::Plan plan = drain::MakePlan(snapshot->input);
  fuzz::Require(drain::CheckPlan(snapshot->input, plan).ok(), "a plan keeps its promises");
  fuzz::Require(drain::Explain(snapshot->input, plan) ==
                    drain::Explain(again->input, drain::MakePlan(again->input)),
                "the same snapshot gives the same plan");
  return 0;
}
