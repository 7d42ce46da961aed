// What is remembered of each backend of each set.
#ifndef OCI_BACKEND_DRAIN_DRAIN_BACKEND_MAP_H_
#define OCI_BACKEND_DRAIN_DRAIN_BACKEND_MAP_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "oci/types.h"

namespace drain {

// A backend of a set: the key of what is remembered.
struct BackendKey {
  oci::BackendSetName set;
  oci::BackendName backend;
  friend bool operator==(const BackendKey&, const BackendKey&) = default;
  friend auto operator<=>(const BackendKey&, const BackendKey&) = default;
};

// A map from BackendKey for as many as there are backends. A copy costs a counter: it
// shares what it holds, and a set's table is copied when it is edited while it is shared.
// Copies that share are for one thread at a time.
template <typename V>
class BackendMap {
 public:
  // In no order that means anything. Holds strings as absl::string_view finds them.
  using Table = absl::flat_hash_map<std::string, V>;

  // Null if there is none; good until the map is edited.
  const V* Find(const oci::BackendSetName& set, const oci::BackendName& backend) const {
    const Table* table = Of(set);
    if (table == nullptr) return nullptr;
    const auto it = table->find(backend.value());
    return it == table->end() ? nullptr : &it->second;
  }
  const V* Find(const BackendKey& key) const { return Find(key.set, key.backend); }
  bool Contains(const BackendKey& key) const { return Find(key) != nullptr; }

  // What is held of one set; null if nothing is.
  const Table* Of(const oci::BackendSetName& set) const {
    if (sets_ == nullptr) return nullptr;
    const auto it = sets_->find(set);
    return it == sets_->end() ? nullptr : it->second.get();
  }

  // The sets of which something is held.
  std::vector<oci::BackendSetName> Sets() const {
    std::vector<oci::BackendSetName> names;
    if (sets_ == nullptr) return names;
    for (const auto& [name, table] : *sets_) names.push_back(name);
    return names;
  }

  // To be changed; the pointers of Find and Of are invalid afterwards.
  Table& Edit(const oci::BackendSetName& set) {
    std::shared_ptr<Table>& table = Own(sets_)[set];
    return Own(table);
  }
  void Put(const BackendKey& key, V value) {
    Edit(key.set).insert_or_assign(key.backend.value(), std::move(value));
  }
  void Erase(const oci::BackendSetName& set) {
    if (Of(set) != nullptr) Own(sets_).erase(set);
  }

 private:
  template <typename T>
  static T& Own(std::shared_ptr<T>& shared) {
    if (shared == nullptr) {
      shared = std::make_shared<T>();
    } else if (shared.use_count() > 1) {
      shared = std::make_shared<T>(*shared);
    }
    return *shared;
  }

  using SetMap = std::map<oci::BackendSetName, std::shared_ptr<Table>>;
  std::shared_ptr<SetMap> sets_;
};

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_BACKEND_MAP_H_
