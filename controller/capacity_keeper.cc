#include "controller/capacity_keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "annotations/table.h"
#include "capacity/advice.h"
#include "capacity/explain.h"
#include "controller/capacity_news.h"
#include "glog/logging.h"
#include "kube/decoder.h"

namespace controller {
namespace {

// How long a list of autoscalers is good, and a failure to get one.
constexpr absl::Duration kAutoscalersGood = absl::Minutes(5);
constexpr absl::Duration kAutoscalersFailed = absl::Minutes(10);

size_t BackendsOf(const drain::Input& input) {
  size_t total = 0;
  for (const auto& [name, set] : input.read->load_balancer->backend_sets) {
    total += set.backends.size();
  }
  return total;
}

size_t BackendsOf(const drain::Input& input, const oci::BackendSetName& set) {
  const auto& sets = input.read->load_balancer->backend_sets;
  const auto read = sets.find(set);
  return read == sets.end() ? 0 : read->second.backends.size();
}

// What OCI has refused of late. What has left the load balancer since may have been what
// was in the way.
void BoundByRefusals(drain::Input& input, LbState& state) {
  auto& refusals = state.capacity.refusals;
  std::erase_if(refusals, [&](const auto& item) { return item.second.until <= input.now; });
  for (drain::SetInput& set : input.sets) {
    const auto refusal = refusals.find(set.name);
    set.refused_beyond.reset();
    if (refusal == refusals.end()) continue;
    const int left = refusal->second.in_all - static_cast<int>(BackendsOf(input));
    set.refused_beyond = refusal->second.in_set + std::max(0, left);
  }
}

// Whether all that is published fits beside all that is there.
bool IsRoomForAll(const drain::Input& input) {
  size_t all = BackendsOf(input);
  for (const drain::SetInput& set : input.sets) {
    const auto most = static_cast<size_t>(drain::LimitOf(input.options, set));
    if (BackendsOf(input, set.name) + set.endpoints.size() > most) {
      return false;
    }
    all += set.endpoints.size();
  }
  return all <= static_cast<size_t>(input.options.max_backends_per_load_balancer);
}

health::LoadBalancerSlots SlotsOf(const capacity::Input& input, const capacity::Plan& plan) {
  health::LoadBalancerSlots slots;
  slots.limit = input.limits.backends_per_load_balancer;
  slots.in_use = plan.in_use;
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    const capacity::SetInput& set = input.sets[i];
    health::SetSlots& shown = slots.sets.emplace_back();
    shown.backend_set = set.name.value();
    shown.service = set.service.key.ToString();
    shown.limit = std::min(input.limits.backends_per_set,
                           set.refused_beyond.value_or(input.limits.backends_per_set));
    shown.live = set.demand.live;
    shown.draining = set.demand.draining;
    shown.foreign = set.demand.foreign;
    shown.waiting = plan.sets[i].waiting;
    shown.reserved = plan.sets[i].reserved;
    shown.free = plan.sets[i].free;
  }
  return slots;
}

// What is published no more needs no such mark.
void ForgetWithdrawn(const drain::Input& input, std::set<std::string>& withdrawn) {
  if (withdrawn.empty()) return;
  std::set<std::string> seen;
  for (const drain::SetInput& set : input.sets) {
    for (const drain::Endpoint& endpoint : set.endpoints) seen.insert(endpoint.uid);
  }
  std::erase_if(withdrawn, [&](const std::string& uid) { return seen.count(uid) == 0; });
}

}  // namespace

bool IsBackendLimit(absl::string_view message) {
  const std::string lower = absl::AsciiStrToLower(message);
  const bool limit = absl::StrContains(lower, "limit") || absl::StrContains(lower, "exceed") ||
                     absl::StrContains(lower, "quota");
  return limit && absl::StrContains(lower, "backend") && !absl::StrContains(lower, "rate") &&
         !absl::StrContains(lower, "toomanyrequests");
}

CapacityKeeper::CapacityKeeper(const Parts& parts, const Edges& edges, const Settings& settings)
    : parts_(parts), edges_(edges), settings_(settings) {}

void CapacityKeeper::Bound(drain::Input& photograph, LbState& state) {
  if (!photograph.read.has_value()) return;
  BoundByRefusals(photograph, state);
  if (IsRoomForAll(photograph)) return;
  // A share needs no autoscaler: it orders Pods that exist.
  const AutoscalerMaxima none;
  const CapacityFacts facts =
      CollectCapacity({parts_.store, settings_, none},
                      {photograph, photograph.ledger, photograph.memory}, state.capacity);
  const capacity::Plan plan = capacity::MakePlan(facts.input);
  int left = plan.free;
  for (const capacity::SetPlan& set : plan.sets) left -= set.additions;
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    // Core Endpoints may be ahead of the watch, and ending Pods are added too: a set of
    // which nothing waits may take what is left.
    const int more = plan.sets[i].waiting > 0 ? 0 : std::max(0, left);
    photograph.sets[facts.positions[i]].max_additions = plan.sets[i].additions + more;
  }
}

CapacityKeeper::Preview CapacityKeeper::MakePreview(const Photograph& photograph, LbState& state) {
  Preview preview;
  preview.facts = CollectCapacity({parts_.store, settings_, Autoscalers(photograph.input)},
                                  photograph, state.capacity);
  preview.plan = capacity::MakePlan(preview.facts.input);
  return preview;
}

absl::Time CapacityKeeper::Run(const TopologyView& view, const Photograph& photograph,
                               LbState& state) {
  state.capacity.times.Observe(photograph.input, state.capacity.withdrawn);
  ForgetWithdrawn(photograph.input, state.capacity.withdrawn);
  if (!photograph.input.read.has_value() || photograph.input.paused) return absl::InfiniteFuture();
  const Preview preview = MakePreview(photograph, state);
  TellCapacity({view, photograph.input.load_balancer, preview.facts, preview.plan}, state.capacity,
               parts_.reporter);
  state.capacity.slots = SlotsOf(preview.facts.input, preview.plan);
  parts_.reporter.metrics().SetSlotsOf(photograph.input.load_balancer.value(),
                                       state.capacity.slots.sets);
  if (!settings_.dry_run) Withdraw(preview.facts, preview.plan, state);
  return preview.plan.next_look;
}

// One list for each namespace of a Service that opted in. Where autoscaling/v2 is not
// served, or may not be read, there are none.
AutoscalerMaxima CapacityKeeper::Autoscalers(const drain::Input& input) {
  std::set<std::string> namespaces;
  for (const drain::SetInput& set : input.sets) {
    if (set.opted_in) namespaces.insert(set.service.key.ns);
  }
  AutoscalerMaxima all;
  for (const std::string& ns : namespaces) {
    const absl::Time now = edges_.clock.Now();
    {
      absl::MutexLock lock(&mutex_);
      const Listed& known = autoscalers_[ns];
      if (now < known.until) {
        all.insert(known.maxima.begin(), known.maxima.end());
        continue;
      }
    }
    Listed listed{now + kAutoscalersFailed, {}};
    const absl::StatusOr<std::string> json =
        edges_.kube.ListObjects(kube::Collection::kAutoscalers, ns);
    const auto autoscalers =
        json.ok() ? kube::DecodeAutoscalers(*json)
                  : absl::StatusOr<std::vector<kube::HorizontalPodAutoscaler>>(json.status());
    if (autoscalers.ok()) {
      listed.until = now + kAutoscalersGood;
      for (const kube::HorizontalPodAutoscaler& autoscaler : *autoscalers) {
        if (autoscaler.target_name.empty()) continue;
        int& most = listed.maxima[{autoscaler.target_kind, {ns, autoscaler.target_name}}];
        most = std::max(most, autoscaler.max_replicas);
      }
    } else {
      LOG(INFO) << "capacity is planned without autoscalers of namespace " << ns << ": "
                << autoscalers.status();
    }
    all.insert(listed.maxima.begin(), listed.maxima.end());
    absl::MutexLock lock(&mutex_);
    autoscalers_[ns] = std::move(listed);
  }
  return all;
}

absl::Status CapacityKeeper::CheckBudgets(const capacity::SetInput& set) {
  const std::string& ns = set.service.key.ns;
  const absl::StatusOr<std::string> json =
      edges_.kube.ListObjects(kube::Collection::kDisruptionBudgets, ns);
  if (absl::IsNotFound(json.status())) return absl::OkStatus();
  if (!json.ok()) return json.status();
  const auto budgets = kube::DecodeDisruptionBudgets(*json);
  if (!budgets.ok()) return budgets.status();
  for (const kube::DisruptionBudget& budget : *budgets) {
    const std::vector<std::string>& labels = budget.selector_labels;
    if (std::find(labels.begin(), labels.end(), annotations::kPublishedLabel) == labels.end()) {
      continue;
    }
    return absl::FailedPreconditionError(
        absl::StrCat("the selector of PodDisruptionBudget ", budget.key.ToString(),
                     " has the label ", annotations::kPublishedLabel, "; take it out there"));
  }
  return absl::OkStatus();
}

void CapacityKeeper::Withdraw(const CapacityFacts& facts, const capacity::Plan& plan,
                              LbState& state) {
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    const capacity::SetInput& set = facts.input.sets[i];
    if (plan.sets[i].withdrawals.empty()) continue;
    absl::Status status = CheckBudgets(set);
    for (const capacity::Drained& drained : plan.sets[i].withdrawals) {
      if (!status.ok()) break;
      status =
          edges_.kube.RemovePodLabel(drained.pod, drained.pod_uid, annotations::kPublishedLabel);
      // Gone, or another Pod by now: it holds no slot for long.
      const bool gone = absl::IsNotFound(status) || absl::IsAborted(status);
      if (!status.ok() && !gone) break;
      if (status.ok()) parts_.reporter.Tell(set.service, DescribeWithdrawal(set, drained));
      state.capacity.withdrawn.insert(drained.pod_uid);
      status = absl::OkStatus();
    }
    if (status.ok() || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) continue;
    parts_.reporter.Tell(set.service, DescribeRefusedWithdrawal(set, status));
  }
}

bool CapacityKeeper::NoteRefusal(const drain::Input& photograph, const oci::BackendSetName& set,
                                 absl::Time until, LbState& state) {
  if (!photograph.read.has_value()) return false;
  const int in_set = static_cast<int>(BackendsOf(photograph, set));
  const int in_all = static_cast<int>(BackendsOf(photograph));
  const auto [refusal, is_first] =
      state.capacity.refusals.try_emplace(set, CapacityState::Refusal{in_set, in_all, until});
  if (is_first) return true;
  const CapacityState::Refusal before = refusal->second;
  refusal->second = {std::max(before.in_set, in_set), in_all, until};
  return in_all < before.in_all;
}

void CapacityKeeper::TellRefusal(const TopologyView& view, const drain::Input& photograph,
                                 const oci::BackendSetName& set, absl::string_view message) {
  if (!photograph.read.has_value()) return;
  const size_t held = BackendsOf(photograph, set);
  const std::string note = absl::StrCat(
      "OCI refuses more backends for backend set ", set.value(), " of load balancer ",
      photograph.load_balancer.value(), ": \"", message, "\". The set holds ", held,
      " (--max_backends_per_set=", photograph.options.max_backends_per_set, "), the load balancer ",
      BackendsOf(photograph),
      " (--max_backends_per_load_balancer=", photograph.options.max_backends_per_load_balancer,
      "). Drains go on, additions wait: set these flags to OCI's limits, and lower replicas or "
      "maxSurge.");
  parts_.reporter.TellLoadBalancer("BackendLimitExceeded", note, view, photograph.load_balancer);
  for (const drain::SetInput& input : photograph.sets) {
    if (input.name == set && !input.contested) {
      parts_.reporter.Tell(input.service, {true, "BackendLimitExceeded", note, set.value()});
    }
  }
}

}  // namespace controller
