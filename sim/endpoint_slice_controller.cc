#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/endpoints_controllers.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_validation.h"
#include "sim/workload_controllers.h"

namespace sim {
namespace {

constexpr char kServiceName[] = "kubernetes.io/service-name";
constexpr char kManagedBy[] = "endpointslice.kubernetes.io/managed-by";

JsonTree EndpointOf(const JsonTree& service, const JsonTree& pod, const std::string& address) {
  const bool serving = IsPodReady(pod);
  const bool terminating = IsTerminating(pod);
  const bool publish = service["spec"]["publishNotReadyAddresses"].AsBool();
  return JsonTree::Object{
      {"addresses", JsonTree::Array{address}},
      {"conditions", JsonTree::Object{{"ready", publish || (serving && !terminating)},
                                      {"serving", serving},
                                      {"terminating", terminating}}},
      {"targetRef", JsonTree::Object{{"kind", "Pod"},
                                     {"namespace", NamespaceOf(pod)},
                                     {"name", NameOf(pod)},
                                     {"uid", UidOf(pod)}}},
      {"nodeName", pod["spec"]["nodeName"]}};
}

JsonTree PortsJson(const std::vector<ResolvedPort>& ports) {
  JsonTree out = JsonTree::Array{};
  for (const ResolvedPort& port : ports) {
    out.Append(
        JsonTree::Object{{"name", port.name}, {"protocol", port.protocol}, {"port", port.port}});
  }
  // Go writes an empty list as null.
  return ports.empty() ? JsonTree() : out;
}

bool IsSameEndpoint(const JsonTree& a, const JsonTree& b) {
  return a["targetRef"]["uid"] == b["targetRef"]["uid"] && a["addresses"] == b["addresses"];
}

}  // namespace

// Endpoints of one address family whose ports are the same.
struct EndpointSliceController::Group {
  std::string address_type;
  JsonTree ports;
  JsonTree::Array endpoints;
};

// A slice to be written; without a name to be created, without endpoints removed.
struct EndpointSliceController::Change {
  std::string name;
  std::string address_type;
  JsonTree ports;
  JsonTree endpoints;
  bool remove = false;
};

EndpointSliceController::EndpointSliceController(KubeObjects& objects,
                                                 const EndpointsOptions& options)
    : objects_(objects),
      max_endpoints_(options.max_endpoints_per_slice),
      lagging_(options.slices_lag_min, options.slices_lag_max, options.seed) {}

void EndpointSliceController::Step(absl::Time now) {
  const KubeStore& store = objects_.store();
  const std::vector<KubeObject> services = store.List(resources::Services(), "");
  lagging_.KeepOnly(services);
  for (const KubeObject& service : services) {
    if ((*service)["spec"]["selector"].members().empty()) continue;
    Sync(*service, store.List(resources::Pods(), NamespaceOf(*service)), now);
  }
}

std::vector<EndpointSliceController::Group> EndpointSliceController::Wanted(
    const JsonTree& service, const std::vector<KubeObject>& pods) const {
  std::vector<Group> groups;
  for (const JsonTree& family : service["spec"]["ipFamilies"].items()) {
    // A family without endpoints still has one, empty slice.
    const size_t first = groups.size();
    for (const KubeObject& pod : pods) {
      if (!SelectsLabels(service["spec"]["selector"], (*pod)["metadata"]["labels"]) ||
          !IsEndpoint(*pod, true)) {
        continue;
      }
      std::string address;
      for (const JsonTree& ip : (*pod)["status"]["podIPs"].items()) {
        const bool v6 = absl::StrContains(ip["ip"].AsString(), ':');
        if (v6 == (family.AsString() == "IPv6")) address = ip["ip"].AsString();
      }
      if (address.empty()) continue;
      const JsonTree ports = PortsJson(ResolvePorts(service, *pod));
      auto group = std::find_if(groups.begin() + first, groups.end(),
                                [&](const Group& g) { return g.ports == ports; });
      if (group == groups.end()) {
        groups.push_back({family.AsString(), ports, {}});
        group = groups.end() - 1;
      }
      group->endpoints.push_back(EndpointOf(service, *pod, address));
    }
    if (groups.size() == first) groups.push_back({family.AsString(), JsonTree(), {}});
  }
  return groups;
}

std::vector<EndpointSliceController::Change> EndpointSliceController::Changes(
    const JsonTree& service, std::vector<Group> groups) const {
  std::vector<Change> changes;
  std::vector<Change> kept;  // slices of a group, with room perhaps
  for (const KubeObject& slice :
       OwnedBy(objects_.store().List(resources::EndpointSlices(), NamespaceOf(service)),
               UidOf(service))) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.address_type == (*slice)["addressType"].AsString() && g.ports == (*slice)["ports"];
    });
    Change change{NameOf(*slice), (*slice)["addressType"].AsString(), (*slice)["ports"],
                  JsonTree::Array{}};
    if (group != groups.end()) {
      for (const JsonTree& endpoint : (*slice)["endpoints"].items()) {
        const auto found =
            std::find_if(group->endpoints.begin(), group->endpoints.end(),
                         [&](const JsonTree& wanted) { return IsSameEndpoint(wanted, endpoint); });
        if (found == group->endpoints.end()) continue;
        change.endpoints.Append(*found);
        group->endpoints.erase(found);
      }
    }
    kept.push_back(std::move(change));
  }
  for (Group& group : groups) {
    const auto same = [&](const Change& change) {
      return change.address_type == group.address_type && change.ports == group.ports;
    };
    for (Change& change : kept) {
      while (same(change) && change.endpoints.items().size() < max_endpoints_ &&
             !group.endpoints.empty()) {
        change.endpoints.Append(group.endpoints.front());
        group.endpoints.erase(group.endpoints.begin());
      }
    }
    bool exists = std::any_of(kept.begin(), kept.end(), same);
    while (!group.endpoints.empty() || (!exists && group.ports.is_null())) {
      const size_t count = std::min(max_endpoints_, group.endpoints.size());
      JsonTree::Array taken(group.endpoints.begin(), group.endpoints.begin() + count);
      group.endpoints.erase(group.endpoints.begin(), group.endpoints.begin() + count);
      changes.push_back({"", group.address_type, group.ports, std::move(taken)});
      exists = true;
    }
  }
  for (Change& change : kept) {
    const bool placeholder = change.ports.is_null();
    const bool wanted = std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
      return group.address_type == change.address_type && group.ports == change.ports;
    });
    change.remove = !wanted || (change.endpoints.items().empty() && !placeholder);
    changes.push_back(std::move(change));
  }
  return changes;
}

void EndpointSliceController::Sync(const JsonTree& service, const std::vector<KubeObject>& pods,
                                   absl::Time now) {
  const std::string key = StoreKey(service);
  const std::string& ns = NamespaceOf(service);
  std::vector<Change> changes = Changes(service, Wanted(service, pods));
  std::erase_if(changes, [&](const Change& change) {
    if (change.name.empty() || change.remove) return false;
    const KubeObject slice = objects_.store().Find({&resources::EndpointSlices(), ns, change.name});
    return (*slice)["endpoints"].items() == change.endpoints.items();
  });
  if (changes.empty()) return lagging_.Settle(key);
  if (!lagging_.IsDue(key, now)) return;
  for (const Change& change : changes) {
    const KubeObjectRef ref{&resources::EndpointSlices(), ns, change.name};
    // Go writes an empty list as null.
    const JsonTree endpoints = change.endpoints.items().empty() ? JsonTree() : change.endpoints;
    if (change.remove) {
      objects_.Delete(ref, {}, now);
    } else if (!change.name.empty()) {
      objects_.Modify(ref, {kControllerManager, now},
                      [&](JsonTree& slice) { slice.Set("endpoints", endpoints); });
    } else {
      const JsonTree labels = JsonTree::Object{{kManagedBy, "endpointslice-controller.k8s.io"},
                                               {kServiceName, NameOf(service)}};
      const JsonTree metadata = JsonTree::Object{
          {"generateName", NameOf(service) + "-"},
          {"labels", labels},
          {"ownerReferences", JsonTree::Array{OwnerReference(resources::Services(), service)}}};
      objects_.Create(resources::EndpointSlices(), ns,
                      JsonTree::Object{{"metadata", metadata},
                                       {"addressType", change.address_type},
                                       {"endpoints", endpoints},
                                       {"ports", change.ports}},
                      {kControllerManager, now});
    }
  }
  lagging_.Settle(key);
}

}  // namespace sim
