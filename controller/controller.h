// The running product: watches, workers and events, and the threads they need.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "controller/answerer.h"
#include "controller/call_budget.h"
#include "controller/reconciler.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "controller/watcher.h"
#include "controller/work_queue.h"
#include "kube/event_recorder.h"
#include "kube/kube_api.h"
#include "kube/store.h"
#include "oci/load_balancer_api.h"

namespace controller {

// Whether to carry plans out or only to watch.
enum class Mode { kWork, kWatch };

// Start once, Stop once. Thread-safe otherwise.
//
// Threads: one a watch (seven for the cluster, one for each namespace with an
// opted-in Service), one for the mapping of Services to backend sets, one that
// sends events, and settings.workers that carry out passes.
class Controller {
 public:
  // All must outlive it.
  Controller(kube::KubeApi& kube, oci::LoadBalancerApi& oci, const Settings& settings,
             uint64_t seed);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Begins to watch and, with kWork, to write.
  void Start(Mode mode);

  // Ends watches, finishes the passes in flight, sends the events that wait. Calls
  // that hang are ended after kStopPatience; then `kube` and `oci` answer no more.
  void Stop();
  static constexpr absl::Duration kStopPatience = absl::Seconds(5);

  // Waits until every load balancer known has its watches synced, or `patience`
  // is over: then Unavailable names the first watch that has not, and why.
  absl::Status WaitForSync(absl::Duration patience);

  Reconciler& reconciler() { return reconciler_; }
  Topology& topology() { return topology_; }

 private:
  void OnChange(const kube::StoreChange& change);
  void OnBadObject(kube::Resource resource, const kube::ObjectKey& key, const absl::Status& why);
  void StartWatch(const Watcher::Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_);
  void MapLoop();
  void FollowTopology(const TopologyView& view, const TopologyView* before);
  bool MappingIsWhole() const;
  void FollowNamespaces(const TopologyView& view);
  void TellForbidden();
  void JoinAll();
  void WorkLoop();
  void EventLoop();
  uint64_t NextSeed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_);

  const Settings& settings_;
  base::Clock& clock_;
  kube::KubeApi& kube_;
  oci::LoadBalancerApi& oci_;
  kube::ClusterStore store_;
  kube::EventRecorder recorder_;
  Topology topology_;
  Reporter reporter_;
  CallBudget budget_;
  Reconciler reconciler_;
  WorkQueue queue_;

  absl::Mutex map_mutex_;
  bool map_due_ ABSL_GUARDED_BY(map_mutex_) = true;
  absl::Notification stopping_;

  absl::Mutex watch_mutex_;
  base::Random random_ ABSL_GUARDED_BY(watch_mutex_);
  std::vector<std::unique_ptr<Watcher>> cluster_watches_ ABSL_GUARDED_BY(watch_mutex_);
  std::map<std::string, std::unique_ptr<Watcher>> pod_watches_ ABSL_GUARDED_BY(watch_mutex_);
  // Watches that are forbidden and the load balancers that were told so.
  std::set<std::pair<std::string, oci::Ocid>> forbidden_told_;  // the mapping thread's own

  std::set<std::string> filtered_for_;  // touched by the mapping thread only
  std::vector<std::thread> threads_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CONTROLLER_H_
