#include "drain/observe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drain/acknowledge.h"
#include "drain/gate.h"

namespace drain {
namespace {

// Distinct Pods whose drain somebody else set while they terminated: one could
// be an operator in the console, two are an ingress controller that drains.
constexpr size_t kDrainsThatShowAController = 2;

bool PastForce(const Draft& draft, absl::Time deadline) {
  return deadline != absl::InfiniteFuture() &&
         draft.in.now > deadline + draft.in.options.force_after;
}

LedgerEntry EntryFor(const Verdict& verdict, absl::Time now) {
  LedgerEntry entry;
  entry.pod = verdict.endpoint->pod.name;
  entry.pod_uid = verdict.endpoint->uid;
  entry.since = now;
  entry.deadline = verdict.deadline;
  entry.deleted_at = verdict.deleted_at;
  return entry;
}

Wanted WantedFor(const Draft& draft, const SetInput& set, const oci::Backend& backend,
                 const Verdict& verdict) {
  Wanted wanted;
  wanted.backend = &backend;
  wanted.drain = verdict.want == Want::kDrained;
  wanted.verdict = verdict;
  wanted.pod = verdict.endpoint->pod.name;
  wanted.pod_uid = verdict.endpoint->uid;
  wanted.end = HasWaiter(draft, verdict) ? ReleaseAt(verdict, set.shutdown)
                                         : ExpectedEnd(verdict, set.serving);
  return wanted;
}

// When a drained backend of a sticky set is to go offline, so that this is confirmed
// by the cutoff; InfiniteFuture(): never.
absl::Time OfflineAt(const Draft& draft, const SetDraft& set, const Verdict& verdict) {
  const std::optional<absl::Duration>& cutoff = set.input->sticky_cutoff;
  if (!set.read->has_session_persistence || !cutoff.has_value()) return absl::InfiniteFuture();
  return verdict.deadline - set.input->shutdown - *cutoff - WorkRequestP99(draft.plan.memory) -
         draft.in.options.coalesce_at_most;
}

// Reads one set against its verdicts.
class SetObserver {
 public:
  SetObserver(Draft& draft, SetDraft& set) : draft_(draft), set_(set) {}

  void Run() {
    // Nothing in flight can change the flags any more: what is read is the truth.
    const auto& own = draft_.plan.memory.own_write;
    quiet_ = draft_.FreshLook() && draft_.foreign.empty() &&
             !(own.has_value() && own->set == set_.input->name);
    for (size_t i = 0; i < set_.verdict_of.size(); ++i) {
      if (set_.verdict_of[i] == nullptr) continue;
      ObserveBackend(set_.read->backends[i], *set_.verdict_of[i]);
    }
    SettleEntries();
  }

 private:
  // For what only a quiet look may do; asks for one.
  bool Quiet() {
    draft_.unsettled = draft_.unsettled || !quiet_;
    return quiet_;
  }

  LedgerEntry* Entry(const BackendKey& key) {
    const auto it = draft_.plan.ledger.find(key);
    return it == draft_.plan.ledger.end() ? nullptr : &it->second;
  }

  void ObserveBackend(const oci::Backend& backend, const Verdict& verdict) {
    if (verdict.want == Want::kUndrained) {
      backend.drain ? LiveAndDrained(backend, verdict) : LiveAndRoutable(backend, verdict);
    } else if (verdict.want == Want::kDrained && set_.ruled) {
      backend.drain ? EndingAndDrained(backend, verdict) : EndingAndRoutable(backend, verdict);
    }
  }

  void LiveAndDrained(const oci::Backend& backend, const Verdict& verdict) {
    const BackendKey key = set_.Key(backend.name);
    const LedgerEntry* entry = Entry(key);
    if (entry == nullptr) {
      // Not by us: an operator's, respected as long as this Pod lives.
      if (!set_.ruled || !draft_.in.ledger_loaded || !Quiet()) return;
      LedgerEntry operators = EntryFor(verdict, draft_.in.now);
      operators.by_operator = true;
      draft_.plan.ledger[key] = operators;
      return;
    }
    if (entry->by_operator && entry->pod_uid == verdict.endpoint->uid) return;
    Want(backend, verdict);
  }

  void LiveAndRoutable(const oci::Backend& backend, const Verdict& verdict) {
    const BackendKey key = set_.Key(backend.name);
    const LedgerEntry* entry = Entry(key);
    if (entry == nullptr) return;
    if (backend.offline && entry->offline && !entry->by_operator) {
      Want(backend, verdict);
    } else if (Quiet()) {
      draft_.plan.ledger.erase(key);
    } else if (!entry->by_operator) {
      // What runs may be the drain itself, sent by the process before this one: it is to
      // be taken back as soon as it is seen.
      draft_.awaits_look = true;
    }
  }

  Wanted& Want(const oci::Backend& backend, const Verdict& verdict) {
    set_.wanted.push_back(WantedFor(draft_, *set_.input, backend, verdict));
    if (draft_.stand_down) set_.wanted.back().hold = Hold::kStandDown;
    return set_.wanted.back();
  }

  void EndingAndDrained(const oci::Backend& backend, const Verdict& verdict) {
    const BackendKey key = set_.Key(backend.name);
    LedgerEntry* entry = Entry(key);
    const std::string& uid = verdict.endpoint->uid;
    if (entry == nullptr || entry->pod_uid != uid) {
      RecogniseForeignDrain(key, uid);
      draft_.plan.ledger[key] = EntryFor(verdict, draft_.in.now);
    } else if (verdict.deadline != absl::InfiniteFuture()) {
      entry->deadline = verdict.deadline;
      entry->deleted_at = verdict.deleted_at;
    }
    if (PastForce(draft_, verdict.deadline)) return;
    set_.in_force = true;
    CutOff(backend, verdict);
  }

  // The second step for sticky sets: a drain alone leaves persisted sessions.
  void CutOff(const oci::Backend& backend, const Verdict& verdict) {
    const absl::Time at = OfflineAt(draft_, set_, verdict);
    if (backend.offline || Entry(set_.Key(backend.name))->by_operator) return;
    if (draft_.in.now < at) {
      draft_.LookBy(at);
    } else {
      Want(backend, verdict).offline = true;
    }
  }

  // The backend was routable in the read before, no write of ours drained it.
  void RecogniseForeignDrain(const BackendKey& key, const std::string& uid) {
    const Memory& before = draft_.in.memory;
    const auto carried = before.carried.find(key);
    const bool ours = carried != before.carried.end() && carried->second == uid;
    if (!before.first_read_done || ours || draft_.in.ledger.count(key) != 0) return;
    if (before.registered_at.count(key) == 0 || before.last_drained.count(key) != 0) return;
    draft_.plan.memory.drained_by_others.insert(uid);
  }

  void EndingAndRoutable(const oci::Backend& backend, const Verdict& verdict) {
    const BackendKey key = set_.Key(backend.name);
    LedgerEntry* entry = Entry(key);
    Wanted wanted = WantedFor(draft_, *set_.input, backend, verdict);
    wanted.offline = draft_.in.now >= OfflineAt(draft_, set_, verdict);
    if (entry != nullptr && entry->pod_uid == wanted.pod_uid) {
      const auto carried = draft_.plan.memory.carried.find(key);
      wanted.again = entry->confirmed || (carried != draft_.plan.memory.carried.end() &&
                                          carried->second == wanted.pod_uid);
      if (entry->confirmed && draft_.in.memory.last_drained.count(key) != 0) {
        // A controller that drains by itself would not have cleared it.
        draft_.plan.memory.drained_by_others.clear();
        draft_.stand_down = false;
      }
      // What was confirmed in time stays so: its Pod's deadline was not missed.
      if (draft_.in.now <= entry->deadline) entry->confirmed = false;
      entry->by_operator = false;
    }
    if (wanted.again && PastForce(draft_, verdict.deadline)) return;
    if (wanted.again && draft_.stand_down) wanted.hold = Hold::kStandDown;
    if (!PastForce(draft_, verdict.deadline)) set_.in_force = true;
    set_.wanted.push_back(std::move(wanted));
  }

  // Confirms what is proven and forgets what is over. An idle look does not ask for
  // work requests, so what is over when nothing is in force has to.
  void SettleEntries() {
    auto it = draft_.plan.ledger.lower_bound({set_.input->name, oci::BackendName()});
    while (it != draft_.plan.ledger.end() && it->first.set == set_.input->name) {
      const oci::Backend* backend = set_.backends.Find(it->first.backend.value());
      LedgerEntry& entry = it->second;
      const bool shown =
          backend == nullptr || (backend->drain && (backend->offline || !entry.offline));
      const bool proven = shown && !entry.confirmed && !entry.by_operator;
      const auto verdict = set_.verdicts.find(it->first.backend);
      // A live Pod at the address has no drain of its own to be taken back.
      const bool over = backend == nullptr && (verdict == set_.verdicts.end() ||
                                               verdict->second.want == Want::kUndrained);
      if ((proven || over) && !Quiet()) return;
      if (proven) {
        entry.confirmed = true;
        TellDrained(it->first, entry);
      }
      it = over ? draft_.plan.ledger.erase(it) : std::next(it);
    }
  }

  void TellDrained(const BackendKey& key, const LedgerEntry& entry) {
    Notice notice;
    notice.kind = NoticeKind::kBackendDrained;
    notice.regarding = set_.input->service;
    notice.key = key;
    notice.pod = entry.pod;
    const absl::Time from =
        entry.deleted_at == absl::InfinitePast() ? entry.since : entry.deleted_at;
    notice.took = draft_.in.now - from;
    notice.slack = entry.deadline - draft_.in.now;
    notice.count = entry.offline ? 1 : 0;
    draft_.plan.notices.push_back(std::move(notice));
  }

  Draft& draft_;
  SetDraft& set_;
  bool quiet_ = false;
};

// Remembers since when each backend is in its set. The first read of a process
// cannot tell, so what it shows counts as old.
void ObserveRegistrations(Draft& draft) {
  const Input& in = draft.in;
  Memory& memory = draft.plan.memory;
  const absl::Time since = memory.first_read_done ? in.read->at : absl::InfinitePast();
  memory.last_drained.clear();
  std::map<oci::BackendSetName, BackendIndex> present;
  for (const auto& [name, set] : in.read->load_balancer->backend_sets) {
    present.emplace(name, BackendIndex(set));
    for (const oci::Backend& backend : set.backends) {
      const BackendKey key{name, backend.name};
      memory.registered_at.try_emplace(key, since);
      if (backend.drain) memory.last_drained.insert(key);
    }
  }
  std::erase_if(memory.registered_at, [&](const auto& item) {
    const auto set = present.find(item.first.set);
    return set == present.end() || set->second.Find(item.first.backend.value()) == nullptr;
  });
  std::erase_if(memory.proven,
                [&](const BackendKey& key) { return memory.registered_at.count(key) == 0; });
  memory.first_read_done = true;
}

void TellMissedDeadlines(Draft& draft) {
  for (const auto& [key, entry] : draft.plan.ledger) {
    draft.KeepMissedDeadline(key, entry.pod_uid);
    if (entry.by_operator || entry.confirmed || entry.deadline >= draft.in.now) continue;
    Notice notice;
    notice.kind = NoticeKind::kDrainDeadlineMissed;
    notice.key = key;
    notice.pod = entry.pod;
    notice.took = draft.in.now - entry.deadline;
    for (const SetInput& set : draft.in.sets) {
      if (set.name == key.set) notice.regarding = set.service;
    }
    draft.TellMissedDeadline(entry.pod_uid, std::move(notice));
  }
}

// Entries of sets that are gone, or that nothing maps to any more.
void ForgetLostEntries(Draft& draft) {
  if (!draft.FreshLook() || !draft.foreign.empty() || draft.plan.memory.own_write) return;
  const auto& sets = draft.in.read->load_balancer->backend_sets;
  std::erase_if(draft.plan.ledger, [&](const auto& item) {
    const auto set = sets.find(item.first.set);
    if (set == sets.end()) return true;
    const bool mapped = std::any_of(draft.sets.begin(), draft.sets.end(), [&](const SetDraft& s) {
      return s.input->name == item.first.set;
    });
    return !mapped && FindBackend(set->second, item.first.backend) == nullptr;
  });
}

}  // namespace

namespace {

std::string MissedDeadlineName(const BackendKey& key, const std::string& pod_uid) {
  return absl::StrCat("missed|", key.set.value(), "|", key.backend.value(), "|", pod_uid);
}

}  // namespace

void Draft::TellMissedDeadline(const std::string& pod_uid, Notice notice) {
  const std::string name = MissedDeadlineName(notice.key, pod_uid);
  TellOnce(name, std::move(notice));
}

void Draft::KeepMissedDeadline(const BackendKey& key, const std::string& pod_uid) {
  std::string name = MissedDeadlineName(key, pod_uid);
  if (in.memory.told.count(name) != 0) raised.insert(std::move(name));
}

namespace {

void IndexSet(SetDraft& set) {
  for (const Endpoint& endpoint : set.input->endpoints) {
    set.endpoint_names.insert(endpoint.backend.value());
    if (endpoint.port != set.input->target_port) {
      set.nic_names.insert(oci::MakeBackendName(endpoint.ip, set.input->target_port).value());
    }
    if (!endpoint.pod.name.empty()) set.pod_ips.insert(endpoint.ip);
  }
  if (set.read == nullptr) return;
  set.backends = BackendIndex(*set.read);
  set.verdict_of.reserve(set.read->backends.size());
  for (const oci::Backend& backend : set.read->backends) {
    const auto verdict = set.verdicts.find(backend.name);
    set.verdict_of.push_back(verdict == set.verdicts.end() ? nullptr : &verdict->second);
  }
}

}  // namespace

namespace {

bool HadServed(const Memory& memory, const SetDraft& set, const Endpoint& endpoint) {
  const auto known = memory.known.find(set.Key(endpoint.backend));
  return known != memory.known.end() && known->second.served &&
         known->second.pod_uid == endpoint.uid;
}

}  // namespace

void JudgeSets(Draft& draft) {
  const Input& in = draft.in;
  for (const SetInput& input : in.sets) {
    SetDraft set;
    set.input = &input;
    set.ruled =
        input.opted_in && input.publishes_terminating && !input.contested && !in.options.release;
    if (in.read.has_value()) {
      const auto& sets = in.read->load_balancer->backend_sets;
      const auto read = sets.find(input.name);
      if (read != sets.end()) set.read = &read->second;
    }
    set.verdicts = JudgeSet(input);
    IndexSet(set);
    const bool has_entries = [&] {
      const auto it = in.ledger.lower_bound({input.name, oci::BackendName()});
      return it != in.ledger.end() && it->first.set == input.name;
    }();
    if ((set.ruled || has_entries) && set.read != nullptr) {
      for (const Endpoint& endpoint : input.endpoints) {
        if (WantsLookup(endpoint, set.backends.Find(endpoint.backend.value()),
                        HadServed(in.memory, set, endpoint)) ||
            (in.options.gates && MayWaitForGate(endpoint))) {
          draft.plan.questions.pods.insert(endpoint.pod);
        }
      }
    }
    const bool unresolved =
        std::any_of(set.verdicts.begin(), set.verdicts.end(), [&](const auto& item) {
          return item.second.want == Want::kKeep ||
                 item.second.endpoint->lookup.state == LookupState::kNoAnswer;
        });
    if (set.ruled && unresolved) draft.LookBy(in.now + in.options.lookup_retry);
    draft.sets.push_back(std::move(set));
  }
}

void ObserveRead(Draft& draft) {
  draft.stand_down = draft.plan.memory.drained_by_others.size() >= kDrainsThatShowAController;
  for (SetDraft& set : draft.sets) {
    if (set.read != nullptr && !set.input->contested) SetObserver(draft, set).Run();
  }
  draft.stand_down = draft.plan.memory.drained_by_others.size() >= kDrainsThatShowAController;
  if (draft.in.read->this_pass) ObserveRegistrations(draft);
  ForgetLostEntries(draft);
  TellMissedDeadlines(draft);
}

}  // namespace drain
