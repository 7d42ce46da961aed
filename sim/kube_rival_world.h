// The ingress controller's view of a cluster, read from a Kubernetes API.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_RIVAL_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_RIVAL_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/transport.h"
#include "rapidjson/document.h"
#include "sim/kube_store.h"
#include "sim/rival.h"

namespace sim {

// Maps Ingresses to backend sets and backends by the controller's own rules, its
// quirks included: Services of the Ingress's namespace, the first Service port
// that matches by number or by an equal name (an unnamed one matches every
// number), one number for a named target port, core Endpoints ready or not whose
// target is a Pod.
//
// It asks afresh each time; where the real one reads its watch cache, this one is
// never behind. Not thread-safe; `kube` must outlive it.
class KubeRivalWorld : public RivalWorld {
 public:
  // With the `store` behind `kube`, what has not changed there is not read again.
  explicit KubeRivalWorld(http::Transport& kube, const KubeStore* store = nullptr)
      : kube_(kube), store_(store) {}

  absl::StatusOr<std::vector<RivalClass>> Classes() override;
  absl::StatusOr<std::vector<RivalEndpoint>> Endpoints(const RivalClass& ingress_class,
                                                       const RivalPath& path) override;

 private:
  struct ServicePort {
    int port = 0;
    std::string name;
    int target = 0;  // 0: a name, to be looked up in Endpoints
  };

  using Shared = std::shared_ptr<const rapidjson::Document>;
  struct Known {
    const KubeResource* resource = nullptr;  // of what is read there; null: of no kind
    int64_t changes = 0;                     // of that resource, when it was read
    Shared document;                         // null: not read yet
  };

  absl::StatusOr<Shared> Get(const std::string& target);
  absl::StatusOr<ServicePort> Resolve(const rapidjson::Value& service, const RivalPath& path);
  // The path of an Ingress's `service` member: {"name": ..., "port": {...}}. Without
  // a Service its backend set stays empty, and Endpoints says so later.
  RivalPath MakePath(const std::string& ns, const rapidjson::Value& service);
  std::vector<RivalPath> MakePaths(const std::vector<const rapidjson::Value*>& ingresses);
  void AddDefault(const std::vector<const rapidjson::Value*>& ingresses,
                  std::vector<RivalPath>& paths);

  http::Transport& kube_;
  const KubeStore* store_;
  std::map<std::string, Known> known_;  // by target
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_RIVAL_WORLD_H_
