// The controller's own binary between a large cluster and a fake load balancer.
#ifndef OCI_BACKEND_DRAIN_BENCH_MASS_WORLD_H_
#define OCI_BACKEND_DRAIN_BENCH_MASS_WORLD_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "bench/mass_cluster.h"
#include "sim/child_process.h"
#include "sim/fake_load_balancer_server.h"

namespace bench {

struct MassOptions {
  std::string controller;  // path of the binary
  std::vector<std::string> controller_flags;
  MassShape shape;
  absl::Duration service_time = absl::ZeroDuration();  // of each work request
};

// What one load balancer and its ledger have seen. Times are those of receipt.
struct LoadBalancerLog {
  int reads = 0;
  absl::Time last_read;
  std::vector<absl::Time> drains;   // accepted UpdateBackend
  std::vector<absl::Time> sets;     // accepted UpdateBackendSet
  std::vector<absl::Time> ledgers;  // ConfigMaps
  int refused = 0;

  size_t writes() const { return drains.size() + sets.size(); }
};

// Not thread-safe.
class MassWorld {
 public:
  // The fakes alone; StartController goes on.
  static absl::StatusOr<std::unique_ptr<MassWorld>> Start(const MassOptions& options);
  // Ends the controller, then the fakes.
  ~MassWorld();
  MassWorld(const MassWorld&) = delete;
  MassWorld& operator=(const MassWorld&) = delete;

  struct Synced {
    absl::Duration lists;  // until every watch was open
    absl::Duration reads;  // ... and every load balancer read
  };
  // Answers when every resource is watched and every load balancer was read. Errors
  // name what the controller said last.
  absl::StatusOr<Synced> StartController(absl::Duration patience);

  MassCluster& cluster() { return *cluster_; }
  sim::ChildProcess& controller() { return *controller_; }
  const MassShape& shape() const { return options_.shape; }

  // By the number of the load balancer.
  std::vector<LoadBalancerLog> logs() const;
  using Predicate = std::function<bool(const std::vector<LoadBalancerLog>&)>;
  bool Await(const Predicate& done, absl::Duration patience) const;
  std::string LogTail() const;

 private:
  explicit MassWorld(const MassOptions& options)
      : options_(options), logs_(static_cast<size_t>(options.shape.load_balancers)) {}

  absl::Status StartFakes();
  void AddOci(const sim::RequestRecord& record);
  LoadBalancerLog* LogOf(absl::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  const MassOptions options_;
  std::string folder_;
  mutable absl::Mutex mutex_;
  std::vector<LoadBalancerLog> logs_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<MassCluster> cluster_;
  std::unique_ptr<sim::FakeLoadBalancerServer> load_balancer_;
  std::unique_ptr<sim::ChildProcess> controller_;
};

// The floor: one thread that asks for the same pages, one after the other over one
// connection, and reads them token by token, keeping nothing.
struct BareLoop {
  double seconds = 0;
  double cpu_seconds = 0;
  int64_t bytes = 0;
  int64_t strings = 0;  // proves that they were read
};
absl::StatusOr<BareLoop> RunBareLoop(int port, const std::vector<std::string>& targets);

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_MASS_WORLD_H_
