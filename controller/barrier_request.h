// The drain barrier's HTTP, without sockets: what is asked and what is answered.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_REQUEST_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_REQUEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "controller/drain_board.h"

namespace controller {

// GET /v1/drained/{namespace}/{pod}?uid=...&timeout=25s&confirm=1
struct BarrierRequest {
  PodId pod;
  absl::Duration hold = absl::Seconds(25);  // how long the answer may be kept back
  // The Pod was told that it is drained, and asks whether it still is: it is answered from
  // the first look at the load balancer that is younger than the question.
  bool confirm = false;
};

inline constexpr absl::Duration kLongestHold = absl::Seconds(60);

// NotFound for another path; InvalidArgument names the parameter and what is
// allowed. A timeout above kLongestHold counts as that; parameters that are not
// known are left out of account.
absl::StatusOr<BarrierRequest> ParseBarrierTarget(absl::string_view target);

// A whole HTTP/1.1 answer that ends the connection. 200: the Pod is let go; 202: it
// is to ask again; 404: it is not known.
std::string EncodeBarrierAnswer(const DrainAnswer& answer);

// The same around a body that another barrier answered with.
std::string EncodeBarrierBody(int status, absl::string_view body);

// 400, 404, 405, 431, 503 and such, with {"error": ...}.
std::string EncodeBarrierError(int status, absl::string_view message);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_REQUEST_H_
