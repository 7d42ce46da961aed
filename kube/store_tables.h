// The tables behind ClusterStore, without lock and listener. For store.cc.
#ifndef OCI_BACKEND_DRAIN_KUBE_STORE_TABLES_H_
#define OCI_BACKEND_DRAIN_KUBE_STORE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "kube/kube_api.h"
#include "kube/object_table.h"
#include "kube/pod_table.h"
#include "kube/store.h"
#include "kube/types.h"

namespace kube {

// When something named by a string last changed. Bounded: what changed longest
// ago is forgotten first.
class ChangeTimes {
 public:
  void Note(const std::string& name, absl::Time now);
  absl::Time Last(const std::string& name) const;

 private:
  static constexpr size_t kMaxNames = 1024;
  std::map<std::string, absl::Time> times_;
};

// EndpointSlices by Service, and Services by the Pods that their slices name.
class SliceIndex {
 public:
  void Add(const std::shared_ptr<const EndpointSlice>& slice);
  void Remove(const EndpointSlice& slice);

  std::vector<std::shared_ptr<const EndpointSlice>> SlicesOf(const ObjectKey& service) const;
  std::vector<ObjectKey> ServicesOfPod(const ObjectKey& pod) const;

 private:
  // By the slice's name.
  using SlicesOfService = std::map<std::string, std::shared_ptr<const EndpointSlice>>;

  std::map<ObjectKey, SlicesOfService> by_service_;
  // By a hash of the Pod's key, once for each endpoint; points to keys of
  // by_service_, which do not move.
  absl::flat_hash_map<size_t, absl::InlinedVector<const ObjectKey*, 1>> services_by_pod_;
};

class ClusterStore::Tables {
 public:
  enum class Effect {
    kNone,
    kTouched,  // nothing that a decision rests on, but for a Pod's resourceVersion
    kContent,
  };

  // `now` dates a change of an Ingress or IngressClass; InfinitePast(): it is not
  // one but what a first list shows.
  Effect Put(Object object, uint32_t list, absl::Time now);
  void Mark(Resource resource, const ObjectKey& key, uint32_t list);
  // Whether there was such an object, with that UID unless it is empty.
  bool Remove(Resource resource, const ObjectKey& key, const std::string& uid, absl::Time now);
  // Removes the objects of those namespaces that `list` did not show.
  std::vector<ObjectKey> Sweep(Resource resource, const InScope& in_scope, uint32_t list,
                               absl::Time now);

  ObjectTable<Service> services;
  ObjectTable<Ingress> ingresses;
  ObjectTable<IngressClass> ingress_classes;
  ObjectTable<EndpointSlice> slices;
  ObjectTable<Workload> deployments;
  ObjectTable<Workload> stateful_sets;
  ObjectTable<ReplicaSetMetadata> replica_sets;
  PodTable pods;
  SliceIndex slice_index;
  ChangeTimes ingress_changes;
  ChangeTimes ingress_class_changes;

 private:
  Effect PutObject(Service service, uint32_t list, absl::Time now);
  Effect PutObject(Ingress ingress, uint32_t list, absl::Time now);
  Effect PutObject(IngressClass ingress_class, uint32_t list, absl::Time now);
  Effect PutObject(EndpointSlice slice, uint32_t list, absl::Time now);
  Effect PutObject(const PodMetadata& pod, uint32_t list, absl::Time now);
  Effect PutObject(Workload workload, uint32_t list, absl::Time now);
  Effect PutObject(ReplicaSetMetadata replica_set, uint32_t list, absl::Time now);
  // Nobody asks the store for a Lease: its watch has a sink of its own.
  Effect PutObject(const Lease&, uint32_t, absl::Time) { return Effect::kNone; }

  // Calls visit(table) with the table of a resource other than kPods.
  template <typename Visitor>
  auto WithTable(Resource resource, Visitor visit);
  template <typename T>
  bool RemoveFrom(ObjectTable<T>& table, const ObjectKey& key, const std::string& uid,
                  absl::Time now);

  void Removed(const Ingress& ingress, absl::Time now);
  void Removed(const IngressClass& ingress_class, absl::Time now);
  void Removed(const EndpointSlice& slice, absl::Time now);
  template <typename T>
  void Removed(const T&, absl::Time) {}
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_STORE_TABLES_H_
