// The load-balancer API over HTTP.
#ifndef OCI_BACKEND_DRAIN_OCI_REST_LOAD_BALANCER_API_H_
#define OCI_BACKEND_DRAIN_OCI_REST_LOAD_BALANCER_API_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "oci/credentials.h"
#include "oci/load_balancer_api.h"

namespace oci {

struct RestOptions {
  // What the transport sends as Host (http::ServerUrl::Authority): it is signed.
  std::string authority = {};
  absl::Duration timeout = absl::Seconds(20);  // of each request
  std::string user_agent = "oci-backend-drain";
  int work_requests_per_page = 1000;
  uint64_t seed = 0;  // of the request ids that are made here
};

// Sends each call once; of an answer of 401 it refreshes the credentials and sends
// the call again, once. Nothing else is repeated: what a failure means for the plan
// is the caller's to decide. Before a whole-set write is sent, CheckLossless has
// found nothing. The references must outlive the result.
std::unique_ptr<LoadBalancerApi> MakeRestLoadBalancerApi(http::Transport& transport,
                                                         CredentialsProvider& credentials,
                                                         base::Clock& clock, RestOptions options);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_REST_LOAD_BALANCER_API_H_
