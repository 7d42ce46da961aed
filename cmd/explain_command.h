// `oci-drain explain pod` of a snapshot.
#ifndef OCI_BACKEND_DRAIN_CMD_EXPLAIN_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_EXPLAIN_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/pod_explanation.h"
#include "controller/preview.h"
#include "kube/types.h"

namespace cmd {

// What the passes know of the Pod, as text or as JSON, ending in a line break. NotFound:
// no set knows it.
absl::StatusOr<std::string> FormatPodOf(const std::vector<const controller::Preview*>& passes,
                                        const kube::ObjectKey& pod, bool json);

// The same of the snapshot in `path`. Errors as PlanFromSnapshot.
absl::StatusOr<std::string> ExplainFromSnapshot(const std::string& path, const kube::ObjectKey& pod,
                                                bool json);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_EXPLAIN_COMMAND_H_
