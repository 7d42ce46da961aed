// What the watches have told, for the controller to ask.
#ifndef OCI_BACKEND_DRAIN_KUBE_STORE_H_
#define OCI_BACKEND_DRAIN_KUBE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/kube_api.h"
#include "kube/reflector.h"
#include "kube/types.h"

namespace kube {

// One object or one deletion, told to the listener after the store has it.
struct StoreChange {
  Resource resource = Resource::kServices;
  ObjectKey key;
  // False for a Pod of which only the resourceVersion moved (a status update):
  // of interest only to who waits for that Pod's status.
  bool content = true;
  // Of an EndpointSlice: its Service; an empty name if a list no longer showed the
  // slice, so that any Service may be meant.
  ObjectKey service = {};
};

// Thread-safe. Each reflector feeds one sink; queries answer values or shared
// immutable objects, so that nothing is locked while the answer is used. No query
// walks over all Pods.
//
//   ClusterStore store(base::RealClock());
//   store.SetListener([&](const StoreChange& change) { queue.Add(...); });
//   auto sink = store.MakeSink(Resource::kPods, "shop");
//   Reflector reflector({Resource::kPods, "shop"}, *sink, random);
//   ...
//   if (store.Synced(Resource::kPods, "shop")) { ... store.FindPod(key) ... }
class ClusterStore {
 public:
  using Listener = std::function<void(const StoreChange&)>;
  // An object that was left out, for an event or a log line.
  using BadObjectListener = std::function<void(Resource, const ObjectKey&, const absl::Status&)>;
  // Whether to keep the objects of this namespace.
  using NamespaceFilter = std::function<bool(absl::string_view ns)>;

  // `clock` must outlive the store.
  explicit ClusterStore(base::Clock& clock);
  ~ClusterStore();
  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  // Before the first sink is fed. Listeners run on the feeding thread, without
  // any lock held; they may query the store.
  void SetListener(Listener listener) { listener_ = std::move(listener); }
  void SetBadObjectListener(BadObjectListener listener) { on_bad_ = std::move(listener); }

  // The sink for the one reflector of (resource, ns); ns empty: all namespaces.
  // What a whole list did not show is removed within that scope. `filter` (may be
  // empty) is asked for each Pod of a watch over all namespaces. The store must
  // outlive the sink.
  std::unique_ptr<ReflectorSink> MakeSink(Resource resource, std::string ns,
                                          NamespaceFilter filter = nullptr);

  // After the reflector of (resource, ns) was stopped: it is not synced any more,
  // and its objects are dropped, but for those that another synced reflector (of
  // their namespace, or of all) watches. The listener is told of each.
  void Forget(Resource resource, const std::string& ns);

  // Whether a whole list was read that covers this namespace: of the namespace
  // itself or of all.
  bool Synced(Resource resource, const std::string& ns) const;

  std::shared_ptr<const Service> FindService(const ObjectKey& key) const;
  // In the order of their keys, these four.
  std::vector<std::shared_ptr<const Service>> Services() const;
  std::vector<std::shared_ptr<const Ingress>> Ingresses() const;
  std::vector<std::shared_ptr<const IngressClass>> IngressClasses() const;
  std::vector<std::shared_ptr<const EndpointSlice>> SlicesOf(const ObjectKey& service) const;

  std::optional<PodMetadata> FindPod(const ObjectKey& pod) const;
  // The Services with an endpoint whose targetRef may be this Pod: none is
  // missing; one too many is possible, though rare.
  std::vector<ObjectKey> ServicesOfPod(const ObjectKey& pod) const;

  // "Deployment" or "StatefulSet".
  std::optional<Workload> FindWorkload(absl::string_view kind, const ObjectKey& key) const;
  // Deployments and StatefulSets whose Pods have a readiness gate of this type.
  std::vector<std::shared_ptr<const Workload>> WorkloadsWithGate(absl::string_view type) const;
  std::optional<ReplicaSetMetadata> FindReplicaSet(const ObjectKey& key) const;

  // When the content (spec, kept annotations, deletion) of an Ingress of this
  // class last changed, by this store's clock: also of one that has gone, or has
  // left the class. Ingresses without a class are under "". What the first list
  // shows is no change. InfinitePast(): none was seen.
  absl::Time LastIngressChange(const std::string& class_name) const;
  absl::Time LastIngressClassChange(const std::string& name) const;

  size_t PodCount() const;

 private:
  class Sink;
  class Tables;

  uint32_t BeginList();
  void Put(const Sink& sink, const ObjectKey& key, Object object);
  void Mark(Resource resource, const ObjectKey& key, uint32_t list);
  void Remove(Resource resource, const ObjectKey& key, const std::string& uid);
  void EndList(Resource resource, const std::string& ns, uint32_t list);
  void Tell(Resource resource, const std::vector<ObjectKey>& keys) const;

  Listener listener_;
  BadObjectListener on_bad_;
  base::Clock& clock_;

  mutable absl::Mutex mutex_;
  const std::unique_ptr<Tables> tables_ ABSL_PT_GUARDED_BY(mutex_);
  uint32_t last_list_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::pair<Resource, std::string>> synced_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_STORE_H_
