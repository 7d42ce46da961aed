#include "drain/acknowledge.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace drain {
namespace {

// The workload's name in memory; empty for a Pod without one.
std::string WorkloadName(const Draft& draft, const Endpoint& endpoint) {
  if (endpoint.workload < 0) return "";
  const kube::ObjectReference& reference =
      draft.in.workloads[static_cast<size_t>(endpoint.workload)].reference;
  return absl::StrCat(reference.kind, " ", reference.key.ToString());
}

// Of the Pods of a workload that were deleted last: when, and whether one waited.
struct LastDeleted {
  absl::Time at = absl::InfinitePast();
  bool waited = false;
};

bool Quiet(const Draft& draft, const SetDraft& set) {
  const auto& own = draft.plan.memory.own_write;
  return draft.FreshLook() && draft.foreign.empty() &&
         !(own.has_value() && own->set == set.input->name);
}

bool IsCaredFor(const Draft& draft, const std::string& uid) {
  return draft.in.options.acknowledge_all || draft.in.waiters.count(uid) != 0;
}

// The ingress controller registers all Pods under one port; another one is where a
// named port differs between Pods.
const oci::Backend* FindUnderNicPort(const SetDraft& set, const Endpoint& endpoint) {
  const int port = set.input->target_port;
  if (port <= 0 || port == endpoint.port) return nullptr;
  return set.FindBackend(oci::MakeBackendName(endpoint.ip, port).value());
}

// Acknowledges the Pods of one set.
class SetAcknowledger {
 public:
  SetAcknowledger(Draft& draft, const SetDraft& set) : draft_(draft), set_(set) {
    for (const Wanted& wanted : set.wanted) {
      if (wanted.hold == Hold::kLastServing || wanted.hold == Hold::kServingFloor) {
        held_back_.insert(wanted.backend->name.value());
      }
    }
  }

  void Run() {
    for (size_t i = 0; i < set_.input->endpoints.size(); ++i) {
      const int position = set_.verdicts.PositionOfEndpoint(i);
      if (position == SetVerdicts::kNone) continue;
      AddEndpoint(set_.input->endpoints[i], set_.verdicts.all()[static_cast<size_t>(position)]);
    }
    AddEntries();
    AddUnpublished();
  }

 private:
  void AddEndpoint(const Endpoint& endpoint, const Verdict& verdict) {
    const bool decides = verdict.endpoint->uid == endpoint.uid;
    const bool deleted = endpoint.deletion_timestamp != absl::InfiniteFuture();
    if (decides ? verdict.want != Want::kDrained : !deleted) return;
    Acknowledgement acknowledgement;
    acknowledgement.key = set_.Key(endpoint.backend);
    acknowledgement.pod = endpoint.pod;
    acknowledgement.pod_uid = endpoint.uid;
    acknowledgement.deadline = decides ? verdict.deadline : endpoint.deletion_timestamp;
    acknowledgement.progress = ProgressOf(endpoint, verdict);
    Add(std::move(acknowledgement));
  }

  DrainProgress ProgressOf(const Endpoint& endpoint, const Verdict& verdict) const {
    // The address belongs to a live Pod: requests go there, not to this one.
    if (verdict.want == Want::kUndrained) return DrainProgress::kNotRegistered;
    const BackendKey key = set_.Key(endpoint.backend);
    const oci::Backend* backend = set_.BackendOf(verdict);
    const oci::Backend* other = FindUnderNicPort(set_, endpoint);
    if (other != nullptr && !other->drain) return DrainProgress::kWaiting;
    const auto entry = draft_.plan.ledger.find(key);
    if (entry != draft_.plan.ledger.end() && entry->second.pod_uid == verdict.endpoint->uid &&
        LetGo(backend, entry->second)) {
      return DrainProgress::kDrained;
    }
    if (backend == nullptr) {
      return draft_.plan.memory.not_registered.count(key) != 0 ? DrainProgress::kNotRegistered
                                                               : DrainProgress::kWaiting;
    }
    return held_back_.contains(backend->name.value()) ? DrainProgress::kHeldBack
                                                      : DrainProgress::kWaiting;
  }

  // `backend` may be null: the set does not hold it.
  bool LetGo(const oci::Backend* backend, const LedgerEntry& entry) const {
    if (backend == nullptr) return entry.confirmed;
    if (!backend->drain) return false;
    // What an operator drained before was confirmed before.
    if (entry.by_operator) return true;
    const bool sticky = set_.read->has_session_persistence && set_.input->sticky_cutoff.has_value();
    return entry.confirmed && (!sticky || backend->offline);
  }

  // Pods that left publication with a drain of ours.
  void AddEntries() {
    const Ledger& ledger = draft_.plan.ledger;
    for (auto it = ledger.lower_bound({set_.input->name, oci::BackendName()});
         it != ledger.end() && it->first.set == set_.input->name; ++it) {
      const LedgerEntry& entry = it->second;
      const Verdict* verdict = set_.verdicts.Find(it->first.backend.value());
      const bool ends = verdict == nullptr || verdict->want == Want::kDrained;
      if (!ends || entry.by_operator || added_.contains(entry.pod_uid)) continue;
      Acknowledgement acknowledgement;
      acknowledgement.key = it->first;
      acknowledgement.pod = {set_.input->service.key.ns, entry.pod};
      acknowledgement.pod_uid = entry.pod_uid;
      acknowledgement.deadline = entry.deadline;
      const oci::Backend* backend = set_.FindBackend(it->first.backend.value());
      if (LetGo(backend, entry)) acknowledgement.progress = DrainProgress::kDrained;
      Add(std::move(acknowledgement));
    }
  }

  // Pods that left publication undrained and wait for the ingress controller.
  void AddUnpublished() {
    for (const oci::BackendName& name : set_.pending_removal) {
      const KnownBackend* known = draft_.plan.memory.known.Find(set_.Key(name));
      if (known == nullptr) continue;
      TellRoutable(name, *known);
      if (added_.contains(known->pod_uid)) continue;
      Acknowledgement acknowledgement;
      acknowledgement.key = set_.Key(name);
      acknowledgement.pod_uid = known->pod_uid;
      Add(std::move(acknowledgement));
    }
  }

  // Its process has ended: whether its deadline has come or not, the drain is late.
  void TellRoutable(const oci::BackendName& name, const KnownBackend& known) {
    // An address that is only not published is not that of a Pod that has ended.
    const bool gone = set_.ruled && set_.verdicts.Find(name.value()) == nullptr;
    if (!gone || !known.seen_deleted || set_.FindBackend(name.value())->drain) return;
    Notice notice;
    notice.kind = NoticeKind::kDrainDeadlineMissed;
    notice.regarding = set_.input->service;
    notice.key = set_.Key(name);
    notice.pod = known.pod;
    notice.count = 1;
    draft_.TellMissedDeadline(known.pod_uid, std::move(notice));
  }

  void Add(Acknowledgement acknowledgement) {
    if (acknowledgement.pod_uid.empty()) return;
    acknowledgement.release_at = acknowledgement.deadline - set_.input->shutdown;
    added_.insert(acknowledgement.pod_uid);
    draft_.plan.acknowledgements.push_back(std::move(acknowledgement));
  }

  Draft& draft_;
  const SetDraft& set_;
  absl::flat_hash_set<absl::string_view> held_back_;
  absl::flat_hash_set<std::string> added_;
};

// Half of the work requests took no longer.
absl::Duration MedianWorkRequest(std::vector<absl::Duration> times) {
  const auto middle = times.begin() + static_cast<long>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool IsLetGo(const Acknowledgement& acknowledgement) {
  return acknowledgement.progress == DrainProgress::kDrained ||
         acknowledgement.progress == DrainProgress::kNotRegistered;
}

// Of each Pod that has waited: a set that has not let go of it, else any.
std::map<std::string, const Acknowledgement*> AcknowledgedWaits(const Draft& draft) {
  std::map<std::string, const Acknowledgement*> found;
  for (const Acknowledgement& acknowledgement : draft.plan.acknowledgements) {
    if (draft.plan.memory.waited.count(acknowledgement.pod_uid) == 0) continue;
    const Acknowledgement*& one = found[acknowledgement.pod_uid];
    if (one == nullptr || (IsLetGo(*one) && !IsLetGo(acknowledgement))) one = &acknowledgement;
  }
  return found;
}

// A Pod that was let go of leaves the barrier with its answer. Whoever leaves before that
// was cut short, whatever this look shows: it was not so when it was last seen waiting.
void TellEndedWaits(Draft& draft) {
  const Memory& before = draft.in.memory;
  std::set<std::string> let_go;
  for (const auto& [uid, acknowledgement] : AcknowledgedWaits(draft)) {
    const bool waits = draft.in.waiters.count(uid) != 0 || before.waited.count(uid) == 0;
    const bool left_in_peace = !waits && before.let_go.count(uid) != 0;
    if (IsLetGo(*acknowledgement) || left_in_peace) let_go.insert(uid);
    if (waits || left_in_peace) continue;
    const BackendKey& key = acknowledgement->key;
    Notice notice;
    notice.kind = NoticeKind::kDrainWaitEnded;
    notice.key = key;
    notice.pod = acknowledgement->pod.name;
    for (const SetInput& set : draft.in.sets) {
      if (set.name == key.set) notice.regarding = set.service;
    }
    draft.TellOnce(absl::StrCat("wait|", uid), std::move(notice));
  }
  draft.plan.memory.let_go = std::move(let_go);
}

}  // namespace

void ObserveWaiters(Draft& draft) {
  const Input& in = draft.in;
  Memory& memory = draft.plan.memory;
  std::set<std::string> waited;
  std::map<std::string, LastDeleted> last;
  for (const SetDraft& set : draft.sets) {
    for (const Verdict& verdict : set.verdicts.all()) {
      if (verdict.want != Want::kDrained) continue;
      const std::string& uid = verdict.endpoint->uid;
      const bool waits = in.waiters.count(uid) != 0 || memory.waited.count(uid) != 0;
      if (waits) waited.insert(uid);
      const std::string workload = WorkloadName(draft, *verdict.endpoint);
      if (workload.empty() || verdict.deleted_at == absl::InfinitePast()) continue;
      const absl::Time until = verdict.deleted_at + in.options.presume_waiter;
      if (!waits && in.now < until) {
        if (memory.waiting_workloads.count(workload) != 0) draft.LookBy(until);
        continue;
      }
      LastDeleted& latest = last[workload];
      if (verdict.deleted_at < latest.at) continue;
      latest.waited = waits || (verdict.deleted_at == latest.at && latest.waited);
      latest.at = verdict.deleted_at;
    }
  }
  memory.waited = std::move(waited);
  for (const auto& [workload, latest] : last) {
    if (latest.waited) {
      memory.waiting_workloads.insert(workload);
    } else {
      memory.waiting_workloads.erase(workload);
    }
  }
}

bool HasWaiter(const Draft& draft, const Verdict& verdict) {
  const std::string& uid = verdict.endpoint->uid;
  if (draft.in.waiters.count(uid) != 0) return true;
  const Memory& memory = draft.plan.memory;
  return draft.in.now < verdict.deleted_at + draft.in.options.presume_waiter &&
         memory.waited.count(uid) == 0 &&
         memory.waiting_workloads.count(WorkloadName(draft, *verdict.endpoint)) != 0;
}

void ObserveAbsence(Draft& draft) {
  Memory& memory = draft.plan.memory;
  std::map<BackendKey, std::string> absent;
  for (const SetDraft& set : draft.sets) {
    if (!set.input->opted_in) continue;
    const bool quiet = Quiet(draft, set);
    for (const Verdict& verdict : set.verdicts.all()) {
      if (verdict.want != Want::kDrained || set.BackendOf(verdict) != nullptr) continue;
      const BackendKey key = set.Key(verdict.endpoint->backend);
      const std::string& uid = verdict.endpoint->uid;
      const auto before = memory.not_registered.find(key);
      if (quiet || (before != memory.not_registered.end() && before->second == uid)) {
        absent[key] = uid;
      } else if (IsCaredFor(draft, uid)) {
        draft.awaits_look = true;
      }
    }
  }
  memory.not_registered = std::move(absent);
}

void Acknowledge(Draft& draft) {
  for (const SetDraft& set : draft.sets) {
    if (set.input->opted_in) SetAcknowledger(draft, set).Run();
  }
  std::sort(draft.plan.acknowledgements.begin(), draft.plan.acknowledgements.end(),
            [](const Acknowledgement& a, const Acknowledgement& b) {
              return std::tie(a.key, a.pod_uid) < std::tie(b.key, b.pod_uid);
            });
  TellEndedWaits(draft);
}

void WarnOfMisses(Draft& draft) {
  const Memory& memory = draft.plan.memory;
  if (memory.service_times.empty()) return;
  const int before =
      static_cast<int>(draft.foreign.size()) + (memory.own_write.has_value() ? 1 : 0);
  const absl::Time done = draft.in.now + MedianWorkRequest(memory.service_times) * (before + 1);
  for (const SetDraft& set : draft.sets) {
    for (const Wanted& wanted : set.wanted) {
      if (!wanted.drain || wanted.backend->drain || wanted.end >= done) continue;
      if (wanted.hold == Hold::kStandDown || wanted.end <= draft.in.now) continue;
      Notice notice;
      notice.kind = NoticeKind::kDrainDeadlineAtRisk;
      notice.regarding = set.input->service;
      notice.key = set.Key(wanted.backend->name);
      notice.pod = wanted.pod;
      notice.took = done - wanted.end;
      notice.count = before;
      const std::string once = absl::StrCat("risk|", notice.key.set.value(), "|",
                                            notice.key.backend.value(), "|", wanted.pod_uid);
      draft.TellOnce(once, std::move(notice));
    }
  }
}

}  // namespace drain
