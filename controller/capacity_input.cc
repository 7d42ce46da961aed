#include "controller/capacity_input.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "annotations/annotations.h"
#include "annotations/table.h"

namespace controller {
namespace {

bool Terminates(const drain::Endpoint& endpoint) {
  return endpoint.terminating || (endpoint.cached_uid == endpoint.uid &&
                                  endpoint.deletion_timestamp != absl::InfiniteFuture());
}

// What the endpoints of one address say together: a live Pod wins.
struct Address {
  const drain::Endpoint* endpoint = nullptr;
  bool live = false;
};

using Addresses = absl::flat_hash_map<absl::string_view, Address>;

Addresses AddressesOf(const drain::SetInput& set) {
  Addresses addresses;
  addresses.reserve(set.endpoints.size());
  for (const drain::Endpoint& endpoint : set.endpoints) {
    if (endpoint.pod.name.empty()) continue;
    Address& address = addresses[endpoint.backend.value()];
    const bool live = !Terminates(endpoint);
    if (address.endpoint == nullptr || (live && !address.live)) address = {&endpoint, live};
  }
  return addresses;
}

class FactCollector {
 public:
  FactCollector(const CapacitySources& sources, const Photograph& photograph, CapacityState& state)
      : sources_(sources), photograph_(photograph), state_(state) {}

  CapacityFacts Run() && {
    capacity::Input& input = facts_.input;
    input.now = photograph_.input.now;
    input.limits.backends_per_set = photograph_.input.options.max_backends_per_set;
    input.limits.backends_per_load_balancer =
        photograph_.input.options.max_backends_per_load_balancer;
    input.limits.backend_sets = sources_.settings.max_backend_sets;
    input.default_reserve = sources_.settings.default_reserve;
    input.raised = state_.raised;
    index_of_workload_.assign(photograph_.input.workloads.size(), -1);
    const auto& read = photograph_.input.read->load_balancer->backend_sets;
    std::set<oci::BackendSetName> counted;
    for (size_t i = 0; i < photograph_.input.sets.size(); ++i) {
      const drain::SetInput& set = photograph_.input.sets[i];
      const auto found = read.find(set.name);
      if (set.contested || found == read.end() || !counted.insert(set.name).second) continue;
      AddSet(set, found->second);
      facts_.positions.push_back(i);
      facts_.opted_in.push_back(set.opted_in);
      facts_.unforeseen.push_back(IsUnforeseen(set));
    }
    for (const auto& [name, set] : read) {
      if (counted.count(name) != 0) continue;
      ++input.other_sets;
      input.other_backends += static_cast<int>(set.backends.size());
    }
    return std::move(facts_);
  }

 private:
  void AddSet(const drain::SetInput& set, const oci::BackendSet& read) {
    capacity::SetInput out;
    out.name = set.name;
    out.service = set.service;
    out.refused_beyond = set.refused_beyond;
    const Addresses addresses = AddressesOf(set);
    CountHeld(set, read, addresses, out);
    CountPending(set, read, addresses, out);
    AddWorkloads(addresses, out);
    ReadService(set, out);
    facts_.input.sets.push_back(std::move(out));
  }

  static bool IsUnforeseen(const drain::SetInput& set) {
    return !set.endpoints.empty() && std::all_of(set.endpoints.begin(), set.endpoints.end(),
                                                 [](const drain::Endpoint& endpoint) {
                                                   return endpoint.workload < 0 &&
                                                          endpoint.cached_uid == endpoint.uid &&
                                                          !endpoint.uid.empty();
                                                 });
  }

  bool IsOurs(const drain::BackendKey& key) const {
    const auto entry = photograph_.ledger.find(key);
    return photograph_.memory.known.Contains(key) ||
           (entry != photograph_.ledger.end() && !entry->second.pod_uid.empty());
  }

  void CountHeld(const drain::SetInput& set, const oci::BackendSet& read,
                 const Addresses& addresses, capacity::SetInput& out) {
    for (const oci::Backend& backend : read.backends) {
      const drain::BackendKey key{set.name, backend.name};
      const auto address = addresses.find(backend.name.value());
      if (address != addresses.end() && address->second.live) {
        ++out.demand.live;
      } else if (address != addresses.end()) {
        ++out.demand.draining;
        AddDrained(key, *address->second.endpoint, backend.drain, out);
      } else if (IsOurs(key)) {
        // Published no more: the next write leaves it out, whoever writes.
        ++out.demand.draining;
        out.drained.push_back({backend.name, {}, "", photograph_.input.now, true});
      } else {
        ++out.demand.foreign;
      }
    }
  }

  void AddDrained(const drain::BackendKey& key, const drain::Endpoint& endpoint, bool drained,
                  capacity::SetInput& out) {
    const auto entry = photograph_.ledger.find(key);
    if (!drained || entry == photograph_.ledger.end() || !entry->second.confirmed ||
        entry->second.by_operator || entry->second.pod_uid != endpoint.uid ||
        endpoint.deletion_timestamp == absl::InfiniteFuture()) {
      return;
    }
    const absl::Time since =
        state_.confirmed_at.try_emplace(key, photograph_.input.now).first->second;
    out.drained.push_back({key.backend, endpoint.pod, endpoint.uid, since,
                           state_.withdrawn.count(endpoint.uid) != 0});
  }

  static void CountPending(const drain::SetInput& set, const oci::BackendSet& read,
                           const Addresses& addresses, capacity::SetInput& out) {
    if (!set.has_membership) return;
    int in_set = 0;
    for (const oci::Backend& backend : read.backends) {
      const auto address = addresses.find(backend.name.value());
      if (address != addresses.end() && address->second.live) ++in_set;
    }
    int published = 0;
    for (const auto& [name, address] : addresses) {
      if (address.live && address.endpoint->port == set.target_port) ++published;
    }
    out.demand.pending = std::max(0, published - in_set);
  }

  // Live Pods of several ReplicaSets are a rollout that runs: what it may have more
  // than now comes soon.
  void AddWorkloads(const Addresses& addresses, capacity::SetInput& out) {
    std::set<int> workloads;
    std::set<std::string> owners;
    for (const auto& [name, address] : addresses) {
      if (address.endpoint->workload < 0) continue;
      workloads.insert(address.endpoint->workload);
      if (!address.live || out.demand.draining == 0) continue;
      const auto pod = sources_.store.FindPod(address.endpoint->pod);
      if (pod.has_value() && pod->controller.has_value()) owners.insert(pod->controller->uid);
    }
    std::vector<capacity::Rollout> now;
    std::vector<capacity::Rollout> most;
    int may_have = 0;
    for (const int workload : workloads) {
      const int index = IndexOf(workload);
      if (index < 0) continue;
      out.workloads.push_back(index);
      const kube::Workload& spec = facts_.workloads[index];
      const int maximum = facts_.input.workloads[index].autoscaler_maximum;
      now.push_back(capacity::RolloutOf(spec, spec.replicas, facts_.times[index]));
      most.push_back(
          capacity::RolloutOf(spec, std::max(spec.replicas, maximum), facts_.times[index]));
      may_have += spec.replicas + now.back().max_surge;
    }
    if (now.empty()) return;
    out.forecast = state_.memo.Of(now);
    if (most != now) out.autoscaled = state_.memo.Of(most);
    if (owners.size() > out.workloads.size()) {
      out.expected = std::max(0, may_have - out.demand.steady());
    }
  }

  int IndexOf(int workload) {
    int& index = index_of_workload_[workload];
    if (index >= 0) return index;
    const kube::ObjectReference& reference = photograph_.input.workloads[workload].reference;
    std::optional<kube::Workload> spec = sources_.store.FindWorkload(reference.kind, reference.key);
    if (!spec.has_value() || spec->uid != reference.uid || spec->deleting) return -1;
    const auto maximum = sources_.autoscalers.find({reference.kind, reference.key});
    index = static_cast<int>(facts_.workloads.size());
    facts_.times.push_back(state_.times.Of(reference.uid, photograph_.memory));
    facts_.input.workloads.push_back(
        {reference, spec->replicas, maximum == sources_.autoscalers.end() ? 0 : maximum->second});
    facts_.workloads.push_back(*std::move(spec));
    return index;
  }

  void ReadService(const drain::SetInput& set, capacity::SetInput& out) const {
    const auto service = sources_.store.FindService(set.service.key);
    if (service == nullptr) return;
    const auto values = annotations::ParseServiceAnnotations(service->annotations).values;
    out.reserve = values.reserve;
    out.minimum = values.minimum;
    if (sources_.settings.capacity_action == CapacityAction::kWarn) {
      out.obstacle = capacity::Obstacle::kOnlyWarn;
    } else if (service->selector.count(std::string(annotations::kPublishedLabel)) == 0) {
      out.obstacle = capacity::Obstacle::kNoLabelInSelector;
    } else {
      out.obstacle = OwnersObstacle(out);
    }
  }

  // Taking a label away that the owner selects by makes it let go of the Pod.
  capacity::Obstacle OwnersObstacle(const capacity::SetInput& out) const {
    if (out.workloads.empty()) return capacity::Obstacle::kOwnerUnknown;
    for (const int index : out.workloads) {
      const std::vector<std::string>& labels = facts_.workloads[index].selector_labels;
      if (std::find(labels.begin(), labels.end(), annotations::kPublishedLabel) != labels.end()) {
        return capacity::Obstacle::kLabelInReplicaSet;
      }
    }
    return capacity::Obstacle::kNone;
  }

  const CapacitySources& sources_;
  const Photograph& photograph_;
  CapacityState& state_;
  CapacityFacts facts_;
  std::vector<int> index_of_workload_;
};

// What is kept of drains goes with them.
void Forget(const Photograph& photograph, CapacityState& state) {
  std::erase_if(state.confirmed_at, [&](const auto& item) {
    const auto entry = photograph.ledger.find(item.first);
    return entry == photograph.ledger.end() || !entry->second.confirmed;
  });
}

}  // namespace

CapacityFacts CollectCapacity(const CapacitySources& sources, const Photograph& photograph,
                              CapacityState& state) {
  Forget(photograph, state);
  state.memo.Age();
  return FactCollector(sources, photograph, state).Run();
}

}  // namespace controller
