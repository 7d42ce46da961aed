// Kubeconfig files. For config.cc.
#ifndef OCI_BACKEND_DRAIN_KUBE_KUBECONFIG_H_
#define OCI_BACKEND_DRAIN_KUBE_KUBECONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "kube/config.h"

namespace kube {

// Merged as kubectl does: of two entries with one name, and of two
// current-contexts, the first counts. Files that do not exist are passed over if
// there is another.
absl::StatusOr<ConnectionConfig> LoadKubeconfig(const std::vector<std::string>& paths,
                                                const std::string& context, base::Clock& clock);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_KUBECONFIG_H_
