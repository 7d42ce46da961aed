// A Service of a test's world, and the objects that make it.
#ifndef OCI_BACKEND_DRAIN_SIM_WORLD_SERVICE_H_
#define OCI_BACKEND_DRAIN_SIM_WORLD_SERVICE_H_

#include <string>

namespace sim {

inline constexpr char kWorldClass[] = "oci";
// On which the Pods serve.
inline constexpr int kWorldTargetPort = 8080;

// Its Pods are its backends; how it comes to its backend set.
struct WorldService {
  std::string ns = "shop";
  std::string name = "web";
  int port = 80;
  int pods = 3;                           // "web-0", "web-1", ...: Pods without an owner
  std::string backend_draining = "true";  // empty: no annotation
  bool publishes_not_ready = true;
  std::string ingress_class = kWorldClass;
  // Not a path of the Ingress but its default backend.
  bool is_default_backend = false;
  // No Ingress at all.
  bool has_ingress = true;

  std::string backend_set() const;
};

// Manifests for ControllerWorld::Apply. The Pods' processes live 600 s after their
// deletion, which is their grace period too.
std::string ServiceYaml(const WorldService& service);
std::string IngressYaml(const WorldService& service);
std::string PodYaml(const WorldService& service, const std::string& pod);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_WORLD_SERVICE_H_
