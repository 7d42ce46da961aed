// THE table from an answer of OCI to a status that says what to do next.
//
//   HTTP  code                              status              next
//   2xx                                     OK
//   3xx                                     InvalidArgument     the endpoint is wrong
//   400   LimitExceeded, QuotaExceeded      ResourceExhausted   make room
//   400   any other                         InvalidArgument     tell the user
//   401                                     Unauthenticated     refresh, once
//   403                                     PermissionDenied    tell the user
//   404                                     NotFound            drop it, or missing rights
//   408, 429                                Unavailable         repeat later
//   409   IncorrectState,                   Aborted             read and plan again,
//         ExternalServerIncorrectState                          after a short backoff
//   409   InvalidatedRetryToken             Aborted             with a new token
//   409   any other                         FailedPrecondition  wait for the running write
//   412                                     Aborted             read and plan again
//   413, other 4xx                          InvalidArgument     tell the user
//   501                                     Unimplemented       tell the user
//   5xx, anything else                      Unavailable         repeat later
//
// A write's 5xx may have been carried out all the same; repeating it is safe
// because it is guarded by its ETag.
#ifndef OCI_BACKEND_DRAIN_OCI_HTTP_STATUS_H_
#define OCI_BACKEND_DRAIN_OCI_HTTP_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace oci {

// `what` begins the message: "UpdateBackendSet bs_1 of ocid1...". The message has
// status, code, the server's own words on one line (an HTML page is reduced to its
// title) and opc-request-id, at most some 600 bytes in all; of a 401 also how far
// this machine's clock, at `now`, is off the server's Date, if that may be the cause.
absl::Status StatusOf(const http::Response& response, absl::string_view what, absl::Time now);

// What a status made above carries; none for any other.

// 0 if it came from no HTTP answer.
int HttpStatusOf(const absl::Status& status);
// "IncorrectState"; empty if the answer had none.
std::string OciErrorCodeOf(const absl::Status& status);
std::string OpcRequestIdOf(const absl::Status& status);
// From Retry-After, in seconds or as a date; within [0, 5 min].
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_HTTP_STATUS_H_
