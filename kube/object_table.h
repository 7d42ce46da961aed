// Objects by key, each shared with whoever asked for it.
#ifndef OCI_BACKEND_DRAIN_KUBE_OBJECT_TABLE_H_
#define OCI_BACKEND_DRAIN_KUBE_OBJECT_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/types.h"

namespace kube {

// Whether a list speaks of this namespace.
using InScope = std::function<bool(const std::string& ns)>;

// Each object carries the number of the list that last showed it. Not
// thread-safe.
template <typename T>
class ObjectTable {
 public:
  using Pointer = std::shared_ptr<const T>;

  // The object that was there before, or nullptr.
  Pointer Put(const ObjectKey& key, Pointer object, uint32_t list) {
    Entry& entry = entries_[key];
    entry.list = list;
    return std::exchange(entry.object, std::move(object));
  }

  void Mark(const ObjectKey& key, uint32_t list) {
    const auto it = entries_.find(key);
    if (it != entries_.end()) it->second.list = list;
  }

  // The object that was there, or nullptr.
  Pointer Remove(const ObjectKey& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return nullptr;
    Pointer object = std::move(it->second.object);
    entries_.erase(it);
    return object;
  }

  Pointer Find(const ObjectKey& key) const {
    const auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : it->second.object;
  }

  // Keys in those namespaces that `list` did not show.
  std::vector<ObjectKey> NotIn(const InScope& in_scope, uint32_t list) const {
    std::vector<ObjectKey> keys;
    for (const auto& [key, entry] : entries_) {
      if (entry.list != list && in_scope(key.ns)) keys.push_back(key);
    }
    return keys;
  }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [key, entry] : entries_) visit(entry.object);
  }

  std::vector<Pointer> All() const {
    std::vector<Pointer> objects;
    objects.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) objects.push_back(entry.object);
    return objects;
  }

 private:
  struct Entry {
    Pointer object;
    uint32_t list = 0;
  };
  std::map<ObjectKey, Entry> entries_;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_OBJECT_TABLE_H_
