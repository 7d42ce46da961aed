// How long something has been as it should not be.
#ifndef OCI_BACKEND_DRAIN_SIM_OVERDUE_H_
#define OCI_BACKEND_DRAIN_SIM_OVERDUE_H_

#include <map>
#include <optional>
#include <set>

#include "absl/time/time.h"

namespace sim {

// One clock for each key, which runs while the key is wrong and time counts.
template <typename Key>
class Overdue {
 public:
  explicit Overdue(absl::Duration bound) : bound_(bound) {}

  // `since_last`: the time since the last call, during which what it was told then
  // was so. A key that is not wrong any more begins anew. Answers a key that has
  // been wrong for longer than the bound and `slack`.
  std::optional<Key> Note(const std::set<Key>& wrong, absl::Duration since_last, bool counts,
                          absl::Duration slack) {
    std::optional<Key> late;
    if (counted_) {
      for (auto& [key, time] : wrong_for_) {
        time += since_last;
        if (time > bound_ + slack) late = key;
      }
    }
    counted_ = counts;
    std::erase_if(wrong_for_, [&](const auto& item) { return wrong.count(item.first) == 0; });
    for (const Key& key : wrong) wrong_for_.try_emplace(key, absl::ZeroDuration());
    return late;
  }

 private:
  const absl::Duration bound_;
  bool counted_ = false;  // since the last call
  std::map<Key, absl::Duration> wrong_for_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_OVERDUE_H_
