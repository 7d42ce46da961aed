// The product's calls under supervision: each declares how long it may take, and no
// write goes out while the fence is closed, and what comes of each write is counted.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SUPERVISED_API_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SUPERVISED_API_H_

#include <memory>

#include "absl/time/time.h"
#include "base/clock.h"
#include "controller/fence.h"
#include "health/metrics.h"
#include "kube/kube_api.h"
#include "oci/load_balancer_api.h"

namespace controller {

// The longest that a call takes: its timeout twice, since a call that is answered
// with 401 is made again. Then its thread counts as stuck (health/vitals.h).
inline constexpr absl::Duration kCallBound = absl::Seconds(45);
inline constexpr absl::Duration kListBound = absl::Seconds(125);

// A write that the fence refuses is FailedPrecondition and was not sent. Writes of
// Leases pass: they are what opens the fence. Everything must outlive what they return.
struct Supervision {
  base::Clock& clock;
  const Fence& fence;
  health::Metrics& metrics;
};
std::unique_ptr<kube::KubeApi> Supervise(kube::KubeApi& inner, const Supervision& supervision);
std::unique_ptr<oci::LoadBalancerApi> Supervise(oci::LoadBalancerApi& inner,
                                                const Supervision& supervision);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SUPERVISED_API_H_
