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
    FindEntered();
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

  // Which verdicts are on addresses in the ledger: most are not, and need no look.
  void FindEntered() {
    for (auto it = draft_.plan.ledger.lower_bound({set_.input->name, oci::BackendName()});
         it != draft_.plan.ledger.end() && it->first.set == set_.input->name; ++it) {
      const int position = set_.verdicts.Position(it->first.backend.value());
      if (position == SetVerdicts::kNone) continue;
      entered_.resize(set_.verdicts.all().size());
      entered_[static_cast<size_t>(position)] = true;
    }
  }

  bool IsEntered(const Verdict& verdict) const {
    return !entered_.empty() && entered_[set_.PositionOf(verdict)];
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
    if (!IsEntered(verdict)) return;
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
    if (!before.registered_at.Contains(key) || before.last_drained.count(key) != 0) return;
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
      const oci::Backend* backend = set_.FindBackend(it->first.backend.value());
      LedgerEntry& entry = it->second;
      const bool shown =
          backend == nullptr || (backend->drain && (backend->offline || !entry.offline));
      const bool proven = shown && !entry.confirmed && !entry.by_operator;
      const Verdict* verdict = set_.verdicts.Find(it->first.backend.value());
      // A live Pod at the address has no drain of its own to be taken back.
      const bool over =
          backend == nullptr && (verdict == nullptr || verdict->want == Want::kUndrained);
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
  std::vector<bool> entered_;  // by the position of a verdict; empty: none is
};

// Adds what `set` holds and is not remembered, and forgets what it holds no more.
void UpdateRegistrations(const oci::BackendSet& set, const oci::BackendSetName& name,
                         absl::Time since, BackendMap<absl::Time>& registered_at) {
  using Table = BackendMap<absl::Time>::Table;
  const Table* before = registered_at.Of(name);
  const auto is_new = [&](const oci::Backend& backend) {
    return before == nullptr || !before->contains(backend.name.value());
  };
  const bool all_old = std::none_of(set.backends.begin(), set.backends.end(), is_new);
  if (all_old && (before == nullptr || before->size() == set.backends.size())) return;
  Table& table = registered_at.Edit(name);
  for (const oci::Backend& backend : set.backends) table.try_emplace(backend.name.value(), since);
  if (table.size() == set.backends.size()) return;
  const BackendIndex index(set);
  absl::erase_if(table, [&](const auto& item) { return index.Find(item.first) == nullptr; });
}

// Remembers since when each backend is in its set. The first read of a process
// cannot tell, so what it shows counts as old.
void ObserveRegistrations(Draft& draft) {
  const Input& in = draft.in;
  Memory& memory = draft.plan.memory;
  const absl::Time since = memory.first_read_done ? in.read->at : absl::InfinitePast();
  memory.last_drained.clear();
  const auto& sets = in.read->load_balancer->backend_sets;
  for (const auto& [name, set] : sets) {
    UpdateRegistrations(set, name, since, memory.registered_at);
    for (const oci::Backend& backend : set.backends) {
      if (backend.drain) memory.last_drained.insert({name, backend.name});
    }
  }
  for (const oci::BackendSetName& name : memory.registered_at.Sets()) {
    if (sets.count(name) == 0) memory.registered_at.Erase(name);
  }
  std::erase_if(memory.proven,
                [&](const BackendKey& key) { return !memory.registered_at.Contains(key); });
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
    if (endpoint.port == set.input->target_port) continue;
    set.nic_names.insert(oci::MakeBackendName(endpoint.ip, set.input->target_port).value());
  }
  set.backend_of.resize(set.verdicts.all().size());
  if (set.read == nullptr) return;
  set.verdict_of.reserve(set.read->backends.size());
  for (const oci::Backend& backend : set.read->backends) {
    const int position = set.verdicts.Position(backend.name.value());
    if (position == SetVerdicts::kNone) {
      set.verdict_of.push_back(nullptr);
      set.others.try_emplace(backend.name.value(), &backend);
      continue;
    }
    set.verdict_of.push_back(&set.verdicts.all()[static_cast<size_t>(position)]);
    const oci::Backend*& first = set.backend_of[static_cast<size_t>(position)];
    if (first == nullptr) first = &backend;
  }
  if (set.others.empty()) return;
  for (const Endpoint& endpoint : set.input->endpoints) {
    if (!endpoint.pod.name.empty()) set.pod_ips.insert(endpoint.ip);
  }
}

bool HadServed(const Memory& memory, const SetDraft& set, const Endpoint& endpoint) {
  const KnownBackend* known = memory.known.Find(set.input->name, endpoint.backend);
  return known != nullptr && known->served && known->pod_uid == endpoint.uid;
}

// Pods of the set that are to be looked up, and when to look again for those that were
// and are not known yet.
void AskForPods(Draft& draft, const SetDraft& set) {
  const SetInput& input = *set.input;
  const Input& in = draft.in;
  const bool has_entries = [&] {
    const auto it = in.ledger.lower_bound({input.name, oci::BackendName()});
    return it != in.ledger.end() && it->first.set == input.name;
  }();
  if ((set.ruled || has_entries) && set.read != nullptr) {
    for (size_t i = 0; i < input.endpoints.size(); ++i) {
      const Endpoint& endpoint = input.endpoints[i];
      const int position = set.verdicts.PositionOfEndpoint(i);
      const oci::Backend* backend =
          position == SetVerdicts::kNone ? nullptr : set.backend_of[static_cast<size_t>(position)];
      const bool had_served = backend == nullptr && HadServed(in.memory, set, endpoint);
      if (WantsLookup(endpoint, backend, had_served) ||
          (in.options.gates && MayWaitForGate(endpoint))) {
        draft.plan.questions.pods.insert(endpoint.pod);
      }
    }
  }
  const std::vector<Verdict>& verdicts = set.verdicts.all();
  const bool unresolved = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.want == Want::kKeep || verdict.endpoint->lookup.state == LookupState::kNoAnswer;
  });
  if (set.ruled && unresolved) draft.LookBy(in.now + in.options.lookup_retry);
}

}  // namespace

void JudgeSets(Draft& draft) {
  const Input& in = draft.in;
  draft.sets.reserve(in.sets.size());
  for (const SetInput& input : in.sets) {
    SetDraft set;
    set.input = &input;
    set.ruled = IsRuled(in, input);
    if (in.read.has_value()) {
      const auto& sets = in.read->load_balancer->backend_sets;
      const auto read = sets.find(input.name);
      if (read != sets.end()) set.read = &read->second;
    }
    set.verdicts = SetVerdicts(input);
    IndexSet(set);
    AskForPods(draft, set);
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
