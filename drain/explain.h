// Plans in words. The only place where the core makes text.
#ifndef OCI_BACKEND_DRAIN_DRAIN_EXPLAIN_H_
#define OCI_BACKEND_DRAIN_DRAIN_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "drain/plan.h"

namespace drain {

// One line for each question, decision, write and notice, stable in order:
// what the golden files of testdata/drain/ hold and what `oci-drain plan` prints.
std::string Explain(const Input& input, const Plan& plan);

// The plan's decisions, and those about backends that are routable and stay so: all
// backends of the sets that were decided about.
std::vector<Decision> AllDecisions(const Input& input, const Plan& plan);

// One line for the log: "write bs_x drain UpdateBackendSet: 3 drains, 2 additions".
std::string Summary(const Plan& plan);

// The reason of an Event ("BackendDrained") and its note, in one sentence that
// names the objects, the cause and the cure.
absl::string_view ReasonOf(NoticeKind kind);
bool IsWarning(NoticeKind kind);
std::string Describe(const Notice& notice, const oci::Ocid& load_balancer);

// Why a rule decides as it does: "its Pod is terminating".
absl::string_view Sentence(Rule rule);

// Why a flip waits; empty for none.
absl::string_view Sentence(Hold hold);

absl::string_view Name(Rule rule);
absl::string_view Name(Hold hold);
absl::string_view Name(WriteReason reason);
absl::string_view Name(DrainProgress progress);
// The reason of the Pod condition.
absl::string_view ReasonOf(GateProgress progress);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_EXPLAIN_H_
