#include "controller/routing.h"

#include <algorithm>
#include <utility>

namespace controller {
namespace {

// A status update of a Pod concerns only who waits for that status; many of them
// make one pass.
constexpr absl::Duration kStatusDelay = absl::Milliseconds(100);

void Add(const TopologyView& view, const kube::ObjectKey& service, Route& route) {
  const auto it = view.load_balancers_of_service.find(service);
  if (it == view.load_balancers_of_service.end()) return;
  route.load_balancers.insert(it->second.begin(), it->second.end());
}

}  // namespace

Route RouteChange(const kube::StoreChange& change, const kube::ClusterStore& store,
                  const TopologyView* view) {
  Route route;
  switch (change.resource) {
    case kube::Resource::kServices:
    case kube::Resource::kIngresses:
    case kube::Resource::kIngressClasses:
      route.mapping = true;
      return route;
    case kube::Resource::kEndpointSlices:
      if (view == nullptr) return route;
      if (!change.service.name.empty()) {
        Add(*view, change.service, route);
      } else {
        for (const auto& [load_balancer, mapped] : view->mapping.load_balancers) {
          route.load_balancers.insert(load_balancer);
        }
      }
      return route;
    case kube::Resource::kPods:
      // What a first list shows asks for no pass each: none is made until it is whole,
      // and then one is.
      if (view == nullptr || !store.Synced(change.resource, change.key.ns)) return route;
      for (const kube::ObjectKey& service : store.ServicesOfPod(change.key)) {
        Add(*view, service, route);
      }
      if (!change.content) route.delay = kStatusDelay;
      return route;
    case kube::Resource::kDeployments:
    case kube::Resource::kStatefulSets:
    case kube::Resource::kReplicaSets:
    case kube::Resource::kLeases:
      // What a workload wants is read by the next pass; its Pods ask for one.
      return route;
  }
  return route;
}

DrainBoard::Cluster BoardFor(const kube::ClusterStore& store, Topology& topology,
                             std::function<void(const oci::Ocid&)> ask_for_pass) {
  DrainBoard::Cluster cluster;
  cluster.find_pod = [&store](const kube::ObjectKey& pod) { return store.FindPod(pod); };
  cluster.load_balancers_of = [&store, &topology](const kube::ObjectKey& pod) {
    kube::StoreChange change;
    change.resource = kube::Resource::kPods;
    change.key = pod;
    return RouteChange(change, store, topology.Last().get()).load_balancers;
  };
  cluster.ask_for_pass = std::move(ask_for_pass);
  return cluster;
}

void TellTopology(const TopologyView& view, const TopologyView* before, Reporter& reporter) {
  for (const BadAnnotation& bad : view.bad_annotations) {
    if (before == nullptr || before->bad_annotations.count(bad) == 0) {
      reporter.TellBadAnnotation(bad);
    }
  }
  for (const MappingProblem& problem : view.mapping.problems) {
    const bool old =
        before != nullptr && std::binary_search(before->mapping.problems.begin(),
                                                before->mapping.problems.end(), problem);
    if (!old) reporter.TellMappingProblem(problem);
  }
}

std::set<std::string> PodWatchScopes(const TopologyView& view, const Settings& settings) {
  if (view.pod_namespaces.size() > static_cast<size_t>(settings.max_pod_watches)) return {""};
  return view.pod_namespaces;
}

}  // namespace controller
