// The product's outgoing calls, one by one, for whoever wants to count them, fail
// them or end the process between two of them.
#ifndef OCI_BACKEND_DRAIN_SIM_CALL_GATE_H_
#define OCI_BACKEND_DRAIN_SIM_CALL_GATE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/kube_api.h"
#include "oci/load_balancer_api.h"

namespace sim {

enum class CallKind {
  kGetLoadBalancer,
  kGetHealth,
  kUpdateBackend,
  kUpdateBackendSet,
  kGetWorkRequest,
  kListWorkRequests,
  kList,
  kWatch,
  kGetPod,
  kGetEndpoints,
  kGetConfigMap,
  kPutConfigMap,
  kListObjects,
  kRemovePodLabel,
  kPodCondition,
  kEvent,
  kGetLease,
  kPutLease,
};
absl::string_view CallName(CallKind kind);
bool IsOci(CallKind kind);
bool IsOciWrite(CallKind kind);

struct Call {
  CallKind kind = CallKind::kGetLoadBalancer;
  // Of a write to a load balancer.
  std::string backend_set = {};
  oci::Etag if_match = {};
};

// What becomes of a call.
struct CallFate {
  enum class Kind {
    kPass,
    kRefuse,       // answered with `http_status` and `code`, nothing done
    kLoseReply,    // done, and the connection closes instead of an answer
    kCrashBefore,  // the process ends before the call goes out
    kCrashAfter,   // the process ends before the answer is looked at
  };
  Kind kind = Kind::kPass;
  int http_status = 500;
  std::string code = "InternalServerError";
  absl::Duration retry_after = absl::ZeroDuration();
  absl::Duration latency = absl::ZeroDuration();  // half before, half after it is done
};

// Thrown by a call: the process that made it is to be destroyed.
struct ProcessEnds {};

class CallGate {
 public:
  virtual ~CallGate() = default;
  virtual CallFate OnCall(const Call& call) = 0;
  // The answer as the caller gets it. `read` is null but for GetLoadBalancer.
  virtual void OnAnswer(const Call& call, const absl::Status& status,
                        const oci::LoadBalancerRead* read) = 0;
  // Whether the process was ended while the call slept.
  virtual bool ended() const = 0;
};

// Everything must outlive what they return.
std::unique_ptr<oci::LoadBalancerApi> GateCalls(oci::LoadBalancerApi& inner, CallGate& gate,
                                                base::Clock& clock);
std::unique_ptr<kube::KubeApi> GateCalls(kube::KubeApi& inner, CallGate& gate, base::Clock& clock);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CALL_GATE_H_
