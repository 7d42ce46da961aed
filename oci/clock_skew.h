// How far this machine's clock is off a server's.
#ifndef OCI_BACKEND_DRAIN_OCI_CLOCK_SKEW_H_
#define OCI_BACKEND_DRAIN_OCI_CLOCK_SKEW_H_

#include <string>

#include "absl/time/time.h"
#include "http/transport.h"

namespace oci {

// Beyond this difference the server refuses every signature.
inline constexpr absl::Duration kAllowedClockSkew = absl::Minutes(5);

// "; this machine's clock is 7m ahead of the server's, which allows 5m: set the clock"
// if the answer's Date header and `now` are over a minute apart. Empty otherwise, and
// without such a header.
std::string ClockHint(const http::Headers& headers, absl::Time now);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CLOCK_SKEW_H_
