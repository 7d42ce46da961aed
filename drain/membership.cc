#include "drain/membership.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace drain {
namespace {

// What NIC wants, by the watch: core Endpoints publish a terminating Pod only
// for a Service that says so.
bool Published(const SetInput& set, const Endpoint& endpoint) {
  return !endpoint.pod.name.empty() && (set.publishes_terminating || !endpoint.terminating);
}

// Of several Pods at one address, the one that decides about it.
class Rememberer {
 public:
  Rememberer(Draft& draft, SetDraft& set)
      : known_(draft.plan.memory.known), set_(set), table_(known_.Of(set.input->name)) {}

  void Run() {
    if (set_.nic_names.empty()) {
      for (const Verdict& verdict : set_.verdicts.all()) {
        Remember(verdict.endpoint->backend, *verdict.endpoint);
      }
      set_.remembered = set_.verdicts.all().size();
      return;
    }
    const int port = set_.input->target_port;
    for (const Verdict* verdict : set_.verdicts.Sorted()) {
      const Endpoint& endpoint = *verdict->endpoint;
      Remember(endpoint.backend, endpoint);
      if (port <= 0 || port == endpoint.port) continue;
      Remember(oci::MakeBackendName(endpoint.ip, port), endpoint);
    }
  }

 private:
  // As it was remembered, an address costs a look.
  void Remember(const oci::BackendName& address, const Endpoint& endpoint) {
    const bool deleted = endpoint.deletion_timestamp != absl::InfiniteFuture() ||
                         endpoint.lookup.deletion_timestamp != absl::InfiniteFuture();
    if (table_ != nullptr) {
      const auto before = table_->find(address.value());
      if (before != table_->end() && before->second.pod_uid == endpoint.uid &&
          before->second.gone_at == absl::InfiniteFuture() &&
          (before->second.seen_deleted || !deleted) &&
          (before->second.served || !endpoint.serving)) {
        return;
      }
    }
    BackendMap<KnownBackend>::Table& edited = known_.Edit(set_.input->name);
    table_ = &edited;
    KnownBackend& backend = edited[address.value()];
    if (backend.pod_uid != endpoint.uid) {
      backend = KnownBackend{.pod_uid = endpoint.uid, .pod = endpoint.pod.name};
    }
    backend.gone_at = absl::InfiniteFuture();
    backend.seen_deleted = backend.seen_deleted || deleted;
    backend.served = backend.served || endpoint.serving;
  }

  BackendMap<KnownBackend>& known_;
  SetDraft& set_;
  const BackendMap<KnownBackend>::Table* table_;
};

void FindPending(Draft& draft, SetDraft& set) {
  if (!set.input->has_membership || set.input->target_port <= 0) return;
  std::vector<bool> published(set.verdicts.all().size());  // by the position of the verdict
  absl::flat_hash_set<std::string> expected;               // under another port than published
  for (size_t i = 0; i < set.input->endpoints.size(); ++i) {
    const Endpoint& endpoint = set.input->endpoints[i];
    if (!Published(*set.input, endpoint)) continue;
    const auto position = static_cast<size_t>(set.verdicts.PositionOfEndpoint(i));
    published[position] = true;
    if (endpoint.port != set.input->target_port) {
      expected.insert(oci::MakeBackendName(endpoint.ip, set.input->target_port).value());
    } else if (set.backend_of[position] == nullptr) {
      set.pending_add.insert(endpoint.backend);
    }
  }
  for (const std::string& name : expected) {
    if (set.FindBackend(name) == nullptr) set.pending_add.insert(oci::BackendName(name));
  }
  for (size_t i = 0; i < set.verdict_of.size(); ++i) {
    const oci::Backend& backend = set.read->backends[i];
    const Verdict* verdict = set.verdict_of[i];
    if (verdict != nullptr && published[set.PositionOf(*verdict)]) continue;
    if (!expected.empty() && expected.contains(backend.name.value())) continue;
    if (!IsOurs(draft, set, backend.name)) continue;
    set.pending_removal.insert(backend.name);
    set.pending_routable = set.pending_routable || !backend.drain;
  }
}

// How much earlier a foreign write may have been decided than OCI's clock says it
// was accepted: the clocks differ, and it was on its way.
constexpr absl::Duration kDecidedBefore = absl::Seconds(2);

void NoteGone(Draft& draft, SetDraft& set) {
  absl::Time earliest = absl::InfiniteFuture();
  for (const oci::WorkRequest* foreign : draft.foreign) {
    earliest = std::min(earliest, foreign->time_accepted - kDecidedBefore);
  }
  for (const oci::BackendName& name : set.pending_removal) {
    const KnownBackend* known = draft.plan.memory.known.Find(set.Key(name));
    if (known == nullptr) continue;
    const absl::Time gone_at = std::min(known->gone_at, draft.in.now);
    if (gone_at != known->gone_at) {
      draft.plan.memory.known.Edit(set.input->name).at(name.value()).gone_at = gone_at;
    }
    const auto entry = draft.plan.ledger.find(set.Key(name));
    const bool ours = entry != draft.plan.ledger.end() && !entry->second.by_operator;
    if (ours && gone_at >= earliest) set.foreign_revives = true;
  }
}

// Since when each address is pending; what is pending no more is forgotten.
void RememberPending(Draft& draft) {
  auto& memory = draft.plan.memory.pending_since;
  std::map<BackendKey, absl::Time> pending;
  const auto note = [&](const SetDraft& set, const std::set<oci::BackendName>& names) {
    for (const oci::BackendName& name : names) {
      const auto before = memory.find(set.Key(name));
      pending[set.Key(name)] = before == memory.end() ? draft.in.now : before->second;
    }
  };
  for (const SetDraft& set : draft.sets) {
    note(set, set.pending_add);
    note(set, set.pending_removal);
  }
  memory = std::move(pending);
}

// Addresses that neither a set holds nor an endpoint names are forgotten. What is restored
// as a foreign write left it may hold one of ours that has left the set since: it has to be
// known as ours then, or it would come back as somebody else's.
void ForgetOf(Draft& draft, const oci::BackendSetName& name) {
  std::vector<const SetDraft*> mapped;
  for (const SetDraft& set : draft.sets) {
    if (set.input->name == name) mapped.push_back(&set);
  }
  BackendMap<KnownBackend>& known = draft.plan.memory.known;
  const BackendMap<KnownBackend>::Table& table = *known.Of(name);
  // All that is remembered is what was just seen.
  if (mapped.size() == 1 && mapped.front()->remembered == table.size()) return;
  const auto& sets = draft.in.read->load_balancer->backend_sets;
  const auto read = sets.find(name);
  const BackendIndex unmapped =
      mapped.empty() && read != sets.end() ? BackendIndex(read->second) : BackendIndex();
  const auto restoration = draft.plan.memory.restorations.find(name);
  const BackendIndex restored =
      !mapped.empty() && restoration != draft.plan.memory.restorations.end()
          ? BackendIndex(*restoration->second.foreign)
          : BackendIndex();
  const auto over = [&](const auto& item) {
    const std::string& backend = item.first;
    return std::none_of(mapped.begin(), mapped.end(),
                        [&](const SetDraft* set) {
                          return set->verdicts.IsNamed(backend) ||
                                 set->nic_names.contains(backend) ||
                                 set->FindBackend(backend) != nullptr;
                        }) &&
           unmapped.Find(backend) == nullptr && restored.Find(backend) == nullptr;
  };
  if (std::none_of(table.begin(), table.end(), over)) return;
  BackendMap<KnownBackend>::Table& edited = known.Edit(name);
  absl::erase_if(edited, over);
  if (edited.empty()) known.Erase(name);
}

void Forget(Draft& draft) {
  for (const oci::BackendSetName& name : draft.plan.memory.known.Sets()) ForgetOf(draft, name);
}

int FreeSlots(const Draft& draft, const SetDraft& set, const oci::BackendSet& base) {
  const FreeOf free = FreeIn(draft, set, base);
  const int share = set.input->max_additions.value_or(std::min(free.set, free.load_balancer));
  return std::max(0, std::min({free.set, free.load_balancer, share}));
}

oci::Backend NewBackend(const Member& member, bool drain) {
  oci::Backend backend;
  backend.name = member.backend;
  backend.ip_address = member.ip;
  backend.port = member.port;
  backend.drain = drain;
  return backend;
}

bool RemovalProven(const Draft& draft, const BackendKey& key) {
  const KnownBackend* known = draft.plan.memory.known.Find(key);
  if (known != nullptr && known->seen_deleted) return true;
  const auto entry = draft.plan.ledger.find(key);
  return entry != draft.plan.ledger.end() && entry->second.deadline != absl::InfiniteFuture();
}

}  // namespace

FreeOf FreeIn(const Draft& draft, const SetDraft& set, const oci::BackendSet& base) {
  size_t total = 0;
  for (const auto& [name, other] : draft.in.read->load_balancer->backend_sets) {
    total += other.backends.size();
  }
  return {LimitOf(draft.in.options, *set.input) - static_cast<int>(base.backends.size()),
          draft.in.options.max_backends_per_load_balancer - static_cast<int>(total)};
}

bool IsOurs(const Draft& draft, const SetDraft& set, const oci::BackendName& backend) {
  if (set.verdicts.Find(backend.value()) != nullptr) return true;
  const BackendKey key = set.Key(backend);
  if (draft.plan.memory.known.Contains(key)) return true;
  const auto entry = draft.plan.ledger.find(key);
  return entry != draft.plan.ledger.end() && !entry->second.pod_uid.empty();
}

void ObserveMembership(Draft& draft) {
  for (SetDraft& set : draft.sets) {
    if (set.input->contested || set.read == nullptr) continue;
    Rememberer(draft, set).Run();
    FindPending(draft, set);
    NoteGone(draft, set);
  }
  RememberPending(draft);
  Forget(draft);
}

bool CarriesMembership(const Draft& draft, const SetDraft& set) {
  return draft.in.options.carry_membership && set.input->has_membership &&
         (set.ruled || draft.in.carry_all);
}

MembershipChange ChangeOf(const Draft& draft, const SetDraft& set, const oci::BackendSet& base) {
  MembershipChange change;
  const auto& answer = set.input->membership;
  if (!CarriesMembership(draft, set)) return change;
  if (!answer.has_value() || !answer->answered) return change;
  if (answer->members.empty()) {
    change.empty_endpoints = true;
    return change;
  }
  absl::flat_hash_set<absl::string_view> wanted;
  for (const Member& member : answer->members) wanted.insert(member.backend.value());
  for (const oci::Backend& backend : base.backends) {
    if (wanted.contains(backend.name.value()) || !IsOurs(draft, set, backend.name)) continue;
    // Published, but under a port that NIC does not use: not for us to remove.
    const Verdict* verdict = set.verdicts.Find(backend.name.value());
    if (verdict != nullptr && verdict->endpoint->port != set.input->target_port) continue;
    change.removals.push_back(backend.name);
    if (!RemovalProven(draft, set.Key(backend.name))) ++change.unproven_removals;
  }
  int free = FreeSlots(draft, set, base) + static_cast<int>(change.removals.size());
  const BackendIndex index(base);
  absl::flat_hash_set<absl::string_view> added;
  for (const Member& member : answer->members) {
    if (index.Find(member.backend.value()) != nullptr) continue;
    if (!added.insert(member.backend.value()).second) continue;
    if (free-- <= 0) {
      ++change.without_slot;
      continue;
    }
    const Verdict* verdict = set.verdicts.Find(member.backend.value());
    const bool drain = set.ruled && verdict != nullptr && verdict->want == Want::kDrained;
    change.additions.push_back(NewBackend(member, drain));
  }
  return change;
}

}  // namespace drain
