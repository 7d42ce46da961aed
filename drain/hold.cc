#include "drain/hold.h"

#include <algorithm>
#include <map>
#include <vector>

#include "drain/acknowledge.h"

namespace drain {
namespace {

// The drains of one workload in one set, and what is left without them.
struct Group {
  std::vector<Wanted*> at_once;  // nothing known about how long they serve
  std::vector<Wanted*> windows;  // at the barrier, or within backend-drain-serving
  int proven = 0;
  std::vector<BackendKey> unproven;
};

class SetHolder {
 public:
  SetHolder(Draft& draft, SetDraft& set)
      : draft_(draft), set_(set), p99_(WorkRequestP99(draft.plan.memory)) {}

  void Run() {
    CollectDrains();
    for (auto& [workload, group] : groups_) {
      if (!Wants(workload)) continue;
      const Workload& w = draft_.in.workloads[static_cast<size_t>(workload)];
      const int floor = std::max(1, w.wanted - w.max_unavailable);
      CountServing(workload, group.windows.empty() ? 1 : floor, group);
      Apply(floor, group);
    }
  }

 private:
  bool Wants(int workload) const {
    if (workload < 0 || static_cast<size_t>(workload) >= draft_.in.workloads.size()) return false;
    const Workload& w = draft_.in.workloads[static_cast<size_t>(workload)];
    return w.wanted > 0 && !w.deleting;
  }

  // Only a backend that serves can be held back for the sake of serving.
  void CollectDrains() {
    for (Wanted& wanted : set_.wanted) {
      const Endpoint& endpoint = *wanted.verdict.endpoint;
      if (wanted.hold != drain::Hold::kNone || !wanted.drain || wanted.backend->offline ||
          wanted.backend->drain || !endpoint.serving)
        continue;
      const Rule rule = wanted.verdict.rule;
      if (rule == Rule::kPodGone || rule == Rule::kPodReplaced || rule == Rule::kLeaving) continue;
      if (wanted.end <= draft_.in.now) continue;
      Group& group = groups_[endpoint.workload];
      const bool serves =
          set_.input->serving > absl::ZeroDuration() || HasWaiter(draft_, wanted.verdict);
      const bool window = serves && wanted.verdict.deleted_at != absl::InfinitePast() &&
                          draft_.in.now < wanted.end - p99_;
      (window ? group.windows : group.at_once).push_back(&wanted);
    }
  }

  // With so many as are `enough` none is held back, however many more there are; but what
  // was asked about health is remembered, so that it is looked at.
  void CountServing(int workload, int enough, Group& group) {
    const bool all = HealthAnswered(draft_, set_.input->name) > 0;
    for (size_t i = 0; i < set_.verdict_of.size() && (all || group.proven < enough); ++i) {
      const oci::Backend& backend = set_.read->backends[i];
      const Verdict* verdict = set_.verdict_of[i];
      if (backend.drain || backend.offline) continue;
      if (verdict == nullptr || verdict->want != Want::kUndrained) continue;
      const Endpoint& endpoint = *verdict->endpoint;
      if (endpoint.workload != workload || !endpoint.serving) continue;
      if (Proven(backend.name)) {
        ++group.proven;
      } else {
        group.unproven.push_back(set_.Key(backend.name));
      }
    }
  }

  bool Proven(const oci::BackendName& backend) {
    Memory& memory = draft_.plan.memory;
    const absl::Time* since = memory.registered_at.Find(set_.input->name, backend);
    if (since != nullptr && draft_.in.now - *since >= draft_.in.options.established_after) {
      return true;
    }
    const BackendKey key = set_.Key(backend);
    if (memory.proven.count(key) != 0) return true;
    if (since == nullptr) return false;
    const auto answer = draft_.in.health.find(key);
    if (answer == draft_.in.health.end() || !answer->second.answered) return false;
    const oci::BackendHealth& health = answer->second.health;
    const bool good =
        health.status == oci::HealthStatus::kOk || health.status == oci::HealthStatus::kWarning;
    if (!good || health.checked_at <= *since) return false;
    memory.proven.insert(key);
    return true;
  }

  void Apply(int floor, Group& group) {
    int serving = group.proven + static_cast<int>(group.windows.size());
    std::sort(group.windows.begin(), group.windows.end(), EndsFirst);
    int held = 0;
    for (Wanted* wanted : group.windows) {
      if (serving > floor) {
        --serving;
        continue;
      }
      Hold(*wanted, Hold::kServingFloor);
      ++held;
    }
    if (group.proven + held == 0 && !group.at_once.empty()) {
      Wanted* last = *std::max_element(group.at_once.begin(), group.at_once.end(), EndsFirst);
      if (draft_.in.now < last->end - p99_) {
        Hold(*last, Hold::kLastServing);
        ++held;
      }
    }
    if (held > 0) AskHealth(group);
  }

  static bool EndsFirst(const Wanted* a, const Wanted* b) {
    if (a->end != b->end) return a->end < b->end;
    return a->backend->name < b->backend->name;
  }

  void Hold(Wanted& wanted, drain::Hold hold) {
    wanted.hold = hold;
    wanted.until = wanted.end - p99_;
    draft_.LookBy(wanted.until);
    // The watch has not got the Pod: only its deletionTimestamp says how long.
    const Endpoint& endpoint = *wanted.verdict.endpoint;
    if (wanted.end == absl::InfiniteFuture() && endpoint.lookup.state == LookupState::kNotAsked) {
      draft_.plan.questions.pods.insert(endpoint.pod);
    }
  }

  void AskHealth(const Group& group) {
    Memory& memory = draft_.plan.memory;
    size_t asked = HealthAnswered(draft_, set_.input->name);
    for (const BackendKey& key : group.unproven) {
      if (asked >= kHealthPerPass) break;
      if (draft_.in.health.count(key) != 0) continue;
      const auto before = memory.health_asked_at.find(key);
      const absl::Time due = before == memory.health_asked_at.end()
                                 ? absl::InfinitePast()
                                 : before->second + draft_.in.options.health_poll;
      if (draft_.in.now < due) {
        draft_.LookBy(due);
        continue;
      }
      draft_.plan.questions.health.insert(key);
      ++asked;
    }
    draft_.LookBy(draft_.in.now + draft_.in.options.health_poll);
  }

  Draft& draft_;
  SetDraft& set_;
  const absl::Duration p99_;
  std::map<int, Group> groups_;
};

}  // namespace

size_t HealthAnswered(const Draft& draft, const oci::BackendSetName& set) {
  size_t count = 0;
  for (auto it = draft.in.health.lower_bound({set, oci::BackendName()});
       it != draft.in.health.end() && it->first.set == set; ++it) {
    ++count;
  }
  return count;
}

void HoldDrains(Draft& draft) {
  Memory& memory = draft.plan.memory;
  for (const auto& [key, answer] : draft.in.health) memory.health_asked_at[key] = draft.in.now;
  std::erase_if(memory.health_asked_at,
                [&](const auto& item) { return !memory.registered_at.Contains(item.first); });
  for (SetDraft& set : draft.sets) {
    if (set.ruled && set.read != nullptr) SetHolder(draft, set).Run();
  }
}

}  // namespace drain
