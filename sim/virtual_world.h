// A cluster, a load balancer, the ingress controller and our controller on one
// thread in virtual time: the production reconciler, reflectors and REST clients
// against the fakes, without a socket, a clock or a sleep. The same seed is the
// same run.
#ifndef OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "controller/call_budget.h"
#include "controller/due_queue.h"
#include "controller/reconciler.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "http/transport.h"
#include "kube/event_recorder.h"
#include "kube/reflector.h"
#include "kube/rest_kube_api.h"
#include "kube/store.h"
#include "oci/credentials.h"
#include "oci/load_balancer_api.h"
#include "sim/controllers.h"
#include "sim/fake_api_server.h"
#include "sim/fake_load_balancer.h"
#include "sim/fake_load_balancer_http.h"
#include "sim/kube_rival_world.h"
#include "sim/rival.h"

namespace sim {

// Stands still but for Set and SleepFor.
class VirtualClock final : public base::Clock {
 public:
  explicit VirtualClock(absl::Time start) : now_(start) {}
  absl::Time Now() override { return now_; }
  void SleepFor(absl::Duration duration) override {
    if (duration > absl::ZeroDuration()) now_ += duration;
  }
  void Set(absl::Time now) { now_ = std::max(now_, now); }

 private:
  absl::Time now_;
};

struct VirtualWorldOptions {
  uint64_t seed = 1;
  FakeLoadBalancerOptions load_balancer = {};
  ControllersOptions cluster = {};
  RivalVariant rival = RivalVariant::kUnmodified;
  bool with_rival = true;
  bool with_controller = true;
  controller::Settings settings = {};
};

// Not thread-safe.
class VirtualWorld {
 public:
  explicit VirtualWorld(VirtualWorldOptions options);
  ~VirtualWorld();

  absl::Time now() { return clock_.Now(); }
  FakeApiServer& api_server() { return api_server_; }
  Controllers& cluster() { return cluster_; }
  FakeLoadBalancer& load_balancer() { return load_balancer_; }
  FakeLoadBalancerHttp& load_balancer_http() { return load_balancer_http_; }
  const RivalCounts& rival_counts() const { return rival_->counts(); }

  // Creates the objects of a YAML text or file (or folder).
  absl::Status Apply(absl::string_view yaml);
  absl::Status ApplyFile(const std::string& path);

  // The controller process ends and a new one starts: memory is gone.
  void RestartController();

  // Runs until `done` or `end`, whichever is first; false: it was `end`.
  bool RunUntil(absl::Time end, const std::function<bool()>& done);
  void RunFor(absl::Duration duration);

  // Names under which the writers are known to the load balancer.
  static constexpr char kController[] = "controller";
  static constexpr char kRival[] = "NIC";

 private:
  class KubeTransport;
  struct Watch;
  struct Process;

  // Does everything that is due now and says when something will be due next.
  absl::Time Step();

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
  std::unique_ptr<Process> process_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_VIRTUAL_WORLD_H_
