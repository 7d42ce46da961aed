// What kube-controller-manager publishes of a Service: EndpointSlices and the
// older Endpoints, from Services and Pods.
#ifndef OCI_BACKEND_DRAIN_SIM_ENDPOINTS_CONTROLLERS_H_
#define OCI_BACKEND_DRAIN_SIM_ENDPOINTS_CONTROLLERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "sim/json_tree.h"
#include "sim/kube_objects.h"

namespace sim {

struct EndpointsOptions {
  // How far the controllers run behind the Pods: uniform in [min, max], drawn anew
  // for each burst of changes of a Service; zero: at once.
  absl::Duration slices_lag_min = {};
  absl::Duration slices_lag_max = {};
  absl::Duration endpoints_lag_min = {};
  absl::Duration endpoints_lag_max = {};
  size_t max_endpoints_per_slice = 100;
  // Of one Endpoints object.
  size_t max_addresses = 1000;
  uint64_t seed = 1;
};

// One port of a Service as it is on one Pod.
struct ResolvedPort {
  std::string name;
  std::string protocol;
  int port = 0;
  friend bool operator==(const ResolvedPort&, const ResolvedPort&) = default;
  friend auto operator<=>(const ResolvedPort&, const ResolvedPort&) = default;
};

// A named target port that the Pod does not have is left out.
std::vector<ResolvedPort> ResolvePorts(const JsonTree& service, const JsonTree& pod);

// Whether the Pod is an endpoint: it has an address and has not ended.
bool IsEndpoint(const JsonTree& pod, bool include_terminating);

// Runs a function for each Service some time after it was first called for.
class LaggingServices {
 public:
  LaggingServices(absl::Duration lag_min, absl::Duration lag_max, uint64_t seed)
      : lag_min_(lag_min), lag_max_(lag_max), random_(seed) {}
  // True if the Service, whose state is not what it should be, is to be written now.
  bool IsDue(const std::string& key, absl::Time now);
  // It is as it should be.
  void Settle(const std::string& key) { due_.erase(key); }
  // Forgets Services that are gone.
  void KeepOnly(const std::vector<KubeObject>& services);
  absl::Time NextDue() const;

 private:
  absl::Duration lag_min_;
  absl::Duration lag_max_;
  base::Random random_;
  std::map<std::string, absl::Time> due_;
};

// Terminating Pods stay, marked so. Not thread-safe; `objects` must outlive it.
class EndpointSliceController {
 public:
  EndpointSliceController(KubeObjects& objects, const EndpointsOptions& options);
  void Step(absl::Time now);
  absl::Time NextDue() const { return lagging_.NextDue(); }

 private:
  struct Group;
  struct Change;

  std::vector<Group> Wanted(const JsonTree& service, const std::vector<KubeObject>& pods) const;
  std::vector<Change> Changes(const JsonTree& service, std::vector<Group> groups) const;
  void Sync(const JsonTree& service, const std::vector<KubeObject>& pods, absl::Time now);

  KubeObjects& objects_;
  const size_t max_endpoints_;
  LaggingServices lagging_;
};

// Terminating Pods stay only in Services with publishNotReadyAddresses. Addresses
// above max_addresses are cut off, and said to be. Not thread-safe.
class EndpointsController {
 public:
  EndpointsController(KubeObjects& objects, const EndpointsOptions& options);
  void Step(absl::Time now);
  absl::Time NextDue() const { return lagging_.NextDue(); }

 private:
  void Sync(const JsonTree& service, const std::vector<KubeObject>& pods, absl::Time now);

  KubeObjects& objects_;
  const size_t max_addresses_;
  LaggingServices lagging_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ENDPOINTS_CONTROLLERS_H_
