// What a Kubernetes API server says about itself.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_DISCOVERY_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_DISCOVERY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/json_tree.h"

namespace sim {

// /version, /api, /apis, /api/v1 and /apis/GROUP/VERSION; nullopt for other paths.
// Enough for kubectl to find the resources.
std::optional<JsonTree> DiscoveryDocument(absl::string_view path);

// The answer to a TokenReview; an empty user means that the token is unknown.
JsonTree TokenReview(const JsonTree& request, const std::string& user, const std::string& time);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_DISCOVERY_H_
