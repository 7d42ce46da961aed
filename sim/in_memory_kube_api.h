// The Kubernetes API as the product calls it, straight on a FakeApiServer: no
// HTTP client, no thread. What RestKubeApi answers over the same fake, this
// answers too; objects go through the product's encoder and decoder.
#ifndef OCI_BACKEND_DRAIN_SIM_IN_MEMORY_KUBE_API_H_
#define OCI_BACKEND_DRAIN_SIM_IN_MEMORY_KUBE_API_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/api_path.h"
#include "kube/encoder.h"
#include "kube/kube_api.h"
#include "sim/fake_api_server.h"

namespace sim {

// A delay of the fake is slept on the clock; one over 20 s, a lost reply and a cut
// stream are DeadlineExceeded. Not thread-safe; what it is made of must outlive it.
class InMemoryKubeApi final : public kube::KubeApi {
 public:
  // `pump` is called by Watch while there is nothing to hand on. It lets the world
  // go on to the next moment at which something happens, and answers false when
  // there is none: the watch then ends with Cancelled.
  InMemoryKubeApi(FakeApiServer& server, base::Clock& clock, std::function<bool()> pump = nullptr);

  absl::StatusOr<std::string> List(const kube::ListRequest& request) override;
  absl::Status Watch(const kube::WatchRequest& request,
                     const std::function<absl::Status(absl::string_view)>& on_bytes,
                     std::shared_ptr<http::Cancellation> cancellation) override;
  absl::StatusOr<kube::PodDetails> GetPod(const kube::ObjectKey& pod) override;
  absl::StatusOr<kube::Endpoints> GetEndpoints(const kube::ObjectKey& service) override;
  absl::StatusOr<kube::ConfigMap> GetConfigMap(const kube::ObjectKey& key) override;
  absl::StatusOr<kube::ConfigMap> PutConfigMap(const kube::ConfigMap& config_map) override;
  absl::StatusOr<kube::Lease> GetLease(const kube::ObjectKey& key) override;
  absl::StatusOr<kube::Lease> PutLease(const kube::Lease& lease) override;
  absl::StatusOr<std::string> ListObjects(kube::Collection collection,
                                          const std::string& ns) override;
  absl::Status RemovePodLabel(const kube::ObjectKey& pod, const std::string& uid,
                              absl::string_view label) override;
  absl::Status CreateEvent(const kube::Event& event) override;
  absl::Status PatchEventSeries(const kube::ObjectKey& event, int count,
                                absl::Time last_observed) override;
  absl::Status ApplyPodCondition(const kube::PodCondition& condition) override;

  // A watch without blocking, for a world that has many on one thread. The answer
  // is the fake's: its bytes are taken with FakeApiServer::TakeWatch, and it is to
  // be closed there.
  absl::StatusOr<int64_t> OpenWatch(const kube::WatchRequest& request);

 private:
  absl::StatusOr<KubeAnswer> Ask(const http::Request& request, const std::string& what);
  // The body of a 2xx answer.
  absl::StatusOr<std::string> Send(const http::Request& request, const std::string& what);
  absl::StatusOr<std::string> GetObject(kube::Collection collection, const kube::ObjectKey& key);
  absl::StatusOr<std::string> PutObject(kube::Collection collection, const kube::ObjectKey& key,
                                        bool is_new, std::string body);

  FakeApiServer& server_;
  base::Clock& clock_;
  const std::function<bool()> pump_;
  const kube::Reporter reporter_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_IN_MEMORY_KUBE_API_H_
