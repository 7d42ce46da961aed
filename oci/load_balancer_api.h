// The calls of the OCI Load Balancer API that this project makes.
#ifndef OCI_BACKEND_DRAIN_OCI_LOAD_BALANCER_API_H_
#define OCI_BACKEND_DRAIN_OCI_LOAD_BALANCER_API_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "oci/types.h"

namespace oci {

// What every write carries.
struct WriteGuard {
  // From the read that the decision came from. An empty one is refused with
  // InvalidArgument before anything is sent.
  Etag if_match;
  // The same for a resend of the same bytes, a new one for each new decision. An
  // empty one is refused, too.
  RetryToken retry_token;
  // Names our call in Oracle's logs: opc-request-id. Empty: one is made.
  std::string request_id;
};

// Thread-safe. Each call blocks the calling thread for at most its timeout.
//
// Statuses say what to do next (the table is in http_status.h):
//   Unavailable         repeat this call later (429, 5xx, connection refused).
//   Aborted             412, or 409 of an incorrect state: read and plan again.
//   FailedPrecondition  wait for a change (409 on a running work request).
//   DeadlineExceeded    it may have happened: read.
//   NotFound            the object is not there (404; OCI also says so for
//                       missing rights).
//   Unauthenticated     401 after one refresh of the credentials, or none to be had.
//   InvalidArgument     400, or an answer that is not what the API says: tell the
//                       user, do not retry.
//   ResourceExhausted   400 LimitExceeded or QuotaExceeded.
// A server's Retry-After and error code travel in the status's payload, see
// http_status.h.
class LoadBalancerApi {
 public:
  virtual ~LoadBalancerApi() = default;

  virtual absl::StatusOr<LoadBalancerRead> GetLoadBalancer(const Ocid& load_balancer) = 0;

  virtual absl::StatusOr<BackendSetHealth> GetBackendSetHealth(const Ocid& load_balancer,
                                                               const BackendSetName& set) = 0;

  virtual absl::StatusOr<BackendHealth> GetBackendHealth(const Ocid& load_balancer,
                                                         const BackendSetName& set,
                                                         const BackendName& backend) = 0;

  // Sets drain and offline of one backend; weight, backup and maxConnections are
  // echoed from `as_read`. The answer means accepted, never done.
  virtual absl::StatusOr<WorkRequestId> UpdateBackend(const Ocid& load_balancer,
                                                      const BackendSetName& set,
                                                      const Backend& as_read,
                                                      const BackendFlags& flags,
                                                      const WriteGuard& guard) = 0;

  // Replaces a set by `as_read` with `change` applied. Refused with
  // InvalidArgument, nothing sent, if anything else would differ (codec.h).
  virtual absl::StatusOr<WorkRequestId> UpdateBackendSet(const Ocid& load_balancer,
                                                         const BackendSet& as_read,
                                                         const BackendSetChange& change,
                                                         const WriteGuard& guard) = 0;

  virtual absl::StatusOr<WorkRequest> GetWorkRequest(const WorkRequestId& id) = 0;

  // Newest first, at most 1,000: unfinished ones and those of the recent past.
  virtual absl::StatusOr<std::vector<WorkRequest>> ListWorkRequests(const Ocid& load_balancer) = 0;

  // See http::Transport.
  virtual void EndCalls() {}
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_LOAD_BALANCER_API_H_
