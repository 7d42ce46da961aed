// What the demonstration's manifests describe.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_SETUP_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_SETUP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/json_tree.h"

namespace sim {

// A Service of the demonstration: who its Pods are, and where they are routed.
struct DemoService {
  std::string ns;
  std::string deployment;
  std::string backend_set;
  int port = 0;  // of the containers
  int replicas = 0;
  int max_unavailable = 0;
};

// The manifests of one folder, which describe one Deployment with its Service and
// Ingress.
struct DemoManifests {
  std::vector<JsonTree> objects;
  DemoService service;
};

// InvalidArgument says what is missing.
absl::StatusOr<DemoManifests> ReadDemoManifests(const std::string& folder);

// The OCID that an IngressClass among them names; empty if none does.
std::string LoadBalancerOf(const std::vector<JsonTree>& objects);

// The patch by which `kubectl set image` starts a rolling update.
JsonTree NewImagePatch(const DemoManifests& manifests);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_SETUP_H_
