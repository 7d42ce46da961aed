// The objects of a cluster under one resourceVersion counter, and what happened
// to them: the etcd of the fake API server. No validation, no time, no thread.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_STORE_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/json_tree.h"
#include "sim/kube_resources.h"

namespace sim {

// Stored objects are shared and never change. They hold no kind and apiVersion.
using KubeObject = std::shared_ptr<const JsonTree>;

struct KubeChange {
  enum class Type { kAdded, kModified, kDeleted };
  int64_t resource_version = 0;
  Type type = Type::kAdded;
  KubeObject object;  // of a deletion: its last state, with the deletion's resourceVersion
  KubeObject before;  // null if added
};

// Not thread-safe.
class KubeStore {
 public:
  // What happened up to `first_resource_version` is out of history, as after a
  // start of a real server. `history_per_resource` bounds the changes kept.
  KubeStore(int64_t first_resource_version, size_t history_per_resource);

  // Of the last change of any object.
  int64_t resource_version() const { return resource_version_; }

  // nullptr if it does not exist.
  KubeObject Find(const KubeObjectRef& ref) const;

  // In the order of namespace and name; an empty `ns` means all namespaces.
  std::vector<KubeObject> List(const KubeResource& resource, const std::string& ns) const;
  // The same as it was at `resource_version`; nullopt if that is out of history.
  std::optional<std::vector<KubeObject>> ListAt(const KubeResource& resource, const std::string& ns,
                                                int64_t resource_version) const;

  // Stores `object` (its metadata says where) under a new resourceVersion.
  KubeObject Put(const KubeResource& resource, JsonTree object);
  // Removes it; `last` is what a watch is told, under a new resourceVersion.
  KubeObject Remove(const KubeObjectRef& ref, JsonTree last);

  // Oldest first.
  const std::deque<KubeChange>& History(const KubeResource& resource) const;
  // A watch from before this is too old.
  int64_t Compacted(const KubeResource& resource) const;
  // Forgets the history of every resource.
  void Compact();

  // Counts every change of this resource.
  int64_t Changes(const KubeResource& resource) const;

 private:
  struct Table {
    std::map<std::string, KubeObject> objects;
    std::deque<KubeChange> history;
    int64_t compacted = 0;
    int64_t changes = 0;
  };

  const Table* Get(const KubeResource& resource) const;
  Table& Mutable(const KubeResource& resource);
  void Record(Table& table, KubeChange change);

  std::map<const KubeResource*, Table> tables_;
  int64_t resource_version_;
  const int64_t first_resource_version_;
  const size_t history_per_resource_;
};

// "namespace/name", or "name" of a cluster-scoped object: the order of lists.
std::string StoreKey(const std::string& ns, const std::string& name);
std::string StoreKey(const JsonTree& object);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_STORE_H_
