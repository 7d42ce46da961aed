#include "controller/pod_conditions.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "annotations/table.h"
#include "drain/explain.h"
#include "glog/logging.h"

namespace controller {
namespace {

// What was written is remembered for so many conditions.
constexpr size_t kMaxWritten = 50'000;

constexpr absl::Duration kFirstRetry = absl::Seconds(1);
constexpr absl::Duration kLongestRetry = absl::Minutes(1);

absl::Duration RetryAfter(int failures) {
  absl::Duration wait = kFirstRetry;
  for (int i = 1; i < failures && wait < kLongestRetry; ++i) wait *= 2;
  return std::min(wait, kLongestRetry);
}

bool IsReady(drain::GateProgress progress) {
  return progress == drain::GateProgress::kReady || progress == drain::GateProgress::kFailSafe ||
         progress == drain::GateProgress::kNoSlot;
}

std::string MessageFor(absl::string_view type, bool status, absl::string_view reason) {
  if (type == annotations::kReadyCondition) {
    if (reason == drain::ReasonOf(drain::GateProgress::kDrainsFirst)) {
      return "in every backend set; waits until earlier Pods of its workload are drained";
    }
    return status ? "in every backend set, undrained and healthy"
                  : "a backend set does not route to the Pod yet";
  }
  return status ? "no backend set sends new requests to the Pod"
                : "a backend set may send new requests to the Pod";
}

}  // namespace

PodConditions::PodConditions(
    DrainBoard& board, std::function<std::set<oci::Ocid>(const kube::ObjectKey&)> load_balancers_of,
    PodConditionChoice choice)
    : board_(board), load_balancers_of_(std::move(load_balancers_of)), choice_(choice) {}

void PodConditions::Report(const drain::Input& input, const drain::Plan& plan) {
  if (choice_.drained) WantDrained(plan, input.now);
  if (choice_.gate) WantGates(input, plan);
}

void PodConditions::Forget(const oci::Ocid& load_balancer) {
  absl::MutexLock lock(&mutex_);
  gates_.erase(load_balancer);
}

void PodConditions::ForgetWanted() {
  absl::MutexLock lock(&mutex_);
  gates_.clear();
  wanted_.clear();
}

void PodConditions::WantDrained(const drain::Plan& plan, absl::Time now) {
  for (const drain::Acknowledgement& acknowledgement : plan.acknowledgements) {
    if (acknowledgement.pod.name.empty()) continue;
    const PodId pod{acknowledgement.pod, acknowledgement.pod_uid};
    const DrainOutcome outcome = board_.Look(pod, now).outcome;
    if (outcome == DrainOutcome::kUnknownPod || outcome == DrainOutcome::kWaiting) continue;
    const bool drained =
        outcome == DrainOutcome::kDrained || outcome == DrainOutcome::kNotRegistered;
    Want(pod, annotations::kDrainedCondition, {drained, std::string(Name(outcome))});
  }
}

void PodConditions::WantGates(const drain::Input& input, const drain::Plan& plan) {
  const bool complete = input.read.has_value() && !input.paused && plan.questions.empty();
  Gates gates;
  if (complete) gates.at = input.now;
  for (const drain::GateDecision& gate : plan.gates) {
    auto& pod = gates.pods[gate.pod_uid];
    pod.first = gate.pod;
    pod.second[gate.key] = gate.progress;
  }
  const auto pods = gates.pods;
  {
    absl::MutexLock lock(&mutex_);
    gates_[input.load_balancer] = std::move(gates);
  }
  for (const auto& [uid, pod] : pods) {
    const std::set<oci::Ocid> load_balancers = load_balancers_of_(pod.first);
    std::optional<Value> value;
    {
      absl::MutexLock lock(&mutex_);
      value = GateOf(uid, load_balancers);
    }
    if (value.has_value()) Want({pod.first, uid}, annotations::kReadyCondition, *value);
  }
}

std::optional<PodConditions::Value> PodConditions::GateOf(
    const std::string& uid, const std::set<oci::Ocid>& load_balancers) const {
  Value value{true, ""};
  for (const oci::Ocid& load_balancer : load_balancers) {
    const auto gates = gates_.find(load_balancer);
    // It may have a set that routes to the Pod.
    if (gates == gates_.end() || gates->second.at == absl::InfinitePast()) return std::nullopt;
  }
  for (const auto& [load_balancer, gates] : gates_) {
    const auto pod = gates.pods.find(uid);
    if (pod == gates.pods.end()) continue;
    for (const auto& [key, progress] : pod->second.second) {
      const bool first = value.reason.empty();
      if (first || (value.status && !IsReady(progress))) {
        value.reason = std::string(drain::ReasonOf(progress));
      }
      value.status = value.status && IsReady(progress);
    }
  }
  return value;
}

void PodConditions::Want(const PodId& pod, absl::string_view type, const Value& value) {
  const Key key{pod.uid, std::string(type)};
  absl::MutexLock lock(&mutex_);
  const auto written = written_.find(key);
  const auto before = wanted_.find(key);
  const bool under_way = before != wanted_.end() && before->second.under_way;
  if (written != written_.end()) {
    const bool was_ready = type == annotations::kReadyCondition && written->second.value.status;
    if (was_ready || (written->second.value == value && !under_way)) {
      wanted_.erase(key);
      return;
    }
  }
  if (before == wanted_.end() && wanted_.size() >= kMaxWanted) return;
  if (before != wanted_.end() && before->second.opened && !value.status) return;
  Wanted& wanted = wanted_[key];
  wanted.pod = pod.key;
  wanted.value = value;
}

absl::Time PodConditions::NextDue() const {
  absl::MutexLock lock(&mutex_);
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [key, wanted] : wanted_) next = std::min(next, wanted.not_before);
  return next;
}

bool PodConditions::WriteOne(kube::KubeApi& api, absl::Time now) {
  Key key;
  Wanted wanted;
  absl::Time since = now;
  {
    absl::MutexLock lock(&mutex_);
    const auto next = std::min_element(
        wanted_.begin(), wanted_.end(),
        [](const auto& a, const auto& b) { return a.second.not_before < b.second.not_before; });
    if (next == wanted_.end() || next->second.not_before > now) return false;
    key = next->first;
    next->second.opened = next->second.opened ||
                          (key.second == annotations::kReadyCondition && next->second.value.status);
    next->second.under_way = true;
    wanted = next->second;
    const auto written = written_.find(key);
    if (written != written_.end() && written->second.value.status == wanted.value.status) {
      since = written->second.since;
    }
  }
  kube::PodCondition condition;
  condition.pod = wanted.pod;
  condition.uid = key.first;
  condition.type = key.second;
  condition.status = wanted.value.status;
  condition.reason = wanted.value.reason;
  condition.message = MessageFor(key.second, wanted.value.status, wanted.value.reason);
  condition.last_transition = since;
  Settle(key, wanted, condition, api.ApplyPodCondition(condition), now);
  return true;
}

void PodConditions::Settle(const Key& key, const Wanted& wanted, const kube::PodCondition& sent,
                           const absl::Status& status, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  // A pass may have changed what is wanted while the write was under way.
  const auto it = wanted_.find(key);
  if (it != wanted_.end()) it->second.under_way = false;
  // NotFound, and InvalidArgument for another UID: the Pod is gone.
  const bool gone = absl::IsNotFound(status) || absl::IsInvalidArgument(status);
  if (!status.ok() && !gone) {
    if (it == wanted_.end()) return;
    it->second.not_before = now + RetryAfter(++it->second.failures);
    LOG(WARNING) << "condition " << key.second << " of Pod " << wanted.pod.ToString()
                 << " not written: " << status.ToString(absl::StatusToStringMode::kWithNoExtraData);
    return;
  }
  // Repeating what the server finds wrong would not help, but it is not to go unseen.
  if (absl::IsInvalidArgument(status) && !absl::StrContains(status.message(), "metadata.uid")) {
    LOG(WARNING) << "condition " << key.second << " of Pod " << wanted.pod.ToString()
                 << " refused: " << status.message();
  }
  const Written written{wanted.value, sent.last_transition};
  if (written_.insert_or_assign(key, written).second) written_order_.push_back(key);
  if (it != wanted_.end() && it->second.value == wanted.value) wanted_.erase(it);
  if (written_order_.size() > kMaxWritten) {
    written_.erase(written_order_.front());
    written_order_.pop_front();
  }
}

}  // namespace controller
