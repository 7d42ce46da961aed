// A whole controller between the fake cluster and the fake load balancer, over
// real HTTP on the loopback interface, in real time.
//
//   ControllerWorld world;
//   const WorldService web = world.AddService({.name = "web", .pods = 3});
//   world.AddLoadBalancer(kWorldLoadBalancer, {web});
//   world.StartController();
//   world.DeletePod(web, "web-0");
//   ASSERT_TRUE(world.AwaitDrained(web, "web-0"));
//
// Waits are woken by the fakes and the log; their deadline only bounds a failure.
#ifndef OCI_BACKEND_DRAIN_SIM_CONTROLLER_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_CONTROLLER_WORLD_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "controller/controller.h"
#include "controller/settings.h"
#include "kube/rest_kube_api.h"
#include "oci/config_file.h"
#include "oci/load_balancer_api.h"
#include "sim/fake_api_server_http.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/json_tree.h"
#include "sim/world_service.h"

namespace sim {

inline constexpr char kWorldLoadBalancer[] = "ocid1.loadbalancer.oc1.iad.aaaa";
// Where the ledgers' ConfigMaps are.
inline constexpr char kWorldNamespace[] = "drain";
// A --coalesce_window in which a test makes several changes, on a slow machine too.
inline constexpr absl::Duration kAllInOneWindow = absl::Seconds(2);

// One call that a fake answered.
struct WorldCall {
  enum class To { kOci, kKube };
  To to = To::kOci;
  absl::Time time;
  std::string method;
  std::string target;
  std::string body;
  std::string if_match = {};
  std::string retry_token = {};
  int status = 0;  // 0: the connection was closed instead

  // A PUT to the load balancer's API, whatever the answer.
  bool is_oci_write() const { return to == To::kOci && method == "PUT"; }
  // A write of a ledger's ConfigMap.
  bool is_ledger_write() const;
};

struct WorldBackend {
  bool drain = false;
  bool offline = false;
  int weight = 0;
};

// Everything polled within milliseconds, no budget of calls.
controller::Settings QuickSettings();

struct ControllerWorldOptions {
  controller::Settings settings = QuickSettings();
  FakeLoadBalancerOptions load_balancer = {};
  FakeClusterOptions cluster = {};
  std::optional<ServerTls> load_balancer_tls = std::nullopt;
  // What the clients trust where the fakes speak TLS.
  std::string load_balancer_ca_pem = {};
  std::string cluster_ca_pem = {};
};

// For one test's thread. Functions of the fakes' own are reached through oci() and
// cluster(); what is told there wakes the waits too.
class ControllerWorld {
 public:
  explicit ControllerWorld(ControllerWorldOptions options = {});
  // Stops the controller first.
  ~ControllerWorld();
  ControllerWorld(const ControllerWorld&) = delete;
  ControllerWorld& operator=(const ControllerWorld&) = delete;

  FakeLoadBalancerServer& oci() { return *oci_; }
  FakeCluster& cluster() { return *cluster_; }
  controller::Settings& settings() { return options_.settings; }

  // The cluster.

  // Every document must be accepted.
  void Apply(absl::string_view yaml);
  void AddClass(const std::string& name, const std::string& load_balancer);
  // Service, Ingress and Pods; the Pods have addresses when it returns.
  WorldService AddService(const WorldService& service);
  void AddPod(const WorldService& service, const std::string& pod);
  // Asks for the deletion; the process ends with the Pod's 600 s of grace.
  void DeletePod(const WorldService& service, const std::string& pod);
  // The Pod is gone at once.
  void KillPod(const WorldService& service, const std::string& pod);
  // Nothing: takes the annotation away.
  void Annotate(const KubeObjectRef& object, const std::string& key,
                std::optional<std::string> value);
  KubeObjectRef ClassRef(const std::string& name = kWorldClass) const;
  KubeObjectRef ServiceRef(const WorldService& service) const;
  // "10.244.1.2:8080"; empty while the Pod has no address.
  std::string BackendOf(const WorldService& service, const std::string& pod);
  // The full object as stored; null if there is none.
  JsonTree Find(const KubeObjectRef& object);

  // The load balancer.

  // With a backend set for each Service that holds its Pods.
  void AddLoadBalancer(const std::string& ocid, const std::vector<WorldService>& services);
  // Nothing if the set does not hold it.
  std::optional<WorldBackend> Backend(const std::string& ocid, const std::string& set,
                                      const std::string& backend);
  bool IsDrained(const WorldService& service, const std::string& pod,
                 const std::string& ocid = kWorldLoadBalancer);
  // An operator's change of one backend, at once.
  void EditBackend(const WorldService& service, const std::string& pod,
                   const std::function<void(rapidjson::Value&)>& change,
                   const std::string& ocid = kWorldLoadBalancer);

  // The controller.

  // With settings(). Its credentials and clients are made anew.
  void StartController(controller::Mode mode = controller::Mode::kWork);
  void StopController();
  // What a program of cmd/ must be told to find these fakes, without TLS.
  std::vector<std::string> ProgramFlags();
  controller::Controller& controller() { return *running_->controller; }

  // What has happened.

  // The calls of the controller and of everybody else, oldest first.
  std::vector<WorldCall> Calls();
  std::vector<WorldCall> OciWrites(const std::string& ocid = "");
  // The log's lines, without prefix.
  std::vector<std::string> Log();
  // Events with this reason.
  std::vector<JsonTree> Events(const std::string& reason);
  // The ledger's text, or empty.
  std::string Ledger(const std::string& ocid = kWorldLoadBalancer);

  // Waits. False, and a failure of the test with the last lines of the log, when
  // the deadline passes first.

  bool Await(const std::string& what, const std::function<bool()>& done);
  bool AwaitDrained(const WorldService& service, const std::string& pod,
                    const std::string& ocid = kWorldLoadBalancer);
  // The ledger says that the drain is confirmed.
  bool AwaitConfirmed(const WorldService& service, const std::string& pod,
                      const std::string& ocid = kWorldLoadBalancer);
  // The first Event with this reason whose regarding object has that name; null if
  // none came.
  JsonTree AwaitEvent(const std::string& reason, const std::string& regarding);
  // One line of the log that has all of these.
  bool AwaitLog(const std::vector<std::string>& texts);
  // So many more answers to GetLoadBalancer: what the controller was to do by then,
  // it has done.
  bool AwaitLooks(int count, const std::string& ocid = kWorldLoadBalancer);

 private:
  class Sink;
  // One run of the controller and its clients.
  struct Running {
    std::unique_ptr<http::Transport> oci_transport;
    std::unique_ptr<oci::ConfigFileCredentials> credentials;
    std::unique_ptr<oci::LoadBalancerApi> oci;
    std::unique_ptr<kube::RestKubeApi> kube;
    controller::Settings settings;
    std::unique_ptr<controller::Controller> controller;
  };

  void Record(WorldCall call);
  void Wake();

  ControllerWorldOptions options_;
  const std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;          // guarded by mutex_
  std::vector<WorldCall> calls_;  // guarded by mutex_
  std::vector<std::string> log_;  // guarded by mutex_
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<FakeLoadBalancerServer> oci_;
  std::unique_ptr<FakeCluster> cluster_;
  std::unique_ptr<Running> running_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CONTROLLER_WORLD_H_
