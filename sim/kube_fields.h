// Which lists of the Kubernetes API are merged item by item, and who owns which
// field: metadata.managedFields as a real server keeps it.
//
// A field set is written as fieldsV1 is: {"f:spec":{"f:replicas":{}}}.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"

namespace sim {

// The members that identify an item of the list called `name` under `parent`
// ("containers" under "spec"); empty for a list that is replaced as a whole.
std::vector<absl::string_view> ListKeys(absl::string_view parent, absl::string_view name);

// The item of `items` with the same keys as `like`, or nullptr.
JsonTree* FindItem(JsonTree::Array& items, const JsonTree& like,
                   const std::vector<absl::string_view>& keys);

struct FieldManager {
  std::string name;
  std::string operation = "Update";  // or "Apply"
  std::string api_version;
  std::string subresource;
  std::string time;
};

// Enters into `after`'s managedFields that `manager` made it of `before`
// (nullptr: created). Other managers lose what it changed.
void RecordUpdate(const JsonTree* before, const FieldManager& manager, JsonTree& after);

// Server-side apply of `config` to `object`: merges, enters the ownership, and
// takes away what the manager applied before and no longer does. With conflicts
// and without `force` it changes nothing and answers the error.
std::optional<KubeError> ApplyConfig(const JsonTree& config, const FieldManager& manager,
                                     bool force, JsonTree& object);

// Sets `patch` into `target`: null removes, objects merge, lists are replaced.
// With `by_key`, lists that have keys merge item by item (strategic merge).
void MergePatch(const JsonTree& patch, bool by_key, JsonTree& target);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_H_
