#include "controller/capacity_news.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "capacity/explain.h"

namespace controller {
namespace {

using capacity::Finding;
using capacity::FindingKind;

void TellFinding(const CapacityNews& news, const Finding& finding, Reporter& reporter) {
  const capacity::Input& input = news.facts.input;
  const std::string reason = capacity::Name(finding.kind);
  const std::string note = capacity::Describe(input, finding, AdviceFor(news.facts, finding));
  if (finding.set < 0 || finding.kind == FindingKind::kRolloutBlockedByBackendLimit) {
    reporter.TellLoadBalancer(reason, note, news.view, news.load_balancer);
  }
  if (finding.set < 0) return;
  const capacity::SetInput& set = input.sets[finding.set];
  const Reporter::News told{true, reason, note, set.name.value()};
  reporter.Tell(set.service, told);
  for (const int index : set.workloads) {
    reporter.Tell(input.workloads[index].reference, told);
  }
}

void TellEnd(const CapacityNews& news, const capacity::FindingKey& key, Reporter& reporter) {
  const std::string reason = absl::StrCat(capacity::Name(key.first), "Ended");
  const Reporter::News told{false, reason, capacity::DescribeEnd(key), key.second.value()};
  if (key.second.empty()) {
    reporter.TellClasses(told, news.view, news.load_balancer);
    return;
  }
  const std::vector<capacity::SetInput>& sets = news.facts.input.sets;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].name == key.second && news.facts.opted_in[i]) {
      reporter.Tell(sets[i].service, told);
    }
  }
}

// DaemonSets, Argo Rollouts, Pods without owner.
void TellUnforeseen(const CapacityNews& news, CapacityState& state, Reporter& reporter) {
  std::set<oci::BackendSetName> unforeseen;
  const std::vector<capacity::SetInput>& sets = news.facts.input.sets;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (!news.facts.unforeseen[i] || !news.facts.opted_in[i]) continue;
    unforeseen.insert(sets[i].name);
    if (state.unforeseen.count(sets[i].name) != 0) continue;
    reporter.Tell(
        sets[i].service,
        {false, "RolloutNotForecast",
         absl::StrCat("Pods of backend set ", sets[i].name.value(),
                      " belong to no Deployment or StatefulSet, so that what a rollout needs is "
                      "not forecast; reserve slots by the annotation "
                      "oci-native-ingress.oraclecloud.com/backend-drain-reserve"),
         sets[i].name.value()});
  }
  state.unforeseen = std::move(unforeseen);
}

}  // namespace

capacity::Advice AdviceFor(const CapacityFacts& facts, const Finding& finding) {
  if (finding.kind != FindingKind::kRolloutWillExceedBackendLimit) return {};
  const std::vector<int>& workloads = facts.input.sets[finding.set].workloads;
  // Of several behind one Service, none alone is the cause.
  if (workloads.size() != 1) return {};
  const int index = workloads.front();
  return capacity::Advise(facts.workloads[index], facts.workloads[index].replicas,
                          facts.times[index], finding.room);
}

void TellCapacity(const CapacityNews& news, CapacityState& state, Reporter& reporter) {
  const std::set<capacity::FindingKey> keys = capacity::KeysOf(news.facts.input, news.plan);
  for (const Finding& finding : news.plan.findings) {
    if (finding.set >= 0 && !news.facts.opted_in[finding.set]) continue;
    const capacity::FindingKey key{finding.kind, finding.set < 0
                                                     ? oci::BackendSetName()
                                                     : news.facts.input.sets[finding.set].name};
    if (state.raised.count(key) == 0) TellFinding(news, finding, reporter);
  }
  for (const capacity::FindingKey& key : state.raised) {
    if (keys.count(key) == 0) TellEnd(news, key, reporter);
  }
  state.raised = keys;
  TellUnforeseen(news, state, reporter);
}

Reporter::News DescribeWithdrawal(const capacity::SetInput& set, const capacity::Drained& drained) {
  return {false, "BackendWithdrawn",
          absl::StrCat("Pod ", drained.pod.name, ": its drained backend ", drained.backend.value(),
                       " leaves backend set ", set.name.value(),
                       " early, to make room for a Pod that waits"),
          drained.backend.value()};
}

Reporter::News DescribeRefusedWithdrawal(const capacity::SetInput& set, const absl::Status& why) {
  return {
      true, "WithdrawalRefused",
      absl::StrCat("Drained backends of backend set ", set.name.value(),
                   " could make room for Pods that wait, but are not withdrawn: ", why.message()),
      set.name.value()};
}

}  // namespace controller
