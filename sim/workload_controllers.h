// What kube-controller-manager does with Deployments, ReplicaSets and
// StatefulSets: rolling updates, scaling, replacement, status, garbage.
#ifndef OCI_BACKEND_DRAIN_SIM_WORKLOAD_CONTROLLERS_H_
#define OCI_BACKEND_DRAIN_SIM_WORKLOAD_CONTROLLERS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "sim/json_tree.h"
#include "sim/kube_objects.h"

namespace sim {

inline constexpr char kControllerManager[] = "kube-controller-manager";

// Not thread-safe. `objects` must outlive each of these. Step does what the
// objects call for now; NextDue is when Step has something to do though no object
// changes (minReadySeconds).

// Rolling updates with maxSurge and maxUnavailable, Recreate, scaling, revisions.
class DeploymentController {
 public:
  explicit DeploymentController(KubeObjects& objects) : objects_(objects) {}
  void Step(absl::Time now);

 private:
  struct Family;  // a Deployment and its ReplicaSets

  void Sync(const KubeObject& deployment, absl::Time now);
  KubeObject FindOrCreateNew(const JsonTree& deployment, const std::vector<KubeObject>& old,
                             absl::Time now);
  void SyncRolling(const Family& family, absl::Time now);
  void SyncRecreate(const Family& family, absl::Time now);
  void SyncScale(const Family& family, absl::Time now);
  void ScaleDownOld(const Family& family, int64_t budget, absl::Time now);
  void Scale(const Family& family, const JsonTree& replica_set, int64_t replicas, absl::Time now);
  void PruneHistory(const Family& family, absl::Time now);
  void WriteStatus(const Family& family, absl::Time now);

  KubeObjects& objects_;
};

class ReplicaSetController {
 public:
  ReplicaSetController(KubeObjects& objects, uint64_t seed) : objects_(objects), random_(seed) {}
  void Step(absl::Time now);
  absl::Time NextDue() const { return due_; }

 private:
  void Sync(const KubeObject& replica_set, const std::vector<KubeObject>& pods, absl::Time now);
  void CreatePod(const JsonTree& replica_set, absl::Time now);

  KubeObjects& objects_;
  base::Random random_;
  absl::Time due_ = absl::InfiniteFuture();
};

// Ordered creation, deletion and update, one Pod at a time.
class StatefulSetController {
 public:
  explicit StatefulSetController(KubeObjects& objects) : objects_(objects) {}
  void Step(absl::Time now);

 private:
  void Sync(const KubeObject& stateful_set, absl::Time now);
  void CreatePod(const JsonTree& stateful_set, const std::string& name, const std::string& revision,
                 absl::Time now);

  KubeObjects& objects_;
};

// Removes what the removed have left behind.
class GarbageCollector {
 public:
  explicit GarbageCollector(KubeObjects& objects) : objects_(objects) {}
  void Step(absl::Time now);

 private:
  KubeObjects& objects_;
};

// Pods are available once ready for so long; `due` is lowered to the next moment
// at which one becomes so.
bool IsPodAvailable(const JsonTree& pod, absl::Duration min_ready, absl::Time now, absl::Time& due);

// The Pods (of one namespace) whose controller has this UID.
std::vector<KubeObject> OwnedBy(const std::vector<KubeObject>& objects, const std::string& uid);

// A name's suffix that tells one template from another.
std::string TemplateHash(const JsonTree& pod_template);

// "25%" or a number, of `total`.
int64_t ResolveCount(const JsonTree& value, int64_t total, bool round_up);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_WORKLOAD_CONTROLLERS_H_
