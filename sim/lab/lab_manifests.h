// The objects of a laboratory's cluster.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_LAB_MANIFESTS_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_LAB_MANIFESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/json_tree.h"

namespace sim {

inline constexpr char kLabNamespace[] = "lab";
inline constexpr char kLabName[] = "web";  // of the Deployment, the Service and the Ingress
inline constexpr char kLabLoadBalancer[] = "ocid1.loadbalancer.oc1.iad.lab";
inline constexpr int kLabPort = 8080;  // of the Pods, as the cluster knows them

struct LabManifestOptions {
  int replicas = 4;
  int max_surge = 1;
  int grace_seconds = 240;
  int shutdown_seconds = 30;  // backend-drain-shutdown
  bool opted_in = false;      // the Service publishes its terminating Pods too
  bool gate = false;          // the Pods have the readiness gate
};

// For FakeApiServer::ApplyManifest, in that order.
absl::StatusOr<std::vector<JsonTree>> LabManifests(const LabManifestOptions& options);

// By which the Deployment gets its image of that number.
JsonTree LabImagePatch(int generation);
std::string LabImage(int generation);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_LAB_MANIFESTS_H_
