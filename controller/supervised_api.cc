#include "controller/supervised_api.h"

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "health/this_loop.h"
#include "oci/http_status.h"

namespace controller {
namespace {

using health::WriteResult;
using health::WriteTarget;

absl::Status StatusIn(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusIn(const absl::StatusOr<T>& value) {
  return value.status();
}

// Of Kubernetes too: its Aborted is a resourceVersion that is out of date.
WriteResult ResultOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return WriteResult::kAccepted;
    case absl::StatusCode::kAborted:
      return oci::HttpStatusOf(status) == 412 ? WriteResult::kPreconditionFailed
                                              : WriteResult::kConflict;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return WriteResult::kConflict;
    case absl::StatusCode::kUnavailable:
      return oci::HttpStatusOf(status) == 429 ? WriteResult::kThrottled : WriteResult::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return WriteResult::kUnknown;
    default:
      return WriteResult::kRefused;
  }
}

class Supervisor {
 public:
  explicit Supervisor(const Supervision& supervision)
      : clock_(supervision.clock), fence_(supervision.fence), metrics_(supervision.metrics) {}

  template <typename Function>
  std::invoke_result_t<Function> Read(Function&& function,
                                      absl::Duration bound = kCallBound) const {
    const health::DeclaredWait wait(clock_.Monotonic() + bound);
    return std::forward<Function>(function)();
  }

  template <typename Function>
  std::invoke_result_t<Function> Write(WriteTarget target, Function&& function) const {
    if (absl::Status status = fence_.Check(clock_.Monotonic()); !status.ok()) {
      metrics_.CountWrite(target, WriteResult::kFenced);
      return status;
    }
    auto answer = Read(std::forward<Function>(function));
    metrics_.CountWrite(target, ResultOf(StatusIn(answer)));
    return answer;
  }

  absl::Duration now() const { return clock_.Monotonic(); }

 private:
  base::Clock& clock_;
  const Fence& fence_;
  health::Metrics& metrics_;
};

class SupervisedLoadBalancerApi final : public oci::LoadBalancerApi {
 public:
  SupervisedLoadBalancerApi(oci::LoadBalancerApi& inner, const Supervision& supervision)
      : inner_(inner), supervisor_(supervision) {}

  absl::StatusOr<oci::LoadBalancerRead> GetLoadBalancer(const oci::Ocid& id) override {
    return supervisor_.Read([&] { return inner_.GetLoadBalancer(id); });
  }
  absl::StatusOr<oci::BackendSetHealth> GetBackendSetHealth(
      const oci::Ocid& id, const oci::BackendSetName& set) override {
    return supervisor_.Read([&] { return inner_.GetBackendSetHealth(id, set); });
  }
  absl::StatusOr<oci::BackendHealth> GetBackendHealth(const oci::Ocid& id,
                                                      const oci::BackendSetName& set,
                                                      const oci::BackendName& backend) override {
    return supervisor_.Read([&] { return inner_.GetBackendHealth(id, set, backend); });
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackend(const oci::Ocid& id,
                                                   const oci::BackendSetName& set,
                                                   const oci::Backend& as_read,
                                                   const oci::BackendFlags& flags,
                                                   const oci::WriteGuard& guard) override {
    return supervisor_.Write(WriteTarget::kUpdateBackend,
                             [&] { return inner_.UpdateBackend(id, set, as_read, flags, guard); });
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackendSet(const oci::Ocid& id,
                                                      const oci::BackendSet& as_read,
                                                      const oci::BackendSetChange& change,
                                                      const oci::WriteGuard& guard) override {
    return supervisor_.Write(WriteTarget::kUpdateBackendSet,
                             [&] { return inner_.UpdateBackendSet(id, as_read, change, guard); });
  }
  absl::StatusOr<oci::WorkRequest> GetWorkRequest(const oci::WorkRequestId& id) override {
    return supervisor_.Read([&] { return inner_.GetWorkRequest(id); });
  }
  absl::StatusOr<std::vector<oci::WorkRequest>> ListWorkRequests(const oci::Ocid& id) override {
    return supervisor_.Read([&] { return inner_.ListWorkRequests(id); });
  }
  void EndCalls() override { inner_.EndCalls(); }

 private:
  oci::LoadBalancerApi& inner_;
  const Supervisor supervisor_;
};

class SupervisedKubeApi final : public kube::KubeApi {
 public:
  SupervisedKubeApi(kube::KubeApi& inner, const Supervision& supervision)
      : inner_(inner), supervisor_(supervision) {}

  absl::StatusOr<std::string> List(const kube::ListRequest& request) override {
    return supervisor_.Read([&] { return inner_.List(request); }, kListBound);
  }
  absl::Status Watch(const kube::WatchRequest& request,
                     const std::function<absl::Status(absl::string_view)>& on_bytes,
                     std::shared_ptr<http::Cancellation> cancellation) override {
    // Between two pieces it may be silent; while it hands one on it must go on.
    const absl::Duration silence = request.silence + kCallBound;
    health::DeclaredWait wait(supervisor_.now() + silence);
    return inner_.Watch(
        request,
        [&](absl::string_view bytes) {
          health::Tick();
          absl::Status status = on_bytes(bytes);
          wait.Extend(supervisor_.now() + silence);
          return status;
        },
        std::move(cancellation));
  }
  absl::StatusOr<kube::PodDetails> GetPod(const kube::ObjectKey& pod) override {
    return supervisor_.Read([&] { return inner_.GetPod(pod); });
  }
  absl::StatusOr<kube::Endpoints> GetEndpoints(const kube::ObjectKey& service) override {
    return supervisor_.Read([&] { return inner_.GetEndpoints(service); });
  }
  absl::StatusOr<kube::ConfigMap> GetConfigMap(const kube::ObjectKey& key) override {
    return supervisor_.Read([&] { return inner_.GetConfigMap(key); });
  }
  absl::StatusOr<kube::ConfigMap> PutConfigMap(const kube::ConfigMap& config_map) override {
    return supervisor_.Write(WriteTarget::kLedger, [&] { return inner_.PutConfigMap(config_map); });
  }
  absl::StatusOr<kube::Lease> GetLease(const kube::ObjectKey& key) override {
    return supervisor_.Read([&] { return inner_.GetLease(key); });
  }
  absl::StatusOr<kube::Lease> PutLease(const kube::Lease& lease) override {
    return supervisor_.Read([&] { return inner_.PutLease(lease); });
  }
  absl::StatusOr<std::string> ListObjects(kube::Collection collection,
                                          const std::string& ns) override {
    return supervisor_.Read([&] { return inner_.ListObjects(collection, ns); });
  }
  absl::Status RemovePodLabel(const kube::ObjectKey& pod, const std::string& uid,
                              absl::string_view label) override {
    return supervisor_.Write(WriteTarget::kPodLabel,
                             [&] { return inner_.RemovePodLabel(pod, uid, label); });
  }
  absl::Status CreateEvent(const kube::Event& event) override {
    return supervisor_.Write(WriteTarget::kEvent, [&] { return inner_.CreateEvent(event); });
  }
  absl::Status PatchEventSeries(const kube::ObjectKey& event, int count,
                                absl::Time last_observed) override {
    return supervisor_.Write(WriteTarget::kEvent,
                             [&] { return inner_.PatchEventSeries(event, count, last_observed); });
  }
  absl::Status ApplyPodCondition(const kube::PodCondition& condition) override {
    return supervisor_.Write(WriteTarget::kPodCondition,
                             [&] { return inner_.ApplyPodCondition(condition); });
  }
  void EndCalls() override { inner_.EndCalls(); }

 private:
  kube::KubeApi& inner_;
  const Supervisor supervisor_;
};

}  // namespace

std::unique_ptr<kube::KubeApi> Supervise(kube::KubeApi& inner, const Supervision& supervision) {
  return std::make_unique<SupervisedKubeApi>(inner, supervision);
}

std::unique_ptr<oci::LoadBalancerApi> Supervise(oci::LoadBalancerApi& inner,
                                                const Supervision& supervision) {
  return std::make_unique<SupervisedLoadBalancerApi>(inner, supervision);
}

}  // namespace controller
