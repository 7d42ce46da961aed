#include "drain/gate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "drain/hold.h"
#include "drain/membership.h"
#include "drain/pace.h"

namespace drain {
namespace {

// Decides for the Pods of one set.
class SetGates {
 public:
  SetGates(Draft& draft, SetDraft& set)
      : draft_(draft), set_(set), asked_(HealthAnswered(draft, set.input->name)) {}

  void Run() {
    std::vector<const Verdict*> waiting;
    for (const Verdict& verdict : set_.verdicts.all()) {
      if (verdict.want != Want::kUndrained || !WaitsForGate(*verdict.endpoint)) continue;
      waiting.push_back(&verdict);
    }
    SortByName(waiting);
    for (const Verdict* verdict : waiting) {
      const oci::BackendName& name = verdict->endpoint->backend;
      const GateProgress progress = ProgressOf(name, *verdict);
      // Nothing else is needed for the ingress controller's part: it registers Pods
      // that are not ready, and so do we.
      set_.gate_waits = set_.gate_waits || progress == GateProgress::kNotRegistered;
      // Only health does not come by looking at the load balancer.
      draft_.awaits_look = draft_.awaits_look || (progress != GateProgress::kReady &&
                                                  progress != GateProgress::kNotHealthy);
      GateDecision gate;
      gate.key = set_.Key(name);
      gate.pod = verdict->endpoint->pod;
      gate.pod_uid = verdict->endpoint->uid;
      gate.progress = progress;
      draft_.plan.gates.push_back(std::move(gate));
    }
  }

 private:
  GateProgress ProgressOf(const oci::BackendName& name, const Verdict& verdict) {
    Memory& memory = draft_.plan.memory;
    const BackendKey key = set_.Key(name);
    const std::string& uid = verdict.endpoint->uid;
    const oci::Backend* backend = set_.BackendOf(verdict);
    if (backend == nullptr) return Forget(key, GateProgress::kNotRegistered);
    if (backend->drain || backend->offline) return Forget(key, GateProgress::kDrained);
    const auto routed = memory.routed.find(key);
    if (routed != memory.routed.end() && routed->second == uid) return GateProgress::kReady;
    if (!RegistrationIsDone(key)) return GateProgress::kRegistering;
    if (!IsHealthy(key)) return GateProgress::kNotHealthy;
    memory.routed[key] = uid;
    return GateProgress::kReady;
  }

  // Another Pod with this address begins anew.
  GateProgress Forget(const BackendKey& key, GateProgress progress) {
    draft_.plan.memory.routed.erase(key);
    return progress;
  }

  // The read may show what a work request that is still running is to bring about:
  // done is what no work request from before the registration was seen can change.
  bool RegistrationIsDone(const BackendKey& key) const {
    const Memory& memory = draft_.plan.memory;
    const absl::Time* since = memory.registered_at.Find(key);
    if (since == nullptr || !draft_.in.work_requests.has_value()) return false;
    if (draft_.in.work_requests->at < *since) return false;
    const bool ever = *since == absl::InfinitePast();
    const auto before = [&](absl::Time accepted) { return ever || accepted <= *since; };
    const auto& own = memory.own_write;
    if (own.has_value() && own->set == set_.input->name && before(own->accepted_at)) return false;
    return std::none_of(draft_.foreign.begin(), draft_.foreign.end(),
                        [&](const oci::WorkRequest* w) { return before(w->time_accepted); });
  }

  // Absence from the lists of bad backends proves nothing: OK by a check newer than
  // the registration, of a set whose health counts all of its backends.
  bool IsHealthy(const BackendKey& key) {
    const absl::Time since = *draft_.plan.memory.registered_at.Find(key);
    const auto set_answer = draft_.in.set_health.find(set_.input->name);
    const auto answer = draft_.in.health.find(key);
    if (set_answer == draft_.in.set_health.end() || answer == draft_.in.health.end()) {
      Ask(key);
      return false;
    }
    draft_.LookBy(draft_.in.now + draft_.in.options.health_poll);
    if (!set_answer->second.answered || !answer->second.answered) return false;
    if (set_answer->second.health.total_backend_count !=
        static_cast<int>(set_.read->backends.size())) {
      // One of the two is older, and the read may be it for a minute: others change sets too.
      draft_.awaits_look = true;
      return false;
    }
    return answer->second.health.status == oci::HealthStatus::kOk &&
           answer->second.health.checked_at > since;
  }

  void Ask(const BackendKey& key) {
    const auto before = draft_.in.memory.health_asked_at.find(key);
    const absl::Time due = before == draft_.in.memory.health_asked_at.end()
                               ? absl::InfinitePast()
                               : before->second + draft_.in.options.health_poll;
    // What is asked in this pass is asked once.
    const bool asked = draft_.in.health.count(key) != 0;
    if (!asked && (draft_.in.now < due || asked_ >= kHealthPerPass)) {
      draft_.LookBy(std::max(due, draft_.in.now + draft_.in.options.work_request_poll));
      return;
    }
    if (!asked) draft_.plan.questions.health.insert(key);
    if (draft_.in.set_health.count(set_.input->name) == 0) {
      draft_.plan.questions.set_health.insert(set_.input->name);
    }
    ++asked_;
  }

  Draft& draft_;
  SetDraft& set_;
  size_t asked_;  // in this pass
};

bool Serves(const SetDraft& set) {
  return set.input->opted_in && !set.input->contested && set.read != nullptr;
}

// Since when each Pod waits, and those that have waited for long enough.
void ApplyFailSafe(Draft& draft) {
  std::map<std::string, absl::Time> since;
  const absl::Duration at_most = draft.in.options.gate_fail_safe;
  for (GateDecision& gate : draft.plan.gates) {
    const auto before = draft.in.memory.gate_since.find(gate.pod_uid);
    const absl::Time first =
        before == draft.in.memory.gate_since.end() ? draft.in.now : before->second;
    since[gate.pod_uid] = first;
    if (at_most <= absl::ZeroDuration() || gate.progress == GateProgress::kReady) continue;
    if (draft.in.now >= first + at_most) {
      gate.progress = GateProgress::kFailSafe;
    } else {
      draft.LookBy(first + at_most);
    }
  }
  draft.plan.memory.gate_since = std::move(since);
}

std::string NameOf(const Workload& workload) {
  return absl::StrCat(workload.reference.kind, " ", workload.reference.key.ToString());
}

// Whether a slot of the set will become free by itself.
bool GivesWay(const SetDraft& set) {
  const std::vector<Verdict>& verdicts = set.verdicts.all();
  return !set.pending_removal.empty() ||
         std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
           return verdict.want == Want::kDrained && set.BackendOf(verdict) != nullptr;
         });
}

// No slot is free under the limit that is met, and none will be.
bool IsStuck(const Draft& draft, const SetDraft& set) {
  const FreeOf free = FreeIn(draft, set, *set.read);
  if (free.set <= 0) return !GivesWay(set);
  return free.load_balancer <= 0 && std::none_of(draft.sets.begin(), draft.sets.end(), GivesWay);
}

// Which Pods of which workload wait for a slot of a stuck set, or for any.
struct Slotless {
  std::map<std::string, std::set<std::string>> stuck;  // UIDs by workload
  std::set<std::string> unregistered;
};

Slotless FindSlotless(const Draft& draft) {
  Slotless found;
  for (const SetDraft& set : draft.sets) {
    if (!Serves(set)) continue;
    const bool stuck = IsStuck(draft, set);
    for (const Verdict& verdict : set.verdicts.all()) {
      if (verdict.want != Want::kUndrained || set.BackendOf(verdict) != nullptr) continue;
      const Endpoint& endpoint = *verdict.endpoint;
      found.unregistered.insert(endpoint.uid);
      if (!stuck || endpoint.workload < 0 || !WaitsForGate(endpoint)) continue;
      const Workload& workload = draft.in.workloads[static_cast<size_t>(endpoint.workload)];
      found.stuck[NameOf(workload)].insert(endpoint.uid);
    }
  }
  return found;
}

// One Pod of a workload at a time, the one that has waited longest; the next when that
// one has its slot.
void ReleaseAtLimit(Draft& draft) {
  if (!draft.in.options.gate_release_at_limit) return;
  Memory& memory = draft.plan.memory;
  const Slotless slotless = FindSlotless(draft);
  std::erase_if(memory.gate_released,
                [&](const auto& item) { return slotless.unregistered.count(item.second) == 0; });
  for (const auto& [workload, uids] : slotless.stuck) {
    if (memory.gate_released.count(workload) != 0) continue;
    memory.gate_released[workload] =
        *std::min_element(uids.begin(), uids.end(), [&](const auto& a, const auto& b) {
          return std::tie(memory.gate_since[a], a) < std::tie(memory.gate_since[b], b);
        });
  }
  for (GateDecision& gate : draft.plan.gates) {
    const bool released =
        std::any_of(memory.gate_released.begin(), memory.gate_released.end(),
                    [&](const auto& item) { return item.second == gate.pod_uid; });
    if (released && gate.progress == GateProgress::kNotRegistered) {
      gate.progress = GateProgress::kNoSlot;
    }
  }
}

// Their Pods never become ready.
void TellUnserved(Draft& draft) {
  std::set<int> served;
  std::map<int, const SetDraft*> unserved;
  for (const SetDraft& set : draft.sets) {
    for (const Endpoint& endpoint : set.input->endpoints) {
      const int workload = endpoint.workload;
      if (workload < 0 || !draft.in.workloads[static_cast<size_t>(workload)].gated) continue;
      if (Serves(set)) {
        served.insert(workload);
      } else {
        unserved.try_emplace(workload, &set);
      }
    }
  }
  for (const auto& [workload, set] : unserved) {
    if (served.count(workload) != 0) continue;
    const Workload& gated = draft.in.workloads[static_cast<size_t>(workload)];
    Notice notice;
    notice.kind = NoticeKind::kGateHasNoBackendSet;
    notice.regarding = gated.reference;
    notice.key.set = set->input->name;
    notice.detail = set->input->service.key.ToString();
    draft.TellOnce(absl::StrCat("gate|", gated.reference.kind, "|", gated.reference.key.ToString()),
                   std::move(notice));
  }
}

}  // namespace

bool MayWaitForGate(const Endpoint& endpoint) {
  return !endpoint.pod.name.empty() && endpoint.lookup.state == LookupState::kNotAsked &&
         !endpoint.serving && !endpoint.terminating &&
         endpoint.deletion_timestamp == absl::InfiniteFuture();
}

bool WaitsForGate(const Endpoint& endpoint) {
  return !endpoint.serving && endpoint.lookup.state == LookupState::kFound &&
         endpoint.lookup.gated && !endpoint.lookup.gate_true && endpoint.lookup.uid == endpoint.uid;
}

void ObserveGates(Draft& draft) {
  if (!draft.in.options.gates) return;
  std::erase_if(draft.plan.memory.routed, [&](const auto& item) {
    return !draft.plan.memory.registered_at.Contains(item.first);
  });
  for (SetDraft& set : draft.sets) {
    if (set.input->opted_in && !set.input->contested) SetGates(draft, set).Run();
  }
}

void DecideGates(Draft& draft) {
  if (!draft.in.options.gates) return;
  PaceRollouts(draft);
  ApplyFailSafe(draft);
  ReleaseAtLimit(draft);
  TellUnserved(draft);
}

}  // namespace drain
