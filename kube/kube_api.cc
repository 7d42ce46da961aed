#include "kube/kube_api.h"

namespace kube {

absl::string_view ResourceName(Resource resource) {
  switch (resource) {
    case Resource::kServices:
      return "services";
    case Resource::kIngresses:
      return "ingresses";
    case Resource::kIngressClasses:
      return "ingressclasses";
    case Resource::kEndpointSlices:
      return "endpointslices";
    case Resource::kPods:
      return "pods";
    case Resource::kDeployments:
      return "deployments";
    case Resource::kStatefulSets:
      return "statefulsets";
    case Resource::kReplicaSets:
      return "replicasets";
    case Resource::kLeases:
      return "leases";
  }
  return "unknown";
}

}  // namespace kube
