// Addresses that secrets may be sent to.
#ifndef OCI_BACKEND_DRAIN_OCI_SECURE_URL_H_
#define OCI_BACKEND_DRAIN_OCI_SECURE_URL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/url.h"

namespace oci {

// As http::ParseServerUrl, and without TLS only for this machine itself (127.0.0.0/8,
// localhost): what is signed there goes nowhere else. InvalidArgument begins with
// `what`, the flag or variable that gave the address.
absl::StatusOr<http::ServerUrl> ParseSecureUrl(absl::string_view text, absl::string_view what);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_SECURE_URL_H_
