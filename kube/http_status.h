// What an answer of the Kubernetes API means: the one table from HTTP to status.
//
//   400, 405, 406, 413, 415, 422   InvalidArgument     do not repeat it
//   401                            Unauthenticated
//   403                            PermissionDenied    RBAC; the message names the right
//   404                            NotFound
//   409 reason AlreadyExists       AlreadyExists
//   409 otherwise                  Aborted             read again
//   410, reason Expired or Gone    OutOfRange          list again (also: "Too large
//                                                      resource version")
//   429, 5xx                       Unavailable         repeat it later
//   504 to a write                 DeadlineExceeded    it may have happened: read
//   1xx, 3xx, anything else        Unavailable         not the API that answers here
#ifndef OCI_BACKEND_DRAIN_KUBE_HTTP_STATUS_H_
#define OCI_BACKEND_DRAIN_KUBE_HTTP_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace kube {

// The fields of metav1.Status that are used, as the server wrote them.
struct ApiStatus {
  int code = 0;
  std::string reason;  // "Expired", "AlreadyExists", ...
  std::string message;
  // details.retryAfterSeconds, or the header Retry-After; zero if neither.
  absl::Duration retry_after = absl::ZeroDuration();
};

inline constexpr size_t kMaxStatusMessageBytes = 512;

// The table above. `what` names the request: "list pods in namespace shop". The
// status's message is one line, with at most 64 bytes of the reason and
// kMaxStatusMessageBytes of the message.
absl::Status ToStatus(const ApiStatus& api_status, absl::string_view what, bool is_write);

// OK for 2xx. Otherwise the table, with reason and message of the body if it is
// a Status; of another body (HTML of a proxy, 200 KB of text) only the beginning.
absl::Status StatusOfResponse(const http::Response& response, absl::string_view what,
                              bool is_write);

// What the server asked to wait before the next try; nullopt if it did not say.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);

// At most `max_bytes` of `text`, cut before a UTF-8 character, never within one.
absl::string_view ClipUtf8(absl::string_view text, size_t max_bytes);

// That, with a space for each control character: fit for a message, which is one line.
std::string OneLine(absl::string_view text, size_t max_bytes);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_HTTP_STATUS_H_
