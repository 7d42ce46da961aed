// JSON of the load-balancer API to values and back, losing nothing.
#ifndef OCI_BACKEND_DRAIN_OCI_CODEC_H_
#define OCI_BACKEND_DRAIN_OCI_CODEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "oci/types.h"

namespace oci {

// Each decoder answers InvalidArgument that names the document and the member
// when a mandatory field is missing or of another type. Unknown fields are kept
// (in `document`), never refused. More than 16,384 backends in all is refused.
absl::StatusOr<LoadBalancer> DecodeLoadBalancer(absl::string_view json);
absl::StatusOr<BackendSet> DecodeBackendSet(absl::string_view json);
absl::StatusOr<BackendHealth> DecodeBackendHealth(absl::string_view json);
absl::StatusOr<BackendSetHealth> DecodeBackendSetHealth(absl::string_view json);
absl::StatusOr<WorkRequest> DecodeWorkRequest(absl::string_view json);
absl::StatusOr<std::vector<WorkRequest>> DecodeWorkRequestList(absl::string_view json);

// Body of UpdateBackend: the four mandatory fields and maxConnections if read.
std::string EncodeBackendUpdate(const Backend& as_read, const BackendFlags& flags);

// Body of UpdateBackendSet: the set's document with `change` applied. Read-only
// members that an update does not take (the set's name, a backend's name) are
// left out; every other member, known or not, is echoed as read. A flip or a
// removal of a backend that the set does not have, or an addition of one that it
// has, is InvalidArgument.
absl::StatusOr<std::string> EncodeBackendSetUpdate(const BackendSet& as_read,
                                                   const BackendSetChange& change);

// OK if `body` differs from the set as read in nothing but `change`. Compares
// both JSON documents; independent of EncodeBackendSetUpdate on purpose.
// Internal names the first member that differs.
absl::Status CheckLossless(const BackendSet& as_read, const BackendSetChange& change,
                           absl::string_view body);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CODEC_H_
