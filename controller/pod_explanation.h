// Why a Pod's backends are as they are: which sets know it, which rule holds on what
// facts, and what was written when.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_POD_EXPLANATION_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_POD_EXPLANATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "controller/preview.h"
#include "health/status.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// One backend set, as of one pass.
struct SetExplanation {
  oci::Ocid load_balancer;
  std::string load_balancer_name;  // empty: not read
  drain::BackendKey key;
  kube::ObjectKey service;
  absl::Time at;                              // of the facts
  absl::Time read_at = absl::InfinitePast();  // of the load balancer
  std::string untouched;                      // why nothing of this set is; or empty
  std::string in_set;                         // "in the set, drained"
  std::optional<drain::Endpoint> endpoint;    // what is published of the Pod
  std::optional<drain::Decision> decision;    // none if the set is untouched
  std::optional<drain::LedgerEntry> ledger;
  std::optional<drain::Acknowledgement> progress;
  std::optional<drain::GateDecision> gate;
};

struct PodExplanation {
  kube::ObjectKey pod;
  std::vector<SetExplanation> sets;
  // What was decided and written, the oldest first; nothing is known of it without a
  // controller that has run.
  std::vector<health::DecisionStatus> history;
  bool has_history = false;
};

// Adds each set of the pass that knows the Pod.
void ExplainPod(const Preview& pass, PodExplanation& explanation);

// NotFound, which names the Services of its namespace that are known: no set knows it.
absl::Status NoSetKnows(const kube::ObjectKey& pod, const std::vector<const Preview*>& passes);

// "NAMESPACE/NAME". InvalidArgument says what is expected.
absl::StatusOr<kube::ObjectKey> ParsePodName(absl::string_view text);

// Ends in a line break; JSON is one object on one line.
std::string FormatExplanation(const PodExplanation& explanation);
std::string ExplanationToJson(const PodExplanation& explanation);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_POD_EXPLANATION_H_
