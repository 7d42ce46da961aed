// Kubernetes manifests in YAML as JSON.
#ifndef OCI_BACKEND_DRAIN_SIM_YAML_MANIFESTS_H_
#define OCI_BACKEND_DRAIN_SIM_YAML_MANIFESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/json_tree.h"

namespace sim {

// The documents of `text`, which may be separated by "---"; empty ones are left
// out. Scalars have the types that kubectl gives them: what is quoted is a string.
// InvalidArgument names `what`, line and column.
absl::StatusOr<std::vector<JsonTree>> ParseManifests(absl::string_view text,
                                                     absl::string_view what);

// Of a file, or of every *.yaml, *.yml and *.json of a directory in the order of
// their names; the directories in it are not entered.
absl::StatusOr<std::vector<JsonTree>> ReadManifests(const std::string& path);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_YAML_MANIFESTS_H_
