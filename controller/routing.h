// What a change of the cluster means for the work queue and the watches. Shared by
// the threads of the product and the simulator's single one.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_ROUTING_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_ROUTING_H_

#include <functional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "controller/drain_board.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "kube/store.h"
#include "oci/types.h"

namespace controller {

struct Route {
  bool mapping = false;                // Services may map to other backend sets now
  std::set<oci::Ocid> load_balancers;  // to be passed after `delay`
  absl::Duration delay = absl::ZeroDuration();
};

// `view` may be null: nothing is mapped yet.
Route RouteChange(const kube::StoreChange& change, const kube::ClusterStore& store,
                  const TopologyView* view);

// How a drain board looks at the cluster. All must outlive it.
DrainBoard::Cluster BoardFor(const kube::ClusterStore& store, Topology& topology,
                             std::function<void(const oci::Ocid&)> ask_for_pass);

// Events about what the view found wrong and `before` (may be null) had not.
void TellTopology(const TopologyView& view, const TopologyView* before, Reporter& reporter);

// Namespaces whose Pods are watched; one empty name: all of them, filtered.
std::set<std::string> PodWatchScopes(const TopologyView& view, const Settings& settings);

// The resources that are watched in all namespaces.
inline constexpr kube::Resource kClusterWide[] = {
    kube::Resource::kServices,       kube::Resource::kIngresses,   kube::Resource::kIngressClasses,
    kube::Resource::kEndpointSlices, kube::Resource::kDeployments, kube::Resource::kStatefulSets,
    kube::Resource::kReplicaSets,
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_ROUTING_H_
