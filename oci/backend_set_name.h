// The name that the ingress controller gives to the backend set of a Service port.
#ifndef OCI_BACKEND_DRAIN_OCI_BACKEND_SET_NAME_H_
#define OCI_BACKEND_DRAIN_OCI_BACKEND_SET_NAME_H_

#include "absl/strings/string_view.h"
#include "oci/types.h"

namespace oci {

// The set that holds the backends of an Ingress's default backend, whatever its
// Service is.
inline constexpr char kDefaultBackendSetName[] = "default_ingress";

// "bs_" and the first 15 hex digits of SHA-256 over namespace, service and
// decimal port, concatenated without separators. So two Services can have one
// name: (default, svc1, 80) and (default, svc, 180) both give bs_800a26eae26c08c.
//
// `ns` is the Ingress's namespace, `port` the Service's port, not its targetPort.
BackendSetName GenerateBackendSetName(absl::string_view ns, absl::string_view service, int port);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_BACKEND_SET_NAME_H_
