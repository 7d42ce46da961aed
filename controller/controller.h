// The running product: watches, workers and events, and the threads they need.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "controller/answerer.h"
#include "controller/call_budget.h"
#include "controller/drain_board.h"
#include "controller/election.h"
#include "controller/elector.h"
#include "controller/fence.h"
#include "controller/gate_check.h"
#include "controller/pod_conditions.h"
#include "controller/reconciler.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/status_board.h"
#include "controller/topology.h"
#include "controller/watcher.h"
#include "controller/work_queue.h"
#include "health/metrics.h"
#include "health/vitals.h"
#include "kube/event_recorder.h"
#include "kube/kube_api.h"
#include "kube/store.h"
#include "oci/load_balancer_api.h"

namespace controller {

// Whether to carry plans out or only to watch.
enum class Mode { kWork, kWatch };

struct ControllerOptions {
  // Where its loops tick; one of its own if null.
  health::Vitals* vitals = nullptr;
  // Where its work is counted; nowhere if null.
  health::Metrics* metrics = nullptr;
  // Null: no election, this process leads. Otherwise the API for the Lease alone, with
  // timeouts well below the renew deadline.
  kube::KubeApi* lease_api = nullptr;
  ElectionOptions election = {};
};

// Start once, Stop once. Thread-safe otherwise.
//
// Threads: one a watch (seven for the cluster, one for each namespace with an
// opted-in Service), one for the mapping of Services to backend sets, one that
// sends events, one that writes Pod conditions, settings.workers that carry out
// passes, and with an election two for the Lease. Each is a loop that ticks.
//
// While another replica leads, the watches and the mapping are kept up and nothing
// else happens: no call to OCI, no write to Kubernetes.
class Controller {
 public:
  // All must outlive it.
  Controller(kube::KubeApi& kube, oci::LoadBalancerApi& oci, const Settings& settings,
             uint64_t seed, const ControllerOptions& options = {});
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Begins to watch and, with kWork, to write.
  // `barrier_address`: where other replicas reach this one's drain barrier, of whichever
  // leads; empty: nowhere.
  void Start(Mode mode, absl::string_view barrier_address = "");

  // Ends watches, finishes the passes in flight, sends the events that wait, and then
  // releases the lease, so that another replica leads at once. Calls that hang are
  // ended after kStopPatience; then `kube` and `oci` answer no more. The lease gets
  // kReleasePatience beyond that.
  void Stop();
  static constexpr absl::Duration kStopPatience = absl::Seconds(5);
  static constexpr absl::Duration kReleasePatience = absl::Seconds(3);

  // This process is wedged: it writes no more, whatever its threads do when they go
  // on, and the lease is released if its thread still can. Waits for no call and takes
  // no lock that is held while one is made.
  void Abandon();

  // Whether this process may write now.
  bool leads() const { return fence_.Check(clock_.Monotonic()).ok(); }

  // Waits until every load balancer known has its watches synced, or `patience`
  // is over: then Unavailable names the first watch that has not, and why.
  absl::Status WaitForSync(absl::Duration patience);

  Reconciler& reconciler() { return reconciler_; }
  Topology& topology() { return topology_; }
  const kube::ClusterStore& store() const { return store_; }
  // What it is doing, but for the version and the start of the process. Waits for nothing.
  health::Status Status() const;
  // Why the Pod's backends are as they are, by the last passes. Waits for nothing.
  absl::StatusOr<PodExplanation> ExplainPod(const kube::ObjectKey& pod) const;

  // Where the replica that leads has its drain barrier; empty: it is this one, or says
  // nothing of it. Waits for nothing.
  std::string LeaderAddress() const;

  // For a drain barrier, which must be gone before Stop.
  DrainBoard& board() { return board_; }
  health::Vitals& vitals() { return vitals_; }

 private:
  void OnChange(const kube::StoreChange& change);
  void OnBadObject(kube::Resource resource, const kube::ObjectKey& key, const absl::Status& why);
  void StartWatch(const Watcher::Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_);
  void MapLoop();
  void FollowTopology(const TopologyView& view, const TopologyView* before);
  bool MappingIsWhole() const;
  // What the probes and the metrics show of caches, queue and leadership.
  void TellState();
  void BeginTerm();
  void EndTerm();
  void ForgetTerm();
  // The load balancers of the last view.
  std::vector<oci::Ocid> LoadBalancers();
  void SpawnLoop(const std::string& name, std::function<void()> run);
  void FollowNamespaces(const TopologyView& view);
  void TellForbidden();
  void JoinAll();
  void WorkLoop();
  void EventLoop();
  void ConditionLoop();
  uint64_t NextSeed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_);

  const Settings& settings_;
  base::Clock& clock_;
  const std::unique_ptr<health::Vitals> own_vitals_;
  health::Vitals& vitals_;
  health::Metrics& metrics_;
  Fence fence_;
  const std::unique_ptr<kube::KubeApi> supervised_kube_;
  const std::unique_ptr<oci::LoadBalancerApi> supervised_oci_;
  std::unique_ptr<kube::KubeApi> supervised_leases_;  // null without an election
  kube::KubeApi& kube_;
  oci::LoadBalancerApi& oci_;
  kube::ClusterStore store_;
  kube::EventRecorder recorder_;
  Topology topology_;
  Reporter reporter_;
  GateCheck gate_check_;  // the mapping thread's own
  CallBudget budget_;
  DrainBoard board_;
  StatusBoard status_;
  PodConditions conditions_;
  Reconciler reconciler_;
  WorkQueue queue_;

  absl::Mutex map_mutex_;
  bool map_due_ ABSL_GUARDED_BY(map_mutex_) = true;
  // The topology is to be told anew: a term has begun.
  bool tell_anew_ ABSL_GUARDED_BY(map_mutex_) = false;
  absl::Notification stopping_;

  absl::Mutex watch_mutex_;
  base::Random random_ ABSL_GUARDED_BY(watch_mutex_);
  std::vector<std::unique_ptr<Watcher>> cluster_watches_ ABSL_GUARDED_BY(watch_mutex_);
  std::map<std::string, std::unique_ptr<Watcher>> pod_watches_ ABSL_GUARDED_BY(watch_mutex_);
  // Watches that are forbidden and the load balancers that were told so.
  std::set<std::pair<std::string, oci::Ocid>> forbidden_told_;  // the mapping thread's own

  std::set<std::string> filtered_for_;  // touched by the mapping thread only
  std::vector<std::thread> threads_;
  bool works_ = false;                // touched by Start and Stop
  std::unique_ptr<Elector> elector_;  // null without an election; the last to be made
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_
