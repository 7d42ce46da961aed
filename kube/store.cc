#include "kube/store.h"

#include <algorithm>
#include <utility>

#include "kube/store_tables.h"

namespace kube {
namespace {

struct KeyOfObject {
  ObjectKey operator()(const IngressClass& object) const { return {"", object.name}; }
  template <typename T>
  ObjectKey operator()(const T& object) const {
    return object.key;
  }
};

// Empty but for an EndpointSlice.
ObjectKey ServiceOf(const Object& object) {
  const auto* slice = std::get_if<EndpointSlice>(&object);
  return slice == nullptr ? ObjectKey{} : ObjectKey{slice->key.ns, slice->service};
}

}  // namespace

class ClusterStore::Sink final : public ReflectorSink {
 public:
  Sink(ClusterStore& store, Resource resource, std::string ns, NamespaceFilter filter)
      : store_(store), resource_(resource), ns_(std::move(ns)), filter_(std::move(filter)) {}

  void OnListBegin() override { list_ = store_.BeginList(); }
  void OnListEnd() override { store_.EndList(resource_, ns_, list_); }

  void OnObject(Object object) override {
    const ObjectKey key = std::visit(KeyOfObject(), object);
    if (filter_ && !filter_(key.ns)) return;
    store_.Put(*this, key, std::move(object));
  }

  void OnDeleted(const ObjectKey& key, const std::string& uid) override {
    store_.Remove(resource_, key, uid);
  }

  void OnBadObject(const ObjectKey& key, const absl::Status& why) override {
    if (filter_ && !filter_(key.ns)) return;
    store_.Mark(resource_, key, list_);
    if (store_.on_bad_) store_.on_bad_(resource_, key, why);
  }

 private:
  friend class ClusterStore;

  ClusterStore& store_;
  const Resource resource_;
  const std::string ns_;
  const NamespaceFilter filter_;
  uint32_t list_ = 0;
};

ClusterStore::ClusterStore(base::Clock& clock)
    : clock_(clock), tables_(std::make_unique<Tables>()) {}

ClusterStore::~ClusterStore() = default;

std::unique_ptr<ReflectorSink> ClusterStore::MakeSink(Resource resource, std::string ns,
                                                      NamespaceFilter filter) {
  return std::make_unique<Sink>(*this, resource, std::move(ns), std::move(filter));
}

uint32_t ClusterStore::BeginList() {
  absl::MutexLock lock(&mutex_);
  return ++last_list_;
}

void ClusterStore::Put(const Sink& sink, const ObjectKey& key, Object object) {
  Tables::Effect effect;
  const ObjectKey service = ServiceOf(object);
  {
    absl::MutexLock lock(&mutex_);
    const bool is_change = synced_.contains({sink.resource_, sink.ns_});
    effect = tables_->Put(std::move(object), sink.list_,
                          is_change ? clock_.Now() : absl::InfinitePast());
  }
  if (effect == Tables::Effect::kNone || !listener_) return;
  listener_({sink.resource_, key, effect == Tables::Effect::kContent, service});
}

void ClusterStore::Mark(Resource resource, const ObjectKey& key, uint32_t list) {
  absl::MutexLock lock(&mutex_);
  tables_->Mark(resource, key, list);
}

void ClusterStore::Remove(Resource resource, const ObjectKey& key, const std::string& uid) {
  ObjectKey service;
  {
    absl::MutexLock lock(&mutex_);
    if (resource == Resource::kEndpointSlices) {
      const std::shared_ptr<const EndpointSlice> slice = tables_->slices.Find(key);
      if (slice != nullptr) service = {key.ns, slice->service};
    }
    if (!tables_->Remove(resource, key, uid, clock_.Now())) return;
  }
  if (listener_) listener_({resource, key, /*content=*/true, service});
}

void ClusterStore::EndList(Resource resource, const std::string& ns, uint32_t list) {
  std::vector<ObjectKey> gone;
  {
    absl::MutexLock lock(&mutex_);
    const auto in_scope = [&](const std::string& of) { return ns.empty() || of == ns; };
    gone = tables_->Sweep(resource, in_scope, list, clock_.Now());
    synced_.emplace(resource, ns);
  }
  Tell(resource, gone);
}

void ClusterStore::Forget(Resource resource, const std::string& ns) {
  std::vector<ObjectKey> gone;
  {
    absl::MutexLock lock(&mutex_);
    synced_.erase({resource, ns});
    const bool all_are_watched = synced_.contains({resource, ""});
    const auto in_scope = [&](const std::string& of) ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return (ns.empty() || of == ns) && !all_are_watched && !synced_.contains({resource, of});
    };
    gone = tables_->Sweep(resource, in_scope, ++last_list_, clock_.Now());
  }
  Tell(resource, gone);
}

void ClusterStore::Tell(Resource resource, const std::vector<ObjectKey>& keys) const {
  if (!listener_) return;
  for (const ObjectKey& key : keys) listener_({resource, key, /*content=*/true, {}});
}

bool ClusterStore::Synced(Resource resource, const std::string& ns) const {
  absl::MutexLock lock(&mutex_);
  return synced_.contains({resource, ns}) || synced_.contains({resource, ""});
}

std::shared_ptr<const Service> ClusterStore::FindService(const ObjectKey& key) const {
  absl::MutexLock lock(&mutex_);
  return tables_->services.Find(key);
}

std::vector<std::shared_ptr<const Service>> ClusterStore::Services() const {
  absl::MutexLock lock(&mutex_);
  return tables_->services.All();
}

std::vector<std::shared_ptr<const Ingress>> ClusterStore::Ingresses() const {
  absl::MutexLock lock(&mutex_);
  return tables_->ingresses.All();
}

std::vector<std::shared_ptr<const IngressClass>> ClusterStore::IngressClasses() const {
  absl::MutexLock lock(&mutex_);
  return tables_->ingress_classes.All();
}

std::vector<std::shared_ptr<const EndpointSlice>> ClusterStore::SlicesOf(
    const ObjectKey& service) const {
  absl::MutexLock lock(&mutex_);
  return tables_->slice_index.SlicesOf(service);
}

std::optional<PodMetadata> ClusterStore::FindPod(const ObjectKey& pod) const {
  absl::MutexLock lock(&mutex_);
  return tables_->pods.Find(pod);
}

std::vector<ObjectKey> ClusterStore::ServicesOfPod(const ObjectKey& pod) const {
  absl::MutexLock lock(&mutex_);
  return tables_->slice_index.ServicesOfPod(pod);
}

std::optional<Workload> ClusterStore::FindWorkload(absl::string_view kind,
                                                   const ObjectKey& key) const {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<const Workload> workload;
  if (kind == "Deployment") workload = tables_->deployments.Find(key);
  if (kind == "StatefulSet") workload = tables_->stateful_sets.Find(key);
  if (workload == nullptr) return std::nullopt;
  return *workload;
}

std::vector<std::shared_ptr<const Workload>> ClusterStore::WorkloadsWithGate(
    absl::string_view type) const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<const Workload>> found;
  for (const ObjectTable<Workload>* table : {&tables_->deployments, &tables_->stateful_sets}) {
    table->ForEach([&](const std::shared_ptr<const Workload>& workload) {
      const std::vector<std::string>& gates = workload->readiness_gates;
      if (std::find(gates.begin(), gates.end(), type) != gates.end()) found.push_back(workload);
    });
  }
  return found;
}

std::optional<ReplicaSetMetadata> ClusterStore::FindReplicaSet(const ObjectKey& key) const {
  absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const ReplicaSetMetadata> set = tables_->replica_sets.Find(key);
  if (set == nullptr) return std::nullopt;
  return *set;
}

absl::Time ClusterStore::LastIngressChange(const std::string& class_name) const {
  absl::MutexLock lock(&mutex_);
  return tables_->ingress_changes.Last(class_name);
}

absl::Time ClusterStore::LastIngressClassChange(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  return tables_->ingress_class_changes.Last(name);
}

size_t ClusterStore::PodCount() const {
  absl::MutexLock lock(&mutex_);
  return tables_->pods.size();
}

}  // namespace kube
