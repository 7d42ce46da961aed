// A cluster's controllers and nodes on top of a FakeApiServer, as a step machine:
// what kube-controller-manager, kube-scheduler and the kubelets do for a rollout.
//
//   FakeApiServer server;
//   Controllers controllers(server);
//   server.ApplyManifest(deployment, now);
//   while (now < end) now = std::min(controllers.Step(now), end);
//
// Everything happens in Step, at the time it is given: the same calls with the
// same times and seed give the same objects.
#ifndef OCI_BACKEND_DRAIN_SIM_CONTROLLERS_H_
#define OCI_BACKEND_DRAIN_SIM_CONTROLLERS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "sim/endpoints_controllers.h"
#include "sim/fake_api_server.h"
#include "sim/kubelet.h"
#include "sim/workload_controllers.h"

namespace sim {

struct ControllersOptions {
  KubeletOptions kubelet = {};
  EndpointsOptions endpoints = {};
  uint64_t seed = 1;
};

// Not thread-safe. `server` must outlive it.
class Controllers {
 public:
  explicit Controllers(FakeApiServer& server, ControllersOptions options = {});

  // Does all that is called for at `now`, tells the watches, and answers when to
  // come again if no request changes anything before; InfiniteFuture if never.
  absl::Time Step(absl::Time now);
  absl::Time NextDue() const;

  Kubelet& kubelet() { return kubelet_; }
  const Kubelet& kubelet() const { return kubelet_; }

 private:
  void StepAll(absl::Time now);
  template <typename Controller>
  void StepOne(Controller& controller, std::initializer_list<const KubeResource*> watched,
               absl::Time due, absl::Time now);

  FakeApiServer& server_;
  DeploymentController deployments_;
  ReplicaSetController replica_sets_;
  StatefulSetController stateful_sets_;
  GarbageCollector garbage_;
  Kubelet kubelet_;
  EndpointSliceController slices_;
  EndpointsController endpoints_;
  int64_t seen_version_ = 0;
  std::map<const void*, int64_t> seen_changes_;  // by controller, before its last step
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CONTROLLERS_H_
