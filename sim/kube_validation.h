// What a Kubernetes API server refuses, with its words.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_VALIDATION_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_VALIDATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"
#include "sim/kube_resources.h"

namespace sim {

// apiVersion and kind, and values of a type that the field has not: 400.
std::optional<KubeError> CheckDecodable(const KubeResource& resource, const JsonTree& object);

// `object` has its defaults.
std::vector<FieldError> ValidateObject(const KubeResource& resource, const JsonTree& object);

// What may not change. `subresource` is "status" or empty.
std::vector<FieldError> ValidateUpdate(const KubeResource& resource, const JsonTree& before,
                                       const JsonTree& after, absl::string_view subresource);

// Of a Pod or a Pod template; `path` is "spec" or "spec.template.spec".
void ValidatePodSpec(const JsonTree& spec, const std::string& path,
                     std::vector<FieldError>& errors);

// Of a Deployment, ReplicaSet or StatefulSet.
void ValidateWorkload(const KubeResource& resource, const JsonTree& object,
                      std::vector<FieldError>& errors);

// 1 to 65535.
void ValidatePort(const JsonTree& port, const std::string& path, std::vector<FieldError>& errors);

// All of `selector` (a map) is in `labels`.
bool SelectsLabels(const JsonTree& selector, const JsonTree& labels);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_VALIDATION_H_
