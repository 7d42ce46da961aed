// The objects of a scenario: what is applied to the cluster and how the load
// balancer begins.
#ifndef OCI_BACKEND_DRAIN_SIM_SCENARIO_CLUSTER_H_
#define OCI_BACKEND_DRAIN_SIM_SCENARIO_CLUSTER_H_

#include <map>
#include <string>
#include <vector>

#include "sim/json_tree.h"
#include "sim/scenario.h"

namespace sim {

inline constexpr char kScenarioNamespace[] = "shop";
inline constexpr char kScenarioOcid[] = "ocid1.loadbalancer.oc1.iad.scenario";
inline constexpr int kScenarioPort = 8080;  // of every Pod
// In no cluster, and in every set from the start where no ingress controller is,
// which would take it out.
inline constexpr char kForeignBackend[] = "192.0.2.7:9000";

// Of the `index`-th Service, its Deployment and its backend set.
std::string ScenarioService(int index);
std::string ScenarioSet(int index);

// In the order in which they are to be applied: everything but the IngressClass,
// whose load balancer does not exist yet.
std::vector<JsonTree> ScenarioObjects(const Scenario& scenario);
JsonTree ScenarioIngressClass(const Scenario& scenario);

// With these backends by Service's index.
std::string ScenarioLoadBalancer(const std::map<int, std::vector<std::string>>& backends);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_SCENARIO_CLUSTER_H_
