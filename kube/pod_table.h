// Pods, kept small: a cluster has 100,000 of them and all are watched.
#ifndef OCI_BACKEND_DRAIN_KUBE_POD_TABLE_H_
#define OCI_BACKEND_DRAIN_KUBE_POD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kube/object_table.h"
#include "kube/types.h"

namespace kube {

// Gives back exactly what was put in. A Pod takes about 64 bytes if it is
// ordinary: it has a controlling owner of whose name its own is made
// ("web-5b774487c9" + "-" + up to 8 characters), a UUID, a decimal
// resourceVersion and times in whole seconds. Any other Pod is kept whole.
//
// Each Pod carries the number of the list that last showed it. Not thread-safe.
class PodTable {
 public:
  enum class Change {
    kNone,             // the same as before
    kResourceVersion,  // nothing else than it
    kContent,
  };

  PodTable();
  PodTable(const PodTable&) = delete;
  PodTable& operator=(const PodTable&) = delete;

  Change Put(const PodMetadata& pod, uint32_t list);
  // Marks a Pod as shown by `list`, if it is there.
  void Mark(const ObjectKey& key, uint32_t list);
  // Removes the Pod if it has this UID (any, if `uid` is empty).
  bool Remove(const ObjectKey& key, const std::string& uid);
  // Removes the Pods of those namespaces that `list` did not show.
  std::vector<ObjectKey> Sweep(const InScope& in_scope, uint32_t list);

  std::optional<PodMetadata> Find(const ObjectKey& key) const;
  size_t size() const { return ordinary_.size() + whole_.size(); }

 private:
  struct Owner {
    std::string ns;
    OwnerReference reference;
    uint32_t pods = 0;
  };
  struct Ordinary {
    uint8_t uid[16];
    uint64_t resource_version;
    char tail[8];  // of the name; unused bytes are zero
    uint32_t owner;
    uint32_t list;
    uint32_t deletion_seconds;  // since 1970; 0: not deleted
    int32_t grace_seconds;
  };
  static_assert(sizeof(Ordinary) == 48);
  struct Whole {
    PodMetadata pod;
    uint32_t list = 0;
  };
  struct Hash {
    using is_transparent = void;
    const PodTable* table;
    size_t operator()(const Ordinary& pod) const;
    size_t operator()(const ObjectKey& key) const;
  };
  struct Equal {
    using is_transparent = void;
    const PodTable* table;
    bool operator()(const Ordinary& a, const Ordinary& b) const;
    bool operator()(const Ordinary& a, const ObjectKey& b) const;
    bool operator()(const ObjectKey& a, const Ordinary& b) const { return (*this)(b, a); }
  };

  // All but owner and list; nullopt if the Pod is not ordinary.
  static std::optional<Ordinary> Compress(const PodMetadata& pod);
  PodMetadata Expand(const Ordinary& pod) const;
  // The owner's index with one more Pod; nullopt if its UID is already known with
  // another name.
  std::optional<uint32_t> AddToOwner(const PodMetadata& pod);
  void RemoveFromOwner(uint32_t index);
  void Erase(const ObjectKey& key);

  std::deque<Owner> owners_;
  std::vector<uint32_t> free_owners_;
  absl::flat_hash_map<std::string, uint32_t> owner_by_uid_;
  absl::flat_hash_set<Ordinary, Hash, Equal> ordinary_;
  absl::flat_hash_map<ObjectKey, Whole> whole_;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_POD_TABLE_H_
