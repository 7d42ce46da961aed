#include "kube/store_tables.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"

namespace kube {
namespace {

// The name under which changes of Ingresses without a class are kept.
std::string ClassOf(const Ingress& ingress) { return ingress.class_name.value_or(""); }

template <typename T>
bool SameContent(const T* before, const T& after) {
  return before != nullptr && before->uid == after.uid &&
         before->content_hash == after.content_hash;
}

template <typename T>
const std::string& UidOf(const T& object) {
  return object.uid;
}
// A slice is replaced under the same name only by its own controller.
const std::string& UidOf(const EndpointSlice&) {
  static const std::string* const none = new std::string;
  return *none;
}

}  // namespace

void ChangeTimes::Note(const std::string& name, absl::Time now) {
  if (now == absl::InfinitePast()) return;
  times_[name] = now;
  if (times_.size() <= kMaxNames) return;
  times_.erase(std::min_element(times_.begin(), times_.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; }));
}

absl::Time ChangeTimes::Last(const std::string& name) const {
  const auto it = times_.find(name);
  return it == times_.end() ? absl::InfinitePast() : it->second;
}

void SliceIndex::Add(const std::shared_ptr<const EndpointSlice>& slice) {
  if (slice->service.empty()) return;
  const auto [service, is_new] =
      by_service_.try_emplace(ObjectKey{slice->key.ns, slice->service}, SlicesOfService());
  service->second[slice->key.name] = slice;
  for (const Endpoint& endpoint : slice->endpoints) {
    if (endpoint.target_kind != "Pod") continue;
    const ObjectKey pod{endpoint.target_namespace, endpoint.target_name};
    services_by_pod_[absl::HashOf(pod)].push_back(&service->first);
  }
}

void SliceIndex::Remove(const EndpointSlice& slice) {
  const auto service = by_service_.find(ObjectKey{slice.key.ns, slice.service});
  if (service == by_service_.end() || service->second.erase(slice.key.name) == 0) return;
  for (const Endpoint& endpoint : slice.endpoints) {
    if (endpoint.target_kind != "Pod") continue;
    const ObjectKey pod{endpoint.target_namespace, endpoint.target_name};
    const auto services = services_by_pod_.find(absl::HashOf(pod));
    if (services == services_by_pod_.end()) continue;
    const auto it = std::find(services->second.begin(), services->second.end(), &service->first);
    if (it != services->second.end()) services->second.erase(it);
    if (services->second.empty()) services_by_pod_.erase(services);
  }
  if (service->second.empty()) by_service_.erase(service);
}

std::vector<std::shared_ptr<const EndpointSlice>> SliceIndex::SlicesOf(
    const ObjectKey& service) const {
  std::vector<std::shared_ptr<const EndpointSlice>> slices;
  const auto it = by_service_.find(service);
  if (it == by_service_.end()) return slices;
  slices.reserve(it->second.size());
  for (const auto& [name, slice] : it->second) slices.push_back(slice);
  return slices;
}

std::vector<ObjectKey> SliceIndex::ServicesOfPod(const ObjectKey& pod) const {
  std::vector<ObjectKey> services;
  const auto it = services_by_pod_.find(absl::HashOf(pod));
  if (it == services_by_pod_.end()) return services;
  for (const ObjectKey* service : it->second) services.push_back(*service);
  std::sort(services.begin(), services.end());
  services.erase(std::unique(services.begin(), services.end()), services.end());
  return services;
}

auto ClusterStore::Tables::Put(Object object, uint32_t list, absl::Time now) -> Effect {
  return std::visit(
      [&]<typename T>(T&& value) { return PutObject(std::forward<T>(value), list, now); },
      std::move(object));
}

auto ClusterStore::Tables::PutObject(Service service, uint32_t list, absl::Time) -> Effect {
  const ObjectKey key = service.key;
  services.Put(key, std::make_shared<const Service>(std::move(service)), list);
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(Ingress ingress, uint32_t list, absl::Time now) -> Effect {
  const auto after = std::make_shared<const Ingress>(std::move(ingress));
  const auto before = ingresses.Put(after->key, after, list);
  if (SameContent(before.get(), *after)) return Effect::kTouched;
  ingress_changes.Note(ClassOf(*after), now);
  if (before != nullptr) ingress_changes.Note(ClassOf(*before), now);
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(IngressClass ingress_class, uint32_t list, absl::Time now)
    -> Effect {
  const auto after = std::make_shared<const IngressClass>(std::move(ingress_class));
  const auto before = ingress_classes.Put({"", after->name}, after, list);
  if (SameContent(before.get(), *after)) return Effect::kTouched;
  ingress_class_changes.Note(after->name, now);
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(EndpointSlice slice, uint32_t list, absl::Time) -> Effect {
  const auto after = std::make_shared<const EndpointSlice>(std::move(slice));
  const auto before = slices.Put(after->key, after, list);
  if (before != nullptr) slice_index.Remove(*before);
  slice_index.Add(after);
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(const PodMetadata& pod, uint32_t list, absl::Time) -> Effect {
  switch (pods.Put(pod, list)) {
    case PodTable::Change::kNone:
      return Effect::kNone;
    case PodTable::Change::kResourceVersion:
      return Effect::kTouched;
    case PodTable::Change::kContent:
      break;
  }
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(Workload workload, uint32_t list, absl::Time) -> Effect {
  ObjectTable<Workload>& table = workload.kind == "Deployment" ? deployments : stateful_sets;
  const ObjectKey key = workload.key;
  table.Put(key, std::make_shared<const Workload>(std::move(workload)), list);
  return Effect::kContent;
}

auto ClusterStore::Tables::PutObject(ReplicaSetMetadata replica_set, uint32_t list, absl::Time)
    -> Effect {
  const ObjectKey key = replica_set.key;
  replica_sets.Put(key, std::make_shared<const ReplicaSetMetadata>(std::move(replica_set)), list);
  return Effect::kContent;
}

template <typename Visitor>
auto ClusterStore::Tables::WithTable(Resource resource, Visitor visit) {
  switch (resource) {
    case Resource::kIngresses:
      return visit(ingresses);
    case Resource::kIngressClasses:
      return visit(ingress_classes);
    case Resource::kEndpointSlices:
      return visit(slices);
    case Resource::kDeployments:
      return visit(deployments);
    case Resource::kStatefulSets:
      return visit(stateful_sets);
    case Resource::kReplicaSets:
      return visit(replica_sets);
    case Resource::kServices:
    case Resource::kPods:
    case Resource::kLeases:  // are not kept
      break;
  }
  return visit(services);
}

void ClusterStore::Tables::Mark(Resource resource, const ObjectKey& key, uint32_t list) {
  if (resource == Resource::kPods) return pods.Mark(key, list);
  WithTable(resource, [&](auto& table) { table.Mark(key, list); });
}

template <typename T>
bool ClusterStore::Tables::RemoveFrom(ObjectTable<T>& table, const ObjectKey& key,
                                      const std::string& uid, absl::Time now) {
  const auto object = table.Find(key);
  if (object == nullptr) return false;
  const std::string& known = UidOf(*object);
  if (!uid.empty() && !known.empty() && known != uid) return false;
  table.Remove(key);
  Removed(*object, now);
  return true;
}

bool ClusterStore::Tables::Remove(Resource resource, const ObjectKey& key, const std::string& uid,
                                  absl::Time now) {
  if (resource == Resource::kPods) return pods.Remove(key, uid);
  return WithTable(resource, [&](auto& table) { return RemoveFrom(table, key, uid, now); });
}

std::vector<ObjectKey> ClusterStore::Tables::Sweep(Resource resource, const InScope& in_scope,
                                                   uint32_t list, absl::Time now) {
  if (resource == Resource::kPods) return pods.Sweep(in_scope, list);
  std::vector<ObjectKey> gone =
      WithTable(resource, [&](auto& table) { return table.NotIn(in_scope, list); });
  for (const ObjectKey& key : gone) Remove(resource, key, "", now);
  return gone;
}

void ClusterStore::Tables::Removed(const Ingress& ingress, absl::Time now) {
  ingress_changes.Note(ClassOf(ingress), now);
}

void ClusterStore::Tables::Removed(const IngressClass& ingress_class, absl::Time now) {
  ingress_class_changes.Note(ingress_class.name, now);
}

void ClusterStore::Tables::Removed(const EndpointSlice& slice, absl::Time) {
  slice_index.Remove(slice);
}

}  // namespace kube
