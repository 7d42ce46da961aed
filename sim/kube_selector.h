// labelSelector and fieldSelector of a list or watch.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_SELECTOR_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_SELECTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"

namespace sim {

// Understands `k=v`, `k==v`, `k!=v`, `k` and `!k`, separated by commas; of fields
// only metadata.name, metadata.namespace, spec.nodeName and status.phase.
class KubeSelector {
 public:
  // Adds requirements. BadRequest for anything else.
  std::optional<KubeError> AddLabels(absl::string_view text);
  std::optional<KubeError> AddFields(absl::string_view text);

  bool Matches(const JsonTree& object) const;
  bool empty() const { return requirements_.empty(); }

 private:
  struct Requirement {
    std::vector<std::string> path;
    std::optional<std::string> value;  // nullopt: only whether it is there
    bool negated = false;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_SELECTOR_H_
