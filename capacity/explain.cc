#include "capacity/explain.h"

#include "absl/strings/str_cat.h"
#include "annotations/table.h"

namespace capacity {
namespace {

constexpr char kNotBound[] =
    " The ingress controller and autoscalers are not bound by this reserve.";

std::string LimitOf(const Input& input, const Finding& finding) {
  switch (finding.limit) {
    case LimitKind::kBackendSet:
      return absl::StrCat("backend set ", input.sets[finding.set].name.value());
    case LimitKind::kLoadBalancer:
      return "the load balancer";
    case LimitKind::kBackendSets:
      break;
  }
  return "backend sets";
}

std::string InUse(const Input& input, const Finding& finding) {
  return absl::StrCat(finding.in_use, " of at most ", finding.most, " backends of ",
                      LimitOf(input, finding), " are in use, draining and foreign ones included");
}

std::string WorkloadsOf(const Input& input, const SetInput& set) {
  std::string names;
  for (const int index : set.workloads) {
    const kube::ObjectReference& reference = input.workloads[index].reference;
    absl::StrAppend(&names, names.empty() ? "" : " and ", reference.kind, " ",
                    reference.key.ToString());
  }
  return names.empty() ? absl::StrCat("the Pods of Service ", set.service.key.ToString()) : names;
}

std::string Exceeding(const Input& input, const Finding& finding, const Advice& advice) {
  const SetInput& set = input.sets[finding.set];
  const std::string ways = Describe(advice);
  return absl::StrCat(
      "A rollout of ", WorkloadsOf(input, set), " would need ", finding.wanted, " of at most ",
      finding.most, " backends of ", LimitOf(input, finding), ": ", set.forecast->peak,
      " at its peak, with terminating Pods, where ", finding.room,
      " are left for it. Replacements would wait without traffic. ",
      ways.empty() ? "Move it to a load balancer of its own" : absl::StrCat("It fits with ", ways),
      ".");
}

std::string Blocked(const Input& input, const Finding& finding) {
  const SetInput& set = input.sets[finding.set];
  return absl::StrCat(finding.waiting, " Pod(s) of ", WorkloadsOf(input, set),
                      " wait for a slot: ", InUse(input, finding),
                      ", and none drains, so that none becomes free by itself. Lower the replicas "
                      "of it or of what shares the limit, or take out foreign backends (",
                      set.demand.foreign, " in this set).");
}

std::string Near(const Input& input, const Finding& finding) {
  const SetInput& set = input.sets[finding.set];
  std::string scaled;
  if (set.autoscaled != nullptr && set.autoscaled->steady + set.demand.foreign > finding.most) {
    scaled = absl::StrCat(" Its autoscaler may ask for ", set.autoscaled->steady,
                          " Pods: lower maxReplicas to ", finding.room, ".");
  }
  return absl::StrCat(InUse(input, finding), ", and ", set.demand.pending, " Pod(s) wait.", scaled,
                      " Spread the Pods over several Services, or lower their number.");
}

std::string Unsatisfiable(const Input& input, const Finding& finding) {
  return absl::StrCat("Of ", finding.wanted, " slots to be kept for rollouts of ",
                      WorkloadsOf(input, input.sets[finding.set]), ", ", finding.room,
                      " are left: ", InUse(input, finding), ". Lower the replicas of what shares ",
                      LimitOf(input, finding), ", or the reserve by the Service's annotation ",
                      annotations::kReserve, ".", kNotBound);
}

std::string CureOf(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kOnlyWarn:
      return "start the controller with --capacity_action=withdraw";
    case Obstacle::kNoLabelInSelector:
      return absl::StrCat("add the label ", annotations::kPublishedLabel,
                          ": \"true\" to the Pod template and then to the Service's selector");
    case Obstacle::kOwnerUnknown:
      return "their owner is no Deployment or StatefulSet, so that its selector is not known; "
             "lower "
             "the replicas";
    case Obstacle::kLabelInReplicaSet:
      return absl::StrCat("take the label ", annotations::kPublishedLabel,
                          " out of the selector of the workload: a ReplicaSet would replace the "
                          "Pod that loses it");
    case Obstacle::kLabelInDisruptionBudget:
      return absl::StrCat("take the label ", annotations::kPublishedLabel,
                          " out of the selector of the PodDisruptionBudget");
    case Obstacle::kNone:
      break;
  }
  return "wait";
}

std::string Low(const Input& input, const Finding& finding) {
  if (finding.limit == LimitKind::kBackendSets) {
    return absl::StrCat(finding.in_use, " of at most ", finding.most,
                        " backend sets of the load balancer are in use: one more Service port "
                        "gets none. Use another IngressClass, or fewer Service ports.");
  }
  return absl::StrCat(InUse(input, finding),
                      ". Move Services to another IngressClass, or lower their replicas.");
}

}  // namespace

std::string Describe(const Input& input, const Finding& finding, const Advice& advice) {
  switch (finding.kind) {
    case FindingKind::kBackendCapacityLow:
      return Low(input, finding);
    case FindingKind::kBackendSetLimitNear:
      return Near(input, finding);
    case FindingKind::kRolloutWillExceedBackendLimit:
      return Exceeding(input, finding, advice);
    case FindingKind::kRolloutBlockedByBackendLimit:
      return Blocked(input, finding);
    case FindingKind::kReserveUnsatisfiable:
      return Unsatisfiable(input, finding);
    case FindingKind::kWithdrawalRefused:
      break;
  }
  return absl::StrCat("Drained backends of ", LimitOf(input, finding),
                      " could make room for Pods that wait, but are not withdrawn (",
                      InUse(input, finding), "): ", CureOf(finding.obstacle), ".");
}

std::string DescribeEnd(const FindingKey& key) {
  return absl::StrCat(
      "Ended: ", Name(key.first),
      key.second.empty() ? "" : absl::StrCat(" of backend set ", key.second.value()), ".");
}

}  // namespace capacity
