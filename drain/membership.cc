#include "drain/membership.h"

#include <algorithm>
#include <iterator>

namespace drain {
namespace {

// What NIC wants, by the watch: core Endpoints publish a terminating Pod only
// for a Service that says so.
bool Published(const SetInput& set, const Endpoint& endpoint) {
  return !endpoint.pod.name.empty() && (set.publishes_terminating || !endpoint.terminating);
}

// Of several Pods at one address, the one that decides about it.
void Remember(Draft& draft, const SetDraft& set) {
  auto& known = draft.plan.memory.known;
  for (const auto& [name, verdict] : set.verdicts) {
    const Endpoint& endpoint = *verdict.endpoint;
    const bool deleted = endpoint.deletion_timestamp != absl::InfiniteFuture() ||
                         endpoint.lookup.deletion_timestamp != absl::InfiniteFuture();
    const auto remember = [&](const oci::BackendName& address) {
      KnownBackend& backend = known[set.Key(address)];
      if (backend.pod_uid != endpoint.uid) {
        backend = KnownBackend{.pod_uid = endpoint.uid, .pod = endpoint.pod.name};
      }
      backend.gone_at = absl::InfiniteFuture();
      backend.seen_deleted = backend.seen_deleted || deleted;
      backend.served = backend.served || endpoint.serving;
    };
    remember(name);
    if (set.input->target_port > 0 && set.input->target_port != endpoint.port) {
      remember(oci::MakeBackendName(endpoint.ip, set.input->target_port));
    }
  }
}

void FindPending(Draft& draft, SetDraft& set) {
  if (!set.input->has_membership || set.input->target_port <= 0) return;
  absl::flat_hash_set<absl::string_view> expected;
  absl::flat_hash_set<absl::string_view> published;
  for (const Endpoint& endpoint : set.input->endpoints) {
    if (!Published(*set.input, endpoint)) continue;
    published.insert(endpoint.backend.value());
    if (endpoint.port == set.input->target_port) {
      expected.insert(endpoint.backend.value());
    } else {
      expected.insert(
          *set.nic_names.find(oci::MakeBackendName(endpoint.ip, set.input->target_port).value()));
    }
  }
  for (const oci::Backend& backend : set.read->backends) {
    const std::string& name = backend.name.value();
    if (expected.contains(name) || published.contains(name)) continue;
    if (!IsOurs(draft, set, backend.name)) continue;
    set.pending_removal.insert(backend.name);
    set.pending_routable = set.pending_routable || !backend.drain;
  }
  for (const absl::string_view name : expected) {
    if (set.backends.Find(name) == nullptr) {
      set.pending_add.insert(oci::BackendName(std::string(name)));
    }
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
    const auto known = draft.plan.memory.known.find(set.Key(name));
    if (known == draft.plan.memory.known.end()) continue;
    known->second.gone_at = std::min(known->second.gone_at, draft.in.now);
    const auto entry = draft.plan.ledger.find(set.Key(name));
    const bool ours = entry != draft.plan.ledger.end() && !entry->second.by_operator;
    if (ours && known->second.gone_at >= earliest) set.foreign_revives = true;
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
void Forget(Draft& draft) {
  const auto& restorations = draft.plan.memory.restorations;
  const auto needed = [&](const SetDraft& set, const oci::BackendName& name) {
    if (set.nic_names.contains(name.value()) || set.endpoint_names.contains(name.value()) ||
        set.backends.Find(name.value()) != nullptr) {
      return true;
    }
    const auto restoration = restorations.find(set.input->name);
    return restoration != restorations.end() &&
           FindBackend(restoration->second.foreign, name) != nullptr;
  };
  std::erase_if(draft.plan.memory.known, [&](const auto& item) {
    bool mapped = false;
    for (const SetDraft& set : draft.sets) {
      if (set.input->name != item.first.set) continue;
      mapped = true;
      if (needed(set, item.first.backend)) return false;
    }
    if (mapped) return true;
    const auto& sets = draft.in.read->load_balancer->backend_sets;
    const auto set = sets.find(item.first.set);
    return set == sets.end() || FindBackend(set->second, item.first.backend) == nullptr;
  });
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
  const auto known = draft.plan.memory.known.find(key);
  if (known != draft.plan.memory.known.end() && known->second.seen_deleted) return true;
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
  const BackendKey key = set.Key(backend);
  if (set.verdicts.count(backend) != 0 || draft.plan.memory.known.count(key) != 0) return true;
  const auto entry = draft.plan.ledger.find(key);
  return entry != draft.plan.ledger.end() && !entry->second.pod_uid.empty();
}

void ObserveMembership(Draft& draft) {
  for (SetDraft& set : draft.sets) {
    if (set.input->contested || set.read == nullptr) continue;
    Remember(draft, set);
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
    const auto verdict = set.verdicts.find(backend.name);
    if (verdict != set.verdicts.end() && verdict->second.endpoint->port != set.input->target_port) {
      continue;
    }
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
    const auto verdict = set.verdicts.find(member.backend);
    const bool drain =
        set.ruled && verdict != set.verdicts.end() && verdict->second.want == Want::kDrained;
    change.additions.push_back(NewBackend(member, drain));
  }
  return change;
}

}  // namespace drain
