#include "controller/collector.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "annotations/annotations.h"
#include "annotations/table.h"
#include "controller/mapping.h"
#include "controller/routing.h"

namespace controller {
namespace {

kube::ObjectReference ServiceReference(const kube::ObjectKey& key, const std::string& uid) {
  return {"v1", "Service", key, uid};
}

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

using Slices = std::vector<const kube::EndpointSlice*>;

// One family only: core Endpoints, which NIC reads, publish the Service's
// primary family, and the load balancer speaks IPv4 to its backends.
Slices OneFamily(const std::vector<std::shared_ptr<const kube::EndpointSlice>>& all) {
  Slices v4;
  Slices v6;
  for (const auto& slice : all) {
    if (slice->address_type == "IPv4") v4.push_back(slice.get());
    if (slice->address_type == "IPv6") v6.push_back(slice.get());
  }
  return v4.empty() ? v6 : v4;
}

}  // namespace

drain::PodLookup LookupFrom(const kube::PodDetails& details) {
  drain::PodLookup lookup;
  lookup.state = drain::LookupState::kFound;
  lookup.uid = details.uid;
  lookup.pod_ips = details.pod_ips;
  lookup.phase = details.phase;
  lookup.disruption_target = details.disruption_target;
  lookup.gated = Contains(details.readiness_gates, annotations::kReadyCondition);
  lookup.gate_true = Contains(details.true_conditions, annotations::kReadyCondition);
  lookup.deletion_timestamp = details.deletion_timestamp;
  lookup.deletion_grace = details.deletion_grace;
  return lookup;
}

// Fills the endpoints of one mapped port.
class Collector::SetCollector {
 public:
  SetCollector(const kube::ClusterStore& store, const LbState& state, drain::Input& input)
      : store_(store), state_(state), input_(input) {}

  drain::SetInput Collect(const oci::BackendSetName& name, const MappedPort& port, bool contested) {
    drain::SetInput set;
    set.name = name;
    set.service = ServiceReference(port.service, port.uid);
    set.contested = contested;
    set.has_membership = port.source != MappingSource::kLbMap;
    const auto service = store_.FindService(port.service);
    if (service == nullptr) return set;
    const auto parsed = annotations::ParseServiceAnnotations(service->annotations);
    set.opted_in = parsed.values.backend_draining;
    set.serving = parsed.values.serving;
    set.shutdown = parsed.values.shutdown;
    set.sticky_cutoff = parsed.values.sticky_cutoff;
    set.publishes_terminating = service->publish_not_ready_addresses;
    const auto all = store_.SlicesOf(port.service);
    const Slices slices = OneFamily(all);
    set.target_port = ResolveTargetPort(port, slices);
    seen_.clear();
    size_t endpoints = 0;
    for (const kube::EndpointSlice* slice : slices) endpoints += slice->endpoints.size();
    set.endpoints.reserve(endpoints);
    seen_.reserve(endpoints);
    for (const kube::EndpointSlice* slice : slices) AddSlice(port, *slice, set);
    return set;
  }

 private:
  void AddSlice(const MappedPort& port, const kube::EndpointSlice& slice, drain::SetInput& set) {
    const int number = PortInSlice(port, slice);
    if (number <= 0) return;
    for (const kube::Endpoint& from : slice.endpoints) {
      if (from.addresses.empty()) continue;
      // The API's contract: the addresses of one endpoint are fungible and
      // consumers use the first.
      drain::Endpoint endpoint;
      endpoint.ip = from.addresses.front();
      endpoint.port = number;
      endpoint.backend = oci::MakeBackendName(endpoint.ip, number);
      endpoint.serving = from.serving;
      endpoint.terminating = from.terminating;
      const bool own = from.target_namespace.empty() || from.target_namespace == port.service.ns;
      if (from.target_kind == "Pod" && own && !from.target_name.empty()) {
        endpoint.pod = {port.service.ns, from.target_name};
        endpoint.uid = from.target_uid;
      }
      if (Fold(std::move(endpoint), set)) AddPod(set.endpoints.back());
    }
  }

  // An endpoint that moves between slices is in both for a moment.
  bool Fold(drain::Endpoint endpoint, drain::SetInput& set) {
    const auto found = seen_.find({endpoint.backend.value(), endpoint.uid});
    if (found == seen_.end()) {
      // There is room for all: what the keys point to stays where it is.
      const drain::Endpoint& added = set.endpoints.emplace_back(std::move(endpoint));
      seen_.try_emplace({added.backend.value(), added.uid}, set.endpoints.size() - 1);
      return true;
    }
    drain::Endpoint& first = set.endpoints[found->second];
    first.serving = first.serving || endpoint.serving;
    first.terminating = first.terminating || endpoint.terminating;
    return false;
  }

  void AddPod(drain::Endpoint& endpoint) {
    if (endpoint.pod.name.empty()) return;
    std::optional<kube::PodMetadata> pod = store_.FindPod(endpoint.pod);
    if (!pod.has_value()) return;
    endpoint.deletion_timestamp = pod->deletion_timestamp;
    endpoint.deletion_grace = pod->deletion_grace;
    endpoint.workload = WorkloadOf(*pod);
    const auto known = state_.pods.find(pod->uid);
    if (known != state_.pods.end() && known->second.resource_version == pod->resource_version) {
      endpoint.lookup = known->second.lookup;
    }
    endpoint.cached_uid = std::move(pod->uid);
  }

  // In drain::Input::workloads; -1: none that is known.
  int WorkloadOf(const kube::PodMetadata& pod) {
    if (!pod.controller.has_value()) return -1;
    const auto known = workloads_.find(pod.controller->uid);
    if (known != workloads_.end()) return known->second;
    const int workload = FindWorkload(pod.key.ns, *pod.controller);
    workloads_[pod.controller->uid] = workload;
    return workload;
  }

  int FindWorkload(const std::string& ns, const kube::OwnerReference& controller) {
    if (controller.kind == "ReplicaSet") {
      const auto replica_set = store_.FindReplicaSet({ns, controller.name});
      if (!replica_set.has_value() || !replica_set->controller.has_value()) return -1;
      const kube::OwnerReference& owner = *replica_set->controller;
      // Of all its ReplicaSets one.
      const auto known = workloads_.find(owner.uid);
      if (known != workloads_.end()) return known->second;
      const int workload = AddWorkload(ns, owner);
      workloads_[owner.uid] = workload;
      return workload;
    }
    return AddWorkload(ns, controller);
  }

  int AddWorkload(const std::string& ns, const kube::OwnerReference& owner) {
    const auto workload = store_.FindWorkload(owner.kind, {ns, owner.name});
    if (!workload.has_value() || workload->uid != owner.uid) return -1;
    input_.workloads.push_back({{"apps/v1", workload->kind, workload->key, workload->uid},
                                workload->replicas,
                                workload->recreate ? workload->replicas : workload->max_unavailable,
                                workload->deleting,
                                Contains(workload->readiness_gates, annotations::kReadyCondition)});
    return static_cast<int>(input_.workloads.size()) - 1;
  }

  const kube::ClusterStore& store_;
  const LbState& state_;
  drain::Input& input_;
  // Endpoints of the set that is being collected, by address and UID.
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, size_t> seen_;
  // By the UID of a workload or ReplicaSet.
  absl::flat_hash_map<std::string, int> workloads_;
};

Collector::Collector(const kube::ClusterStore& store, const Settings& settings)
    : store_(store), settings_(settings) {}

absl::Status Collector::Synced(const TopologyView& view, const oci::Ocid& load_balancer) const {
  for (const kube::Resource resource : kClusterWide) {
    if (!store_.Synced(resource, "")) {
      return absl::UnavailableError(
          absl::StrCat(kube::ResourceName(resource), " are not listed yet"));
    }
  }
  for (const auto& [name, set] : view.mapping.load_balancers.at(load_balancer).sets) {
    for (const MappedPort& port : set.ports) {
      const std::string& ns = port.service.ns;
      if (view.pod_namespaces.count(ns) == 0 || store_.Synced(kube::Resource::kPods, ns)) continue;
      return absl::UnavailableError(absl::StrCat("pods in namespace ", ns, " are not listed yet"));
    }
  }
  return absl::OkStatus();
}

drain::Input Collector::Collect(const TopologyView& view, const oci::Ocid& load_balancer,
                                const LbState& state, absl::Time now) const {
  const MappedLoadBalancer& mapped = view.mapping.load_balancers.at(load_balancer);
  drain::Input input;
  input.now = now;
  input.options = settings_.plan;
  if (now < state.single_writes_until) input.options.write_mode = drain::WriteMode::kBackend;
  if (now < state.flags_only_until) {
    input.options.carry_membership = input.options.membership_behind_foreign = false;
  }
  input.load_balancer = load_balancer;
  input.paused = mapped.paused();
  input.carry_all = mapped.carry_all();
  for (const MappedClass& item : mapped.classes) {
    input.last_ingress_change =
        std::max({input.last_ingress_change, store_.LastIngressChange(item.name),
                  store_.LastIngressClassChange(item.name)});
  }
  SetCollector collector(store_, state, input);
  for (const auto& [name, set] : mapped.sets) {
    for (const MappedPort& port : set.ports) {
      input.sets.push_back(collector.Collect(name, port, set.contested));
    }
  }
  input.read = state.read;
  if (input.read.has_value()) input.read->this_pass = false;
  input.work_requests = state.work_requests;
  if (input.work_requests.has_value()) input.work_requests->this_pass = false;
  input.own_work_request_polled_at = state.own_work_request_polled_at;
  input.ledger = state.ledger;
  input.ledger_loaded = state.ledger_loaded;
  input.ledger_failing_since = state.ledger_failing_since;
  input.write_not_before = state.write_not_before;
  input.memory = state.memory;
  return input;
}

}  // namespace controller
