#include "controller/rights.h"

namespace controller {
namespace {

using Scope = RightScope;
using For = RightFor;

constexpr absl::string_view kCore;
constexpr absl::string_view kApps = "apps";
constexpr absl::string_view kNetworking = "networking.k8s.io";
constexpr absl::string_view kLeases = "coordination.k8s.io";

constexpr absl::string_view kNothing = "no load balancer is drained";
constexpr absl::string_view kNoPods = "the load balancers of these Services are not drained";
constexpr absl::string_view kUnresolved =
    "a Pod that the watch does not show, or that a node shutdown ends, is not drained";
constexpr absl::string_view kNoMembership =
    "writes carry drain flags alone, which shuts the ingress controller out for a minute";
constexpr absl::string_view kNoLedger =
    "drains are not recorded, so that a restart does not know its own";
constexpr absl::string_view kNoLeader = "no replica leads, and nothing is drained";
constexpr absl::string_view kSlowTakeover = "a standby takes over later";
constexpr absl::string_view kNoEvents = "what is done and what is wrong is told in the log alone";
constexpr absl::string_view kNoAutoscalers = "what an autoscaler may add is not foreseen";
constexpr absl::string_view kNoConditions =
    "Pod conditions are not written: Pods with the readiness gate never become ready";
constexpr absl::string_view kNoWithdrawal = "no room is made at the load balancer's limit";
constexpr absl::string_view kNoSelfTest = "missing rights are not found before they hurt";

// clang-format off
constexpr Right kTable[] = {
    {kCore, "services", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kCore, "services", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "deployments", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "deployments", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "replicasets", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "replicasets", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "statefulsets", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kApps, "statefulsets", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {"discovery.k8s.io", "endpointslices", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {"discovery.k8s.io", "endpointslices", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {kNetworking, "ingressclasses", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kNetworking, "ingressclasses", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},
    {kNetworking, "ingresses", "", "list", Scope::kCluster, For::kAlways, true, kNothing},
    {kNetworking, "ingresses", "", "watch", Scope::kCluster, For::kAlways, true, kNothing},

    {kCore, "endpoints", "", "get", Scope::kServiceNamespaces, For::kAlways, true, kNoMembership},
    {kCore, "pods", "", "get", Scope::kServiceNamespaces, For::kAlways, true, kUnresolved},
    {kCore, "pods", "", "list", Scope::kServiceNamespaces, For::kAlways, true, kNoPods},
    {kCore, "pods", "", "watch", Scope::kServiceNamespaces, For::kAlways, true, kNoPods},
    {"autoscaling", "horizontalpodautoscalers", "", "list", Scope::kServiceNamespaces, For::kAlways, false, kNoAutoscalers},

    {"events.k8s.io", "events", "", "create", Scope::kEventNamespaces, For::kAlways, false, kNoEvents},
    {"events.k8s.io", "events", "", "patch", Scope::kEventNamespaces, For::kAlways, false, kNoEvents},

    {kCore, "configmaps", "", "get", Scope::kOwnNamespace, For::kAlways, true, kNoLedger},
    {kCore, "configmaps", "", "create", Scope::kOwnNamespace, For::kLedger, true, kNoLedger},
    {kCore, "configmaps", "", "update", Scope::kOwnNamespace, For::kLedger, true, kNoLedger},

    {kLeases, "leases", "", "create", Scope::kOwnNamespace, For::kElection, true, kNoLeader},
    {kLeases, "leases", "", "get", Scope::kOwnNamespace, For::kElection, true, kNoLeader},
    {kLeases, "leases", "", "update", Scope::kOwnNamespace, For::kElection, true, kNoLeader},
    {kLeases, "leases", "", "list", Scope::kOwnNamespace, For::kElection, false, kSlowTakeover},
    {kLeases, "leases", "", "watch", Scope::kOwnNamespace, For::kElection, false, kSlowTakeover},

    {kCore, "pods", "status", "patch", Scope::kServiceNamespaces, For::kConditions, true, kNoConditions},

    {kCore, "pods", "", "patch", Scope::kServiceNamespaces, For::kWithdrawal, true, kNoWithdrawal},
    {"policy", "poddisruptionbudgets", "", "list", Scope::kServiceNamespaces, For::kWithdrawal, true, kNoWithdrawal},

    {"authorization.k8s.io", "selfsubjectaccessreviews", "", "create", Scope::kCluster, For::kSelfTest, false, kNoSelfTest, /*granted_by_default=*/true},
};
// clang-format on

bool IsUsed(RightFor feature, const Settings& settings, bool elects) {
  switch (feature) {
    case RightFor::kAlways:
      return true;
    case RightFor::kLedger:
      return !settings.dry_run;
    case RightFor::kElection:
      return elects && !settings.dry_run;
    case RightFor::kConditions:
      return !settings.dry_run && (settings.pod_conditions.drained || settings.pod_conditions.gate);
    case RightFor::kWithdrawal:
      return !settings.dry_run && settings.capacity_action == CapacityAction::kWithdraw;
    case RightFor::kSelfTest:
      break;
  }
  return false;
}

}  // namespace

absl::Span<const Right> Rights() { return kTable; }

std::vector<Right> RightsFor(const Settings& settings, bool elects) {
  std::vector<Right> used;
  for (const Right& right : kTable) {
    if (IsUsed(right.needed_for, settings, elects)) used.push_back(right);
  }
  return used;
}

}  // namespace controller
