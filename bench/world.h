// The controller's own binary between a fake cluster and a fake load balancer on
// loopback: one Service that opted in, routed by one Ingress.
//
// The cluster's controllers stand still until they are told to go on, so that each
// change reaches the controller when the measurement wants it to.
#ifndef OCI_BACKEND_DRAIN_BENCH_WORLD_H_
#define OCI_BACKEND_DRAIN_BENCH_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/journal.h"
#include "drain/memory.h"
#include "sim/child_process.h"
#include "sim/fake_api_server_http.h"
#include "sim/fake_load_balancer_server.h"

namespace bench {

struct WorldOptions {
  std::string controller;                     // path of the binary
  std::vector<std::string> controller_flags;  // besides those that name the fakes
  int pods = 10;
  bool tls = false;  // both fakes
  uint64_t seed = 1;
};

struct Pod {
  std::string name;
  std::string uid;
  std::string ip;
};

// Not thread-safe, but for its journal.
class World {
 public:
  // Returns when the controller has read the load balancer. Errors name what the
  // controller said last.
  static absl::StatusOr<std::unique_ptr<World>> Start(const WorldOptions& options);
  // Ends the controller, then the fakes.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // One more controller with the same flags. Returns when it watches everything.
  absl::Status AddReplica();

  Journal& journal() { return journal_; }
  sim::ChildProcess& controller() { return *controller_; }

  // Those without a deletionTimestamp, by name.
  std::vector<Pod> LivePods();
  // Gives it a deletionTimestamp; nothing else happens.
  void Delete(const Pod& pod);
  // The deleted Pods end and are gone; others are in their place, ready and
  // published.
  void LetClusterSettle();

  drain::BackendKey KeyOf(const Pod& pod) const;
  // Of the first controller, on 127.0.0.1; 0 if its log does not name it.
  int HealthPort() const;
  // The last lines of the controller's log.
  std::string LogTail() const;

 private:
  explicit World(const WorldOptions& options) : options_(options) {}

  absl::Status MakeFolder();
  absl::Status StartCluster();
  absl::Status StartLoadBalancer();
  absl::Status StartController();
  // A process of the controller that logs there.
  absl::StatusOr<std::unique_ptr<sim::ChildProcess>> StartProcess(const std::string& log) const;
  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  const WorldOptions options_;
  Journal journal_;
  std::string folder_;
  std::string set_name_;
  std::unique_ptr<sim::FakeCluster> cluster_;
  std::unique_ptr<sim::FakeLoadBalancerServer> load_balancer_;
  std::unique_ptr<sim::ChildProcess> controller_;
  std::vector<std::unique_ptr<sim::ChildProcess>> replicas_;
};

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_WORLD_H_
