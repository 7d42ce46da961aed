// What people are told of a plan.
#include "absl/strings/str_cat.h"
#include "drain/explain.h"

namespace drain {
namespace {

std::string Where(const Notice& notice, const oci::Ocid& load_balancer) {
  std::string text;
  if (!notice.key.backend.empty()) {
    absl::StrAppend(&text, "backend ", notice.key.backend.value(), " of ");
  }
  if (!notice.key.set.empty()) {
    absl::StrAppend(&text, "backend set ", notice.key.set.value(), " of ");
  }
  return absl::StrCat(text, "load balancer ", load_balancer.value());
}

std::string Slack(const Notice& notice) {
  if (notice.slack == absl::InfiniteDuration()) return "";
  const bool late = notice.slack < absl::ZeroDuration();
  return absl::StrCat(
      ", ",
      absl::FormatDuration(absl::Trunc(absl::AbsDuration(notice.slack), absl::Milliseconds(100))),
      late ? " after its deadline" : " before its deadline");
}

// What became of a Pod's drain.
std::string DescribeDrain(const Notice& notice, const std::string& where) {
  const std::string took = absl::FormatDuration(absl::Trunc(notice.took, absl::Milliseconds(100)));
  switch (notice.kind) {
    case NoticeKind::kBackendDrained:
      return absl::StrCat("Pod ", notice.pod, ": ", where,
                          notice.count == 0 ? " is drained, " : " is offline, ", took,
                          " after the Pod's deletion", Slack(notice));
    case NoticeKind::kDrainDeadlineMissed:
      if (notice.count > 0) {
        return absl::StrCat(notice.pod.empty() ? "A Pod" : absl::StrCat("Pod ", notice.pod),
                            " has ended, and ", where,
                            " still routes to it: it was not drained in time; raise "
                            "terminationGracePeriodSeconds, see docs/lifecycle_budget.md");
      }
      return absl::StrCat("Pod ", notice.pod, ": ", where,
                          " was not confirmed drained when the Pod's grace period ended; raise "
                          "terminationGracePeriodSeconds above the drain latency seen here");
    case NoticeKind::kStickySetWithoutCutoff:
      return absl::StrCat("Sessions persisted on a drained backend of ", where,
                          " go on until its Pod ends; set backend-drain-sticky-cutoff on the "
                          "Service to end them before");
    case NoticeKind::kDrainDeadlineAtRisk:
      return absl::StrCat("Pod ", notice.pod, ": ", where, " may be drained ", took,
                          " too late: ", notice.count,
                          " work requests are in its way at the time that they take; raise "
                          "terminationGracePeriodSeconds, see docs/lifecycle_budget.md");
    case NoticeKind::kDrainWaitEnded:
      return absl::StrCat("Pod ", notice.pod, " waits at the drain barrier no more, and ", where,
                          " was not confirmed drained when it was last seen waiting: its process "
                          "may end now; raise drain-wait --timeout and "
                          "terminationGracePeriodSeconds, see docs/lifecycle_budget.md");
    case NoticeKind::kGateHasNoBackendSet:
      return absl::StrCat(
          "Its Pods never become ready: they have the readiness gate, and no "
          "backend set of a Service that opted in routes to them (Service ",
          notice.detail, ", ", where,
          "); annotate the Service with backend-draining: \"true\", or take the "
          "gate out of the Pod template");
    default:
      return where;
  }
}

}  // namespace

absl::string_view ReasonOf(NoticeKind kind) {
  switch (kind) {
    case NoticeKind::kBackendDrained:
      return "BackendDrained";
    case NoticeKind::kDrainDeadlineMissed:
      return "DrainDeadlineMissed";
    case NoticeKind::kWorkRequestFailed:
      return "WorkRequestFailed";
    case NoticeKind::kServiceNotPublishingTerminatingPods:
      return "ServiceNotPublishingTerminatingPods";
    case NoticeKind::kBackendSetContested:
      return "BackendSetContested";
    case NoticeKind::kBackendSetMissing:
      return "BackendSetMissing";
    case NoticeKind::kPortMismatch:
      return "PortMismatch";
    case NoticeKind::kEndpointWithoutPod:
      return "EndpointWithoutPod";
    case NoticeKind::kNodeBackendsNotDrained:
      return "NodeBackendsNotDrained";
    case NoticeKind::kDrainBrakeEngaged:
      return "DrainBrakeEngaged";
    case NoticeKind::kSharedLoadBalancerDelaysOthers:
      return "SharedLoadBalancerDelaysOthers";
    case NoticeKind::kForeignChangeRestored:
      return "ForeignChangeRestored";
    case NoticeKind::kIngressControllerDrains:
      return "IngressControllerDrains";
    case NoticeKind::kLedgerUnavailable:
      return "LedgerUnavailable";
    case NoticeKind::kLoadBalancerNotActive:
      return "LoadBalancerNotActive";
    case NoticeKind::kHealthCheckCannotSeeReadiness:
      return "HealthCheckCannotSeeReadiness";
    case NoticeKind::kAdditionsWaitForSlots:
      return "AdditionsWaitForSlots";
    case NoticeKind::kStickySetWithoutCutoff:
      return "StickySetWithoutCutoff";
    case NoticeKind::kDrainDeadlineAtRisk:
      return "DrainDeadlineAtRisk";
    case NoticeKind::kDrainWaitEnded:
      return "DrainWaitEnded";
    case NoticeKind::kGateHasNoBackendSet:
      return "GateHasNoBackendSet";
  }
  return "Unknown";
}

bool IsWarning(NoticeKind kind) {
  return kind != NoticeKind::kBackendDrained && kind != NoticeKind::kForeignChangeRestored &&
         kind != NoticeKind::kIngressControllerDrains;
}

std::string Describe(const Notice& notice, const oci::Ocid& load_balancer) {
  const std::string where = Where(notice, load_balancer);
  switch (notice.kind) {
    case NoticeKind::kWorkRequestFailed:
      return absl::StrCat("A work request on ", where, " failed and is planned again: \"",
                          notice.detail, "\"");
    case NoticeKind::kServiceNotPublishingTerminatingPods:
      return absl::StrCat(
          "Not drained: the Service does not publish terminating Pods, so the "
          "ingress controller takes them out at once; set "
          "spec.publishNotReadyAddresses: true on a Service used by the Ingress "
          "only (",
          where, ")");
    case NoticeKind::kBackendSetContested:
      return absl::StrCat("Not drained: several Services map to ", where,
                          "; give the Service another name or port");
    case NoticeKind::kBackendSetMissing:
      return absl::StrCat("Not drained: there is no ", where,
                          " yet; it is drained once the ingress controller has made it");
    case NoticeKind::kPortMismatch:
      return absl::StrCat("Untouched: ", where, " has a Pod's address but a port that no endpoint ",
                          "slice has; use the same number for a named port in all Pods");
    case NoticeKind::kEndpointWithoutPod:
      return absl::StrCat("Untouched: the endpoint of ", where,
                          " names no Pod of the Service's namespace in its targetRef, so that its "
                          "end cannot be seen");
    case NoticeKind::kNodeBackendsNotDrained:
      return absl::StrCat("Not drained: the backends of ", where,
                          " are nodes, not Pods; draining needs VCN-native Pod networking");
    case NoticeKind::kDrainBrakeEngaged:
      return absl::StrCat("Nothing was written to ", where, " beyond proven drains: ", notice.count,
                          " of its backends would go without a Pod deletion that proves it; check "
                          "the Service's selector and the API server, or raise "
                          "--drain_brake_percent");
    case NoticeKind::kSharedLoadBalancerDelaysOthers:
      return absl::StrCat("Drains on ", where, " delay the ingress controller's updates for ",
                          notice.detail,
                          " by up to 70 s a burst; annotate those Services too, or "
                          "set backend-drain-carry: \"all\" on the IngressClass");
    case NoticeKind::kForeignChangeRestored:
      return absl::StrCat("A change that somebody else made to ", where,
                          " was overtaken by a drain queued behind it and is written back");
    case NoticeKind::kIngressControllerDrains:
      return absl::StrCat("The ingress controller of ", where, " drains by itself: its flags are ",
                          "left alone, membership and acknowledgement go on");
    case NoticeKind::kLedgerUnavailable:
      return absl::StrCat("The record of drains on ", where,
                          " cannot be written to its ConfigMap; ",
                          "drains go on and are recorded later; check the rights on configmaps");
    case NoticeKind::kLoadBalancerNotActive:
      return absl::StrCat("Nothing is written: ", where, " is ", notice.detail, ", not ACTIVE");
    case NoticeKind::kHealthCheckCannotSeeReadiness:
      return absl::StrCat("The TCP health check of ", where,
                          " cannot see that a Pod is not ready; "
                          "set the Ingress annotations healthcheck-protocol: HTTP and "
                          "healthcheck-path to the readiness endpoint");
    case NoticeKind::kAdditionsWaitForSlots:
      return absl::StrCat(notice.count, " Pods wait to be added to ", where, ": ", notice.detail,
                          "; lower replicas or maxSurge");
    default:
      return DescribeDrain(notice, where);
  }
}

}  // namespace drain
