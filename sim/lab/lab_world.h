// One world of the laboratory: the fake cluster and load balancer of the demonstration, the
// ingress controller's writer and the real controller, and real processes behind HAProxy.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_LAB_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_LAB_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "http/transport.h"
#include "probe/marks.h"
#include "rapidjson/document.h"
#include "sim/child_process.h"
#include "sim/fake_api_server_http.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/kube_rival_world.h"
#include "sim/lab/haproxy.h"
#include "sim/lab/pods.h"
#include "sim/rival_thread.h"

namespace sim {

// How an application ends; the rows of the experiment.
enum class Application { kNaive, kGraceful, kPreStop, kConnectionClose };
// What the controller does about it.
enum class Help { kNone, kDrain, kBarrier, kBarrierAndGate };

struct LabPrograms {
  std::string pod_server;
  std::string controller;
  std::string drain_wait;
};

struct LabOptions {
  LabPrograms programs;
  std::string folder;  // that exists: for configuration and logs
  Application application = Application::kNaive;
  Help help = Help::kNone;
  int replicas = 4;
  int max_surge = 1;
  // Work requests and the Pods' times are shortened by it, and without the controller the
  // ingress controller's clock; at 1 they are 6 to 14 s, those of the experiment, and 10 s.
  double factor = 1;
  uint64_t seed = 1;
  int network = 1;      // see PodProcessOptions
  bool faults = false;  // of the control plane; see docs/rollouts.md
};

// Used by one thread, which must live as long as it does.
class LabWorld {
 public:
  // Blocks until every Pod serves behind HAProxy and the controller, if there is one,
  // has read the load balancer.
  static absl::StatusOr<std::unique_ptr<LabWorld>> Start(LabOptions options);
  ~LabWorld();
  LabWorld(const LabWorld&) = delete;
  LabWorld& operator=(const LabWorld&) = delete;

  // Of HAProxy, on 127.0.0.1.
  int port() const { return haproxy_->port(); }
  // A new image for the Deployment.
  absl::Status StartRollout();
  // Lets happen what is due. Call it every few milliseconds. An error is one of the
  // laboratory's own: a program that does not start, a controller that has ended.
  absl::Status Act();
  // Every Pod has the new image, is ready and routable; the old ones are gone from the
  // cluster and not routable. Drained backends may be left: the ingress controller takes
  // its time with them.
  bool RolloutIsOver();
  // Every request and write that the load balancer saw, and the marks, into files.
  void WriteLogs();
  // What has happened so far, in the order of time.
  const std::vector<probe::Mark>& marks() const { return marks_; }
  int killed() const { return pods_->killed(); }

 private:
  explicit LabWorld(LabOptions options);
  absl::Status StartFakes();
  absl::Status StartLoadBalancer();
  absl::Status StartRival();
  absl::Status StartController();
  absl::Status SyncHaproxy(absl::Time now);
  absl::Status WaitFor(bool (LabWorld::*condition)(), const char* what);
  bool PodsAreReady();
  bool ControllerHasRead();
  bool BarrierListens();
  std::vector<std::string> ReadyBackends();
  absl::Status ApplyManifests();
  bool GatesAreTrue();
  void AddFaults();
  static ServerState StateOf(const rapidjson::Value& backend);
  absl::Duration Short(absl::Duration duration) const { return duration / options_.factor; }

  const LabOptions options_;
  std::string backend_set_;
  std::unique_ptr<Pods> pods_;
  std::unique_ptr<FakeCluster> cluster_;
  std::unique_ptr<FakeLoadBalancerServer> load_balancer_;
  std::unique_ptr<Haproxy> haproxy_;
  std::unique_ptr<http::Transport> rival_kube_;
  std::unique_ptr<http::Transport> rival_oci_;
  std::unique_ptr<KubeRivalWorld> rival_world_;
  std::unique_ptr<RivalThread> rival_;
  std::unique_ptr<ChildProcess> controller_;
  int barrier_port_ = 0;
  int generation_ = 0;  // of the image
  int64_t synced_version_ = -1;
  bool pending_ = false;                        // a registered Pod's process does not listen yet
  std::map<std::string, ServerState> applied_;  // by the Pods' addresses
  std::vector<probe::Mark> marks_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_LAB_WORLD_H_
