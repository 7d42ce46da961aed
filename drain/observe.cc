#include "drain/observe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

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

Wanted WantedFor(const oci::Backend& backend, bool drain, const Verdict& verdict,
                 const SetInput& set) {
  Wanted wanted;
  wanted.backend = &backend;
  wanted.drain = drain;
  wanted.verdict = verdict;
  wanted.pod = verdict.endpoint->pod.name;
  wanted.pod_uid = verdict.endpoint->uid;
  wanted.end = ExpectedEnd(verdict, set.serving);
  return wanted;
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
      backend.drain ? LiveAndDrained(backend, verdict) : LiveAndRoutable(backend);
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
    set_.wanted.push_back(WantedFor(backend, false, verdict, *set_.input));
    if (draft_.stand_down) set_.wanted.back().hold = Hold::kStandDown;
  }

  void LiveAndRoutable(const oci::Backend& backend) {
    const BackendKey key = set_.Key(backend.name);
    if (Entry(key) != nullptr && Quiet()) draft_.plan.ledger.erase(key);
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
    if (!PastForce(draft_, verdict.deadline)) set_.in_force = true;
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
    Wanted wanted = WantedFor(backend, true, verdict, *set_.input);
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

  // Confirms what is proven and forgets what is over.
  void SettleEntries() {
    if (!quiet_) return;
    auto it = draft_.plan.ledger.lower_bound({set_.input->name, oci::BackendName()});
    while (it != draft_.plan.ledger.end() && it->first.set == set_.input->name) {
      const oci::Backend* backend = set_.backends.Find(it->first.backend.value());
      LedgerEntry& entry = it->second;
      if ((backend == nullptr || backend->drain) && !entry.confirmed && !entry.by_operator) {
        entry.confirmed = true;
        TellDrained(it->first, entry);
      }
      const bool published = set_.verdicts.count(it->first.backend) != 0;
      it = backend == nullptr && !published ? draft_.plan.ledger.erase(it) : std::next(it);
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
    if (entry.by_operator || entry.confirmed || entry.deadline >= draft.in.now) continue;
    Notice notice;
    notice.kind = NoticeKind::kDrainDeadlineMissed;
    notice.key = key;
    notice.pod = entry.pod;
    notice.took = draft.in.now - entry.deadline;
    for (const SetInput& set : draft.in.sets) {
      if (set.name == key.set) notice.regarding = set.service;
    }
    draft.TellOnce(
        absl::StrCat("missed|", key.set.value(), "|", key.backend.value(), "|", entry.pod_uid),
        std::move(notice));
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
        if (WantsLookup(endpoint, set.backends.Find(endpoint.backend.value()))) {
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
