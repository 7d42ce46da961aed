// The mapping of Services to backend sets, kept up to date with the stores.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_TOPOLOGY_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_TOPOLOGY_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "controller/mapping.h"
#include "controller/settings.h"
#include "kube/store.h"
#include "oci/types.h"

namespace controller {

// A value of an annotation that is not understood; it counts as absent.
struct BadAnnotation {
  kube::ObjectReference object;
  std::string what;  // one line: key, value, what is allowed
  friend auto operator<=>(const BadAnnotation&, const BadAnnotation&) = default;
};

// One state of the cluster's Ingress side. Immutable.
struct TopologyView {
  Mapping mapping;
  std::map<kube::ObjectKey, std::set<oci::Ocid>> load_balancers_of_service;
  // Namespaces with a Service that opted in and is mapped.
  std::set<std::string> pod_namespaces;
  // On mapped Services and on classes of this controller.
  std::set<BadAnnotation> bad_annotations;
};

// Thread-safe.
class Topology {
 public:
  // Both must outlive it.
  Topology(const kube::ClusterStore& store, const Settings& settings);

  // Something that the mapping rests on changed. Waits for no computation: a watch calls
  // it for each object of a list, and each would wait for a whole one.
  void MarkDirty();

  // Computes the view anew if it is dirty. The same pointer as before if not. One at a
  // time: who comes meanwhile waits for the result.
  std::shared_ptr<const TopologyView> View();

  // The last view computed, dirty or not; null before the first. Waits for none.
  std::shared_ptr<const TopologyView> Last();

 private:
  std::shared_ptr<const TopologyView> Compute() const;

  const kube::ClusterStore& store_;
  const Settings& settings_;
  // Held while a view is computed; taken before mutex_.
  absl::Mutex compute_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  absl::Mutex mutex_;
  bool dirty_ ABSL_GUARDED_BY(mutex_) = true;
  std::shared_ptr<const TopologyView> view_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_TOPOLOGY_H_
