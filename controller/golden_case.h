// The cases of testdata/drain/: a snapshot in, the plan in words out.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_GOLDEN_CASE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_GOLDEN_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/snapshot.h"
#include "drain/plan.h"

namespace controller {

inline constexpr char kGoldenFolder[] = "testdata/drain";
inline constexpr char kSnapshotSuffix[] = ".in.json";
inline constexpr char kPlanSuffix[] = ".plan.txt";

// Names of the files in `folder` that end in `suffix`, without it, sorted.
std::vector<std::string> ListCases(const std::string& folder, absl::string_view suffix);

// A snapshot that says what it is about. An error names the member.
absl::StatusOr<Snapshot> DecodeCase(absl::string_view snapshot_json);

// What the case's golden file holds: what it is about, the plan in words, and the
// invariant it breaks, if any.
std::string RunCase(const Snapshot& snapshot);

// The answer "no answer" to every open question: a call failed, or came to nothing.
void AnswerNothing(const drain::Questions& questions, drain::Input& input);

// Lines that differ with "-" and "+", and three lines around them; empty if none.
std::string UnifiedDiff(absl::string_view before, absl::string_view after);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_GOLDEN_CASE_H_
