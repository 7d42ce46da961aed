#include "sim/kube_store.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sim {
namespace {

std::vector<KubeObject> InNamespace(const std::map<std::string, KubeObject>& objects,
                                    const std::string& ns) {
  std::vector<KubeObject> out;
  const std::string prefix = ns.empty() ? "" : ns + "/";
  for (auto it = objects.lower_bound(prefix);
       it != objects.end() && absl::StartsWith(it->first, prefix); ++it) {
    out.push_back(it->second);
  }
  return out;
}

}  // namespace

std::string StoreKey(const std::string& ns, const std::string& name) {
  return ns.empty() ? name : absl::StrCat(ns, "/", name);
}

std::string StoreKey(const JsonTree& object) {
  const JsonTree& metadata = object["metadata"];
  return StoreKey(metadata["namespace"].AsString(), metadata["name"].AsString());
}

KubeStore::KubeStore(int64_t first_resource_version, size_t history_per_resource)
    : resource_version_(first_resource_version),
      first_resource_version_(first_resource_version),
      history_per_resource_(history_per_resource) {}

const KubeStore::Table* KubeStore::Get(const KubeResource& resource) const {
  const auto found = tables_.find(&resource);
  return found == tables_.end() ? nullptr : &found->second;
}

KubeStore::Table& KubeStore::Mutable(const KubeResource& resource) {
  const auto [it, is_new] = tables_.try_emplace(&resource);
  if (is_new) it->second.compacted = first_resource_version_;
  return it->second;
}

KubeObject KubeStore::Find(const KubeObjectRef& ref) const {
  const Table* table = Get(*ref.resource);
  if (table == nullptr) return nullptr;
  const auto found = table->objects.find(StoreKey(ref.ns, ref.name));
  return found == table->objects.end() ? nullptr : found->second;
}

std::vector<KubeObject> KubeStore::List(const KubeResource& resource, const std::string& ns) const {
  const Table* table = Get(resource);
  return table == nullptr ? std::vector<KubeObject>() : InNamespace(table->objects, ns);
}

std::optional<std::vector<KubeObject>> KubeStore::ListAt(const KubeResource& resource,
                                                         const std::string& ns,
                                                         int64_t resource_version) const {
  if (resource_version < Compacted(resource)) return std::nullopt;
  const Table* table = Get(resource);
  if (table == nullptr) return std::vector<KubeObject>();
  std::map<std::string, KubeObject> objects = table->objects;
  for (auto it = table->history.rbegin();
       it != table->history.rend() && it->resource_version > resource_version; ++it) {
    const std::string key = StoreKey(*it->object);
    if (it->before == nullptr) {
      objects.erase(key);
    } else {
      objects[key] = it->before;
    }
  }
  return InNamespace(objects, ns);
}

KubeObject KubeStore::Put(const KubeResource& resource, JsonTree object) {
  Table& table = Mutable(resource);
  const std::string key = StoreKey(object);
  object.Child("metadata").Set("resourceVersion", absl::StrCat(++resource_version_));
  auto stored = std::make_shared<const JsonTree>(std::move(object));
  KubeObject before = std::exchange(table.objects[key], stored);
  const auto type = before == nullptr ? KubeChange::Type::kAdded : KubeChange::Type::kModified;
  Record(table, {resource_version_, type, stored, std::move(before)});
  return stored;
}

KubeObject KubeStore::Remove(const KubeObjectRef& ref, JsonTree last) {
  Table& table = Mutable(*ref.resource);
  const auto found = table.objects.find(StoreKey(ref.ns, ref.name));
  if (found == table.objects.end()) return nullptr;
  last.Child("metadata").Set("resourceVersion", absl::StrCat(++resource_version_));
  auto gone = std::make_shared<const JsonTree>(std::move(last));
  Record(table, {resource_version_, KubeChange::Type::kDeleted, gone, found->second});
  table.objects.erase(found);
  return gone;
}

const std::deque<KubeChange>& KubeStore::History(const KubeResource& resource) const {
  static const std::deque<KubeChange>* const none = new std::deque<KubeChange>();
  const Table* table = Get(resource);
  return table == nullptr ? *none : table->history;
}

int64_t KubeStore::Compacted(const KubeResource& resource) const {
  const Table* table = Get(resource);
  return table == nullptr ? first_resource_version_ : table->compacted;
}

void KubeStore::Compact() {
  for (const KubeResource& resource : KubeResources()) {
    Table& table = Mutable(resource);
    table.history.clear();
    table.compacted = resource_version_;
  }
}

int64_t KubeStore::Changes(const KubeResource& resource) const {
  const Table* table = Get(resource);
  return table == nullptr ? 0 : table->changes;
}

void KubeStore::Record(Table& table, KubeChange change) {
  ++table.changes;
  table.history.push_back(std::move(change));
  while (table.history.size() > history_per_resource_) {
    table.compacted = table.history.front().resource_version;
    table.history.pop_front();
  }
}

}  // namespace sim
