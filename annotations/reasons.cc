#include "annotations/reasons.h"

#include "annotations/table.h"

namespace annotations {
namespace {

constexpr EventDefinition kEvents[] = {
    {"BackendDraining", false, "Service", false,
     "A write that drains a Pod's backend was accepted; in a dry run: it would be written.",
     "Nothing: BackendDrained follows."},
    {"BackendDrained", false, "Service", false,
     "A read has shown the backend drained or offline, with no foreign work request unfinished.",
     "Nothing. The note has the time since the deletion and the time left before the Pod's "
     "deadline."},
    {"DrainDeadlineAtRisk", true, "Service", false,
     "What is queued on the load balancer takes longer than an ending Pod has left.",
     "Raise terminationGracePeriodSeconds (docs/lifecycle_budget.md)."},
    {"DrainDeadlineMissed", true, "Service", false,
     "A Pod's grace period ended, or the Pod has gone, before its drain was confirmed.",
     "Raise terminationGracePeriodSeconds and the preStop wait (docs/lifecycle_budget.md)."},
    {"DrainWaitEnded", true, "Service", false,
     "A Pod has left the drain barrier before it was let go.",
     "Raise drain-wait --timeout and terminationGracePeriodSeconds."},
    {"StickySetWithoutCutoff", true, "Service", false,
     "The backend set has session persistence, and a drained backend keeps its sessions.",
     "Set backend-drain-sticky-cutoff on the Service."},
    {"InvalidAnnotation", true, "Service, IngressClass", false,
     "The value of an annotation of ours is not allowed, or it is on the wrong kind of object.",
     "Correct the key or the value that the note names; until then the default applies."},
    {"NotMapped", true, "Ingress, Service, IngressClass", false,
     "A rule of an Ingress, or an entry of --lb_map_file, leads to no backend set.",
     "Correct what the note names: the class, the Service or its port."},
    {"ServiceNotPublishingTerminatingPods", true, "Service", false,
     "The Service opted in without publishNotReadyAddresses; the ingress controller takes its "
     "ending Pods out at once.",
     "Set spec.publishNotReadyAddresses: true on a Service that only the Ingress uses."},
    {"BackendSetContested", true, "Service", false,
     "Several Services map to one backend set; it is drained for none.",
     "Give the Service another name or port."},
    {"BackendSetMissing", true, "Service", false, "The load balancer has no such backend set yet.",
     "Wait for the ingress controller; if it stays, see its log."},
    {"PortMismatch", true, "Service", false,
     "A backend has a Pod's address and a port that no endpoint slice has; it is not touched.",
     "Use one number for a named port in all Pods of the Service."},
    {"EndpointWithoutPod", true, "Service", false,
     "An endpoint names no Pod of the Service's namespace; its backend is not touched.",
     "Let a selector make the endpoints, or take the annotation off."},
    {"NodeBackendsNotDrained", true, "Service", false, "The backends of the set are nodes.",
     "Use VCN-native Pod networking, or take the annotation off."},
    {"HealthCheckCannotSeeReadiness", true, "Service", false,
     "The set's health check is TCP, which a Pod that is not ready passes.",
     "Set healthcheck-protocol: HTTP and healthcheck-path on the Ingress."},
    {"DrainBrakeEngaged", true, "Service", false,
     "More of a set would go at once, without a Pod's deletion that proves it, than "
     "--drain_brake_percent allows.",
     "Check the Service's selector and the API server; raise the flag if it is meant."},
    {"AdditionsWaitForSlots", true, "Service", false,
     "Pods are not added to the set, since a limit is reached.",
     "Lower replicas or maxSurge (docs/capacity.md)."},
    {"ForeignChangeRestored", false, "Service", false,
     "A change by somebody else was overtaken by a drain behind it, and is written back.",
     "Nothing."},
    {"WorkRequestFailed", true, "Service", false,
     "A work request of ours failed; it is planned again.",
     "If it repeats: the note has OCI's reason."},
    {"SharedLoadBalancerDelaysOthers", true, "IngressClass", false,
     "Drains delay the ingress controller's updates for Services that did not opt in.",
     "Opt them in, or set backend-drain-carry: \"all\" on the IngressClass."},
    {"IngressControllerDrains", false, "IngressClass", false,
     "The ingress controller is seen to drain by itself; its flags are left alone.", "Nothing."},
    {"LedgerUnavailable", true, "IngressClass", false,
     "The record of drains cannot be written to its ConfigMap; drains go on.",
     "Check the rights on configmaps in the controller's namespace."},
    {"LoadBalancerNotActive", true, "IngressClass", false,
     "The load balancer is not ACTIVE; nothing is written.", "Wait, or see the console."},
    {"LoadBalancerNotFound", true, "IngressClass", false,
     "OCI answers 404 for the load balancer of the class.",
     "Check the annotation id and the IAM policy (docs/iam.md)."},
    {"LoadBalancerNotReadable", true, "IngressClass", false,
     "The load balancer cannot be read, for a reason that does not pass by itself or for long.",
     "The note has OCI's answer; docs/authentication.md has the cures."},
    {"WriteRefused", true, "IngressClass", false, "OCI refused a write, and not in passing.",
     "The note has OCI's answer and what is done instead."},
    {"WatchForbidden", true, "IngressClass", false,
     "A watch that the load balancer's plan needs is forbidden; nothing is drained on it.",
     "Grant get, list and watch of what the note names."},
    {"GateHasNoBackendSet", true, "workload", false,
     "Pods have the readiness gate, and no backend set of a Service that opted in routes to them.",
     "Annotate the Service, or take the gate out of the Pod template."},
    {"RolloutWillExceedBackendLimit", true, "Service, workload", true,
     "The next rollout would need more slots than there are.",
     "Lower maxSurge, the grace period or replicas to what the note says."},
    {"RolloutBlockedByBackendLimit", true, "Service, workload, IngressClass", true,
     "Pods wait for a slot, none is free and nothing drains.",
     "Lower replicas, or take out foreign backends; docs/capacity.md for the gate."},
    {"ReserveUnsatisfiable", true, "Service, workload", true,
     "Less is left than a Service's reserve.",
     "Lower the replicas of what shares the limit, or the reserve."},
    {"BackendSetLimitNear", true, "Service, workload", true,
     "A set holds 90 % of its limit, or its autoscaler may ask for more than it takes.",
     "Lower maxReplicas, or spread the Pods over several Services."},
    {"BackendCapacityLow", true, "IngressClass", true,
     "The load balancer holds 90 % of its limit, or all its backend sets are in use.",
     "Move Services to another IngressClass, or lower their replicas."},
    {"WithdrawalRefused", true, "Service, workload", true,
     "Drained backends could make room, but must not be withdrawn.",
     "The note names the obstacle: the flag, a right, or a selector with the label."},
    {"BackendLimitExceeded", true, "Service, IngressClass", false,
     "OCI refused more backends, at once or by a failed work request.",
     "Set --max_backends_per_set and --max_backends_per_load_balancer to OCI's limits."},
    {"BackendWithdrawn", false, "Service", false,
     "A drained backend leaves its set early, to make room for a Pod that waits.", "Nothing."},
    {"RolloutNotForecast", false, "Service", false,
     "The Pods belong to no Deployment or StatefulSet, so their rollouts are not foreseen.",
     "Reserve slots by backend-drain-reserve."},
};

constexpr ConditionReason kConditionReasons[] = {
    {kReadyCondition, "Registered", true,
     "Every set has the Pod undrained, its work request is done, and a newer check says OK."},
    {kReadyCondition, "NotRegistered", false, "A set does not hold the Pod yet."},
    {kReadyCondition, "Drained", false,
     "Its backend is drained or offline, of an earlier Pod with the address perhaps."},
    {kReadyCondition, "Registering", false, "A work request that may concern it is not done."},
    {kReadyCondition, "NotHealthy", false,
     "The load balancer's health is not OK by a check newer than the registration."},
    {kReadyCondition, "DrainsFirst", false,
     "It is ready, but earlier Pods of its workload wait for their drains."},
    {kReadyCondition, "FailSafe", true, "It has waited for --gate_fail_safe."},
    {kReadyCondition, "NoSlot", true, "Made ready at the limit, by --gate_at_limit=release."},
    {kDrainedCondition, "Drained", true, "Every set is confirmed drained or offline."},
    {kDrainedCondition, "NotRegistered", true, "No set holds it."},
    {kDrainedCondition, "LastBackend", false, "Its time is up; its drain waits for a replacement."},
    {kDrainedCondition, "DeadlineMissed", false, "Its time is up before the drain was confirmed."},
};

}  // namespace

absl::Span<const EventDefinition> EventTable() { return kEvents; }

const EventDefinition* FindEvent(absl::string_view reason) {
  for (const EventDefinition& event : kEvents) {
    if (event.reason == reason) return &event;
  }
  return nullptr;
}

absl::Span<const ConditionReason> ConditionReasonTable() { return kConditionReasons; }

}  // namespace annotations
