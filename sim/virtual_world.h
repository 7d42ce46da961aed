// A cluster, a load balancer, the ingress controller and our controller on one
// thread in virtual time: the production reconciler and reflectors against the
// fakes, without a socket, a clock or a sleep. The same seed is the same run.
#ifndef OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "controller/drain_board.h"
#include "controller/settings.h"
#include "sim/call_gate.h"
#include "sim/controller_process.h"
#include "sim/controllers.h"
#include "sim/fake_api_server.h"
#include "sim/fake_load_balancer.h"
#include "sim/fake_load_balancer_http.h"
#include "sim/kube_rival_world.h"
#include "sim/kube_transport.h"
#include "sim/rival.h"
#include "sim/virtual_clock.h"

namespace sim {

struct VirtualWorldOptions {
  uint64_t seed = 1;
  FakeLoadBalancerOptions load_balancer = {};
  ControllersOptions cluster = {};
  // metadata.managedFields of every object; nothing here reads them.
  bool field_ownership = false;
  RivalOptions rival = {};  // its seed is the world's
  bool with_rival = true;
  // From the start of the world to the ingress controller's first tick; negative: by
  // the seed, anywhere in its ten seconds.
  absl::Duration rival_first_tick = -absl::InfiniteDuration();
  bool with_controller = true;
  controller::Settings settings = {};
  // How long no controller runs after one has ended by itself.
  absl::Duration downtime = absl::Seconds(2);
};

// Not thread-safe.
class VirtualWorld {
 public:
  explicit VirtualWorld(VirtualWorldOptions options);
  ~VirtualWorld();
  VirtualWorld(const VirtualWorld&) = delete;
  VirtualWorld& operator=(const VirtualWorld&) = delete;

  absl::Time now() { return clock_.Now(); }
  FakeApiServer& api_server() { return api_server_; }
  Controllers& cluster() { return cluster_; }
  FakeLoadBalancer& load_balancer() { return load_balancer_; }
  // The ingress controller's calls go through it.
  FakeLoadBalancerHttp& load_balancer_http() { return load_balancer_http_; }
  const RivalCounts& rival_counts() const { return rival_->counts(); }

  // Creates the objects of a YAML text or file (or folder).
  absl::Status Apply(absl::string_view yaml);
  absl::Status ApplyFile(const std::string& path);
  // What kubectl patch does. InvalidArgument with the server's words.
  absl::Status Patch(const std::string& target, const std::string& body);

  // The controller process ends, if there is one, and a new one starts: memory is
  // gone. During a call of the product the end waits for the call's.
  void RestartController();
  // The process ends now, or with the call it is in; the next starts after
  // `downtime`.
  void EndController(absl::Duration downtime);
  bool controller_runs() const { return process_ != nullptr && !ending_; }
  // Where Pods wait for their drain; null while no controller runs. Each start has
  // another one.
  controller::DrainBoard* board() { return controller_runs() ? &process_->board() : nullptr; }
  int controller_starts() const { return controller_starts_; }
  // The running pass of the controller, or the last one.
  absl::Time pass_began() const { return pass_began_; }
  bool in_pass() const { return in_pass_; }

  // Asked about each call of the controller. Without it all calls pass. Must
  // outlive the runs.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual CallFate OnCall(const Call& call) = 0;
    virtual void OnAnswer(const Call& call, const absl::Status& status,
                          const oci::LoadBalancerRead* read) = 0;
    // Something happened, or time went on.
    virtual void OnStep() = 0;
    // Does what is due by its own plan and answers when it wants to be asked again.
    virtual absl::Time Act(absl::Time now) = 0;
  };
  void SetObserver(Observer* observer) { observer_ = observer; }

  // Runs until `done` or `end`, whichever is first; false: it was `end`.
  bool RunUntil(absl::Time end, const std::function<bool()>& done);
  void RunFor(absl::Duration duration);

  // Names under which the writers are known to the load balancer.
  static constexpr char kController[] = "controller";
  static constexpr char kRival[] = "NIC";

 private:
  class Gate;

  // Does everything that is due now and says when something will be due next.
  absl::Time Step();
  // The same without a pass of the controller.
  absl::Time StepOthers();
  // The same, where the process may end at the opening of a watch.
  absl::Time StepBetweenPasses();
  void StepController();
  // The rest of the world goes on while a call of the controller takes its time.
  void LiveUntil(absl::Time wake);

  VirtualWorldOptions options_;
  base::Random random_;
  VirtualClock clock_;
  FakeApiServer api_server_;
  Controllers cluster_;
  FakeLoadBalancer load_balancer_;
  FakeLoadBalancerHttp load_balancer_http_;
  std::unique_ptr<KubeTransport> rival_kube_;
  std::unique_ptr<InMemoryTransport> rival_oci_;
  std::unique_ptr<KubeRivalWorld> rival_world_;
  std::unique_ptr<Rival> rival_;
  absl::Time rival_due_;
  int64_t rival_saw_ = 0;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<ControllerProcess> process_;
  bool in_pass_ = false;
  absl::Time pass_began_;
  bool ending_ = false;  // as soon as the call it is in is over
  absl::Time starts_ = absl::InfiniteFuture();
  int controller_starts_ = 0;
  Observer* observer_ = nullptr;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_
