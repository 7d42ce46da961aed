// Request targets of the Kubernetes API.
#ifndef OCI_BACKEND_DRAIN_KUBE_API_PATH_H_
#define OCI_BACKEND_DRAIN_KUBE_API_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/kube_api.h"
#include "kube/types.h"

namespace kube {

// "/apis/apps/v1/namespaces/shop/deployments?limit=500". InvalidArgument for a
// namespace that cannot be one, and for a namespace of a cluster-scoped resource.
absl::StatusOr<std::string> ListTarget(const ListRequest& request);
absl::StatusOr<std::string> WatchTarget(const WatchRequest& request);

// "pods", ...: as RBAC rules and messages name it.
absl::string_view CollectionName(Collection collection);

// "/api/v1/namespaces/shop/pods" and "/api/v1/namespaces/shop/pods/web-1".
absl::StatusOr<std::string> CollectionTarget(Collection collection, absl::string_view ns);
// A collection in one page.
absl::StatusOr<std::string> WholeTarget(Collection collection, absl::string_view ns);
absl::StatusOr<std::string> ObjectTarget(Collection collection, const ObjectKey& key);

// ".../pods/web-1/status?fieldManager=...": where a condition is applied.
absl::StatusOr<std::string> PodStatusTarget(const PodCondition& condition);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_API_PATH_H_
