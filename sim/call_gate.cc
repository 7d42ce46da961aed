#include "sim/call_gate.h"

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/http_status.h"
#include "oci/http_status.h"
#include "sim/request_faults.h"

namespace sim {
namespace {

absl::Status Refusal(const Call& call, const CallFate& fate, absl::Time now) {
  http::Response response = ErrorResponse(fate.http_status, fate.code);
  if (fate.retry_after > absl::ZeroDuration()) {
    response.headers.emplace_back("retry-after",
                                  absl::StrCat(absl::ToInt64Seconds(fate.retry_after)));
  }
  if (IsOci(call.kind)) return oci::StatusOf(response, CallName(call.kind), now);
  const bool is_write = call.kind == CallKind::kPutConfigMap || call.kind == CallKind::kPutLease ||
                        call.kind == CallKind::kEvent;
  return kube::StatusOfResponse(response, CallName(call.kind), is_write);
}

absl::Status StatusIn(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusIn(const absl::StatusOr<T>& value) {
  return value.status();
}

const oci::LoadBalancerRead* ReadIn(const absl::StatusOr<oci::LoadBalancerRead>& value) {
  return value.ok() ? &*value : nullptr;
}
template <typename T>
const oci::LoadBalancerRead* ReadIn(const T&) {
  return nullptr;
}

class Gatekeeper {
 public:
  Gatekeeper(CallGate& gate, base::Clock& clock) : gate_(gate), clock_(clock) {}

  template <typename Function>
  std::invoke_result_t<Function> Carry(const Call& call, Function&& function) {
    using Answer = std::invoke_result_t<Function>;
    const CallFate fate = gate_.OnCall(call);
    if (fate.kind == CallFate::Kind::kCrashBefore) throw ProcessEnds();
    Sleep(fate.latency / 2);
    Answer answer = fate.kind == CallFate::Kind::kRefuse ? Answer(Refusal(call, fate, clock_.Now()))
                                                         : std::forward<Function>(function)();
    if (fate.kind == CallFate::Kind::kCrashAfter) throw ProcessEnds();
    Sleep(fate.latency / 2);
    if (fate.kind == CallFate::Kind::kLoseReply) {
      answer = absl::DeadlineExceededError(
          absl::StrCat(CallName(call.kind), ": the connection closed before the answer came"));
    }
    gate_.OnAnswer(call, StatusIn(answer), ReadIn(answer));
    return answer;
  }

 private:
  void Sleep(absl::Duration duration) {
    clock_.SleepFor(duration);
    if (gate_.ended()) throw ProcessEnds();
  }

  CallGate& gate_;
  base::Clock& clock_;
};

class GatedLoadBalancerApi final : public oci::LoadBalancerApi {
 public:
  GatedLoadBalancerApi(oci::LoadBalancerApi& inner, CallGate& gate, base::Clock& clock)
      : inner_(inner), keeper_(gate, clock) {}

  absl::StatusOr<oci::LoadBalancerRead> GetLoadBalancer(const oci::Ocid& id) override {
    return keeper_.Carry({CallKind::kGetLoadBalancer}, [&] { return inner_.GetLoadBalancer(id); });
  }
  absl::StatusOr<oci::BackendSetHealth> GetBackendSetHealth(
      const oci::Ocid& id, const oci::BackendSetName& set) override {
    return keeper_.Carry({CallKind::kGetHealth},
                         [&] { return inner_.GetBackendSetHealth(id, set); });
  }
  absl::StatusOr<oci::BackendHealth> GetBackendHealth(const oci::Ocid& id,
                                                      const oci::BackendSetName& set,
                                                      const oci::BackendName& backend) override {
    return keeper_.Carry({CallKind::kGetHealth},
                         [&] { return inner_.GetBackendHealth(id, set, backend); });
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackend(const oci::Ocid& id,
                                                   const oci::BackendSetName& set,
                                                   const oci::Backend& as_read,
                                                   const oci::BackendFlags& flags,
                                                   const oci::WriteGuard& guard) override {
    return keeper_.Carry({CallKind::kUpdateBackend, set.value(), guard.if_match},
                         [&] { return inner_.UpdateBackend(id, set, as_read, flags, guard); });
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackendSet(const oci::Ocid& id,
                                                      const oci::BackendSet& as_read,
                                                      const oci::BackendSetChange& change,
                                                      const oci::WriteGuard& guard) override {
    return keeper_.Carry({CallKind::kUpdateBackendSet, as_read.name.value(), guard.if_match},
                         [&] { return inner_.UpdateBackendSet(id, as_read, change, guard); });
  }
  absl::StatusOr<oci::WorkRequest> GetWorkRequest(const oci::WorkRequestId& id) override {
    return keeper_.Carry({CallKind::kGetWorkRequest}, [&] { return inner_.GetWorkRequest(id); });
  }
  absl::StatusOr<std::vector<oci::WorkRequest>> ListWorkRequests(const oci::Ocid& id) override {
    return keeper_.Carry({CallKind::kListWorkRequests},
                         [&] { return inner_.ListWorkRequests(id); });
  }

 private:
  oci::LoadBalancerApi& inner_;
  Gatekeeper keeper_;
};

class GatedKubeApi final : public kube::KubeApi {
 public:
  GatedKubeApi(kube::KubeApi& inner, CallGate& gate, base::Clock& clock)
      : inner_(inner), keeper_(gate, clock) {}

  absl::StatusOr<std::string> List(const kube::ListRequest& request) override {
    return keeper_.Carry({CallKind::kList}, [&] { return inner_.List(request); });
  }
  absl::Status Watch(const kube::WatchRequest& request,
                     const std::function<absl::Status(absl::string_view)>& on_bytes,
                     std::shared_ptr<http::Cancellation> cancellation) override {
    return keeper_.Carry({CallKind::kWatch},
                         [&] { return inner_.Watch(request, on_bytes, cancellation); });
  }
  absl::StatusOr<kube::PodDetails> GetPod(const kube::ObjectKey& pod) override {
    return keeper_.Carry({CallKind::kGetPod}, [&] { return inner_.GetPod(pod); });
  }
  absl::StatusOr<kube::Endpoints> GetEndpoints(const kube::ObjectKey& service) override {
    return keeper_.Carry({CallKind::kGetEndpoints}, [&] { return inner_.GetEndpoints(service); });
  }
  absl::StatusOr<kube::ConfigMap> GetConfigMap(const kube::ObjectKey& key) override {
    return keeper_.Carry({CallKind::kGetConfigMap}, [&] { return inner_.GetConfigMap(key); });
  }
  absl::StatusOr<kube::ConfigMap> PutConfigMap(const kube::ConfigMap& config_map) override {
    return keeper_.Carry({CallKind::kPutConfigMap},
                         [&] { return inner_.PutConfigMap(config_map); });
  }
  absl::StatusOr<kube::Lease> GetLease(const kube::ObjectKey& key) override {
    return keeper_.Carry({CallKind::kGetLease}, [&] { return inner_.GetLease(key); });
  }
  absl::StatusOr<kube::Lease> PutLease(const kube::Lease& lease) override {
    return keeper_.Carry({CallKind::kPutLease}, [&] { return inner_.PutLease(lease); });
  }
  absl::StatusOr<std::string> ListObjects(kube::Collection collection,
                                          const std::string& ns) override {
    return keeper_.Carry({CallKind::kListObjects},
                         [&] { return inner_.ListObjects(collection, ns); });
  }
  absl::Status RemovePodLabel(const kube::ObjectKey& pod, const std::string& uid,
                              absl::string_view label) override {
    return keeper_.Carry({CallKind::kRemovePodLabel},
                         [&] { return inner_.RemovePodLabel(pod, uid, label); });
  }
  absl::Status CreateEvent(const kube::Event& event) override {
    return keeper_.Carry({CallKind::kEvent}, [&] { return inner_.CreateEvent(event); });
  }
  absl::Status PatchEventSeries(const kube::ObjectKey& event, int count,
                                absl::Time last_observed) override {
    return keeper_.Carry({CallKind::kEvent},
                         [&] { return inner_.PatchEventSeries(event, count, last_observed); });
  }
  absl::Status ApplyPodCondition(const kube::PodCondition& condition) override {
    return keeper_.Carry({CallKind::kPodCondition},
                         [&] { return inner_.ApplyPodCondition(condition); });
  }

 private:
  kube::KubeApi& inner_;
  Gatekeeper keeper_;
};

}  // namespace

absl::string_view CallName(CallKind kind) {
  switch (kind) {
    case CallKind::kGetLoadBalancer:
      return "GetLoadBalancer";
    case CallKind::kGetHealth:
      return "GetHealth";
    case CallKind::kUpdateBackend:
      return "UpdateBackend";
    case CallKind::kUpdateBackendSet:
      return "UpdateBackendSet";
    case CallKind::kGetWorkRequest:
      return "GetWorkRequest";
    case CallKind::kListWorkRequests:
      return "ListWorkRequests";
    case CallKind::kList:
      return "List";
    case CallKind::kWatch:
      return "Watch";
    case CallKind::kGetPod:
      return "GetPod";
    case CallKind::kGetEndpoints:
      return "GetEndpoints";
    case CallKind::kGetConfigMap:
      return "GetConfigMap";
    case CallKind::kPutConfigMap:
      return "PutConfigMap";
    case CallKind::kListObjects:
      return "ListObjects";
    case CallKind::kRemovePodLabel:
      return "RemovePodLabel";
    case CallKind::kPodCondition:
      return "PodCondition";
    case CallKind::kGetLease:
      return "GetLease";
    case CallKind::kPutLease:
      return "PutLease";
    case CallKind::kEvent:
      break;
  }
  return "Event";
}

bool IsOci(CallKind kind) { return kind <= CallKind::kListWorkRequests; }

bool IsOciWrite(CallKind kind) {
  return kind == CallKind::kUpdateBackend || kind == CallKind::kUpdateBackendSet;
}

std::unique_ptr<oci::LoadBalancerApi> GateCalls(oci::LoadBalancerApi& inner, CallGate& gate,
                                                base::Clock& clock) {
  return std::make_unique<GatedLoadBalancerApi>(inner, gate, clock);
}

std::unique_ptr<kube::KubeApi> GateCalls(kube::KubeApi& inner, CallGate& gate, base::Clock& clock) {
  return std::make_unique<GatedKubeApi>(inner, gate, clock);
}

}  // namespace sim
