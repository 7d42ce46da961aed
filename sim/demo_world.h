// One world of the demonstration: a cluster, a load balancer, the ingress
// controller's writer and, if it is wanted, the real controller between them.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_WORLD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/child_process.h"
#include "sim/demo_log.h"
#include "sim/demo_options.h"
#include "sim/demo_recorder.h"
#include "sim/demo_report.h"
#include "sim/demo_setup.h"
#include "sim/fake_api_server_http.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/kube_rival_world.h"
#include "sim/rival_thread.h"

namespace sim {

struct DemoWorldOptions {
  std::string load_balancer;             // OCID
  std::vector<DemoManifests> manifests;  // the first is the one that opted in
  bool carry_all = false;                // annotates the IngressClass
  std::string folder;                    // that exists: for configuration and logs
};

// Used by one thread.
class DemoWorld {
 public:
  // `options` must outlive it.
  static absl::StatusOr<std::unique_ptr<DemoWorld>> Start(const DemoOptions& options,
                                                          DemoWorldOptions world);
  ~DemoWorld();

  // True once every Pod is ready.
  bool PodsAreReady() const;
  // Makes the load balancer with all of them in, and starts the ingress
  // controller, whose first tick is then.
  absl::Status Connect();
  // Starts the program. Its log is controller_log().
  absl::Status StartController(const std::string& program);
  // Whether the controller has read the load balancer.
  bool ControllerHasRead();
  // False once a controller that was started has ended.
  bool ControllerIsRunning();
  std::string controller_log() const;

  // A new image for every Deployment, all at this moment.
  absl::Status StartRollout();
  // Lets happen what is due and takes notes. Call it every few ten milliseconds.
  void Look(absl::Time now);
  // Nothing is being written, nobody waits for a write.
  bool WritesAreDone();

  // Ends the controller, then the ingress controller.
  void Stop();
  // After Stop. Disagreements between the controller's log and the load balancer's
  // are added to `faults`.
  WriteFigures CountWrites(std::vector<std::string>& faults);
  // After Stop: every request and write that the load balancer saw, into files.
  void WriteLogs();
  double controller_peak_mb() const { return controller_peak_mb_; }

  DemoRecorder& recorder() { return recorder_; }
  const DemoService& service(size_t index) const { return world_.manifests[index].service; }

 private:
  DemoWorld(const DemoOptions& options, DemoWorldOptions world);
  absl::Status ApplyManifests();
  absl::Status WriteConfiguration();
  absl::Status StartRival();
  void ReadLedger(absl::Time now);
  void CountOurs(WriteFigures& figures, std::vector<std::string>& faults);

  const DemoOptions& options_;
  const DemoWorldOptions world_;
  DemoRecorder recorder_;
  std::unique_ptr<FakeCluster> cluster_;
  std::unique_ptr<FakeLoadBalancerServer> load_balancer_;
  std::unique_ptr<http::Transport> rival_kube_;
  std::unique_ptr<http::Transport> rival_oci_;
  std::unique_ptr<KubeRivalWorld> rival_world_;
  std::unique_ptr<RivalThread> rival_;
  std::unique_ptr<ChildProcess> controller_;
  int64_t pod_events_seen_ = 0;
  std::string ledger_seen_;  // its resourceVersion
  absl::Time ledger_read_ = absl::InfinitePast();
  double controller_peak_mb_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_WORLD_H_
