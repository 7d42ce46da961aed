// What a cluster tells of a rollout while it runs: the probe's marks.
#ifndef OCI_BACKEND_DRAIN_CMD_ROLLOUT_WATCH_H_
#define OCI_BACKEND_DRAIN_CMD_ROLLOUT_WATCH_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/kube_api.h"
#include "kube/types.h"
#include "probe/marks.h"

namespace cmd {

// Turns what watches of Pods and EndpointSlices say into marks of one Service's Pods.
// A mark's time is when it was heard, by this machine's clock: the failures have
// theirs from the same. Nothing is marked of what the first lists show. Thread-safe.
//
//   ready               an endpoint serves: its Pod became Ready
//   endpoint_withdrawn  it is not ready any more, or gone; where the Service publishes
//                       addresses that are not ready, only the latter
//   deleted             the Pod has a deletionTimestamp: without a preStop hook this is
//                       SIGTERM, which no API object tells of
//   drained             its condition load-balancer-drained is True
//   exit                the Pod is gone: its processes have ended
class RolloutMarks {
 public:
  explicit RolloutMarks(kube::ObjectKey service) : service_(std::move(service)) {}

  void OnSlice(const kube::EndpointSlice& slice, absl::Time now);
  void OnSliceGone(const kube::ObjectKey& slice, absl::Time now);
  // The first list of slices is complete: from now on, what changes is marked.
  void OnFirstSlices();

  // The same of Pods.
  void OnFirstPods();

  // True: the Pod is to be asked for, and OnDetails told, since it may be drained now.
  bool OnPod(const kube::PodMetadata& pod, absl::Time now);
  void OnDetails(const kube::PodDetails& pod, absl::Time now);
  void OnPodGone(const kube::ObjectKey& pod, const std::string& uid, absl::Time now);

  // Those of Pods that were endpoints of the Service at some time, in the order of time;
  // at most probe::kMaxMarks, the first.
  std::vector<probe::Mark> Take() const;

 private:
  struct Told {
    probe::Mark mark;
    std::string uid;
  };
  struct Endpoint {
    std::string pod;
    bool ready = false;
    bool serving = false;
  };
  using Endpoints = std::map<std::string, Endpoint>;
  struct Terminating {
    std::string uid;
    bool drained = false;
  };

  void Compare(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(probe::MarkKind kind, const std::string& uid, const std::string& name, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const kube::ObjectKey service_;
  mutable absl::Mutex mutex_;
  bool slices_listed_ ABSL_GUARDED_BY(mutex_) = false;
  bool pods_listed_ ABSL_GUARDED_BY(mutex_) = false;
  // By the UIDs of their Pods, in each slice and in all of them.
  std::map<kube::ObjectKey, Endpoints> slices_ ABSL_GUARDED_BY(mutex_);
  Endpoints endpoints_ ABSL_GUARDED_BY(mutex_);
  // UIDs of Pods that were endpoints.
  std::set<std::string> known_ ABSL_GUARDED_BY(mutex_);
  std::map<kube::ObjectKey, Terminating> terminating_ ABSL_GUARDED_BY(mutex_);
  std::vector<Told> told_ ABSL_GUARDED_BY(mutex_);
};

// Watches the Pods (metadata only) and EndpointSlices of the Service's namespace on two
// threads, from Start until the end of its life, and reads each terminating Pod of the
// Service when it changes.
class RolloutWatch {
 public:
  // Blocks until both have been listed, `patience` at most. Errors name the resource and
  // the namespace; NotFound: no such Service. `api` and `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<RolloutWatch>> Start(kube::KubeApi& api, base::Clock& clock,
                                                             const kube::ObjectKey& service,
                                                             absl::Duration patience);
  virtual ~RolloutWatch() = default;

  virtual std::vector<probe::Mark> Marks() const = 0;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_ROLLOUT_WATCH_H_
