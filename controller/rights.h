// Every right that is used of the Kubernetes API, in one table: what the self-test asks
// for, and what the roles in deploy/ are to grant.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_RIGHTS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_RIGHTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "controller/settings.h"

namespace controller {

// Where a right is used.
enum class RightScope {
  kCluster,            // in all namespaces, or of what has none
  kServiceNamespaces,  // in those of Services that opted in; a grant for all will do
  kEventNamespaces,    // in those, and in default for what has no namespace
  kOwnNamespace,       // in that of the controller
};

// Which feature needs it.
enum class RightFor {
  kAlways,
  kLedger,      // not in a dry run
  kElection,    // --leader_elect
  kConditions,  // --pod_conditions other than none
  kWithdrawal,  // --capacity_action=withdraw
  kSelfTest,    // the self-test itself
};

struct Right {
  absl::string_view group;  // empty: the core group
  absl::string_view resource;
  absl::string_view subresource;  // empty: none
  absl::string_view verb;
  RightScope scope = RightScope::kCluster;
  RightFor needed_for = RightFor::kAlways;
  // Without it drains stop or cannot be relied on; else only something less is lost.
  bool vital = true;
  // What happens without it.
  absl::string_view without;
  // The roles that a new cluster has grant it to every authenticated user
  // (system:basic-user): no rule of ours is needed.
  bool granted_by_default = false;
};

// Sorted by group, resource, subresource and verb within each purpose; none twice.
absl::Span<const Right> Rights();

// Those that a controller with these settings uses and that somebody has to grant.
// `elects`: it takes part in the election of a leader.
std::vector<Right> RightsFor(const Settings& settings, bool elects);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_RIGHTS_H_
