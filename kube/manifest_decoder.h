// Manifests, as `kubectl apply -f` takes them: what of them says how many backends a
// rollout needs.
#ifndef OCI_BACKEND_DRAIN_KUBE_MANIFEST_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_MANIFEST_DECODER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/types.h"

namespace kube {

struct ManifestWorkload {
  Workload workload;
  std::map<std::string, std::string> pod_labels;  // of its Pod template
};

struct Manifests {
  std::vector<ManifestWorkload> workloads;
  std::vector<Service> services;
  std::vector<Ingress> ingresses;
  std::vector<HorizontalPodAutoscaler> autoscalers;
  // "DaemonSet shop/agent": workloads of other kinds, whose Pods may be backends.
  std::vector<std::string> unforeseen;
};

// Adds the objects of `text` (YAML or JSON, several documents, Lists) to `manifests`;
// kinds that do not matter are passed over. An object without namespace is in
// "default". InvalidArgument: "Deployment shop/web (line 14): spec.replicas: ..." or
// the line where the text is no YAML; then `manifests` may hold some of it.
absl::Status AddManifests(const std::string& text, Manifests& manifests);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_MANIFEST_DECODER_H_
