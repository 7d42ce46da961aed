// Where the load-balancer API of a region is.
#ifndef OCI_BACKEND_DRAIN_OCI_ENDPOINT_H_
#define OCI_BACKEND_DRAIN_OCI_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace oci {

// "IAD" -> "us-ashburn-1"; anything that is no known short code stays, in lower case.
std::string RegionIdentifier(absl::string_view region);

// "https://iaas.us-ashburn-1.oraclecloud.com" for "us-ashburn-1" or "iad". The
// domain is that of the region's realm. A region that this code does not know has
// `default_domain` (what OCI_DEFAULT_REALM gives), or oraclecloud.com if that is
// empty; one with a dot ("my-region.example.com") names its domain itself.
// InvalidArgument for an empty region or one with characters that none has.
absl::StatusOr<std::string> LoadBalancerEndpoint(absl::string_view region,
                                                 absl::string_view default_domain = "");

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_ENDPOINT_H_
