#include "controller/due_queue.h"

#include <algorithm>

namespace controller {

void DueQueue::Set(const oci::Ocid& key, absl::Time at) {
  const auto [it, inserted] = due_.try_emplace(key, at);
  if (!inserted) {
    if (it->second <= at) return;
    order_.erase({it->second, key});
    it->second = at;
  }
  order_.insert({at, key});
}

void DueQueue::Add(const oci::Ocid& key, absl::Time at) {
  const auto taken = taken_.find(key);
  if (taken == taken_.end()) {
    Set(key, at);
    return;
  }
  forgotten_.erase(key);
  taken->second = std::min(taken->second, at);
}

std::optional<oci::Ocid> DueQueue::Take(absl::Time now) {
  if (order_.empty() || order_.begin()->first > now) return std::nullopt;
  const oci::Ocid key = order_.begin()->second;
  order_.erase(order_.begin());
  due_.erase(key);
  taken_[key] = absl::InfiniteFuture();
  return key;
}

void DueQueue::Done(const oci::Ocid& key, absl::Time next) {
  const auto taken = taken_.find(key);
  if (taken == taken_.end()) return;
  const absl::Time at = std::min(taken->second, next);
  taken_.erase(taken);
  if (forgotten_.erase(key) == 0) Set(key, at);
}

void DueQueue::Forget(const oci::Ocid& key) {
  const auto it = due_.find(key);
  if (it != due_.end()) {
    order_.erase({it->second, key});
    due_.erase(it);
  }
  if (taken_.count(key) != 0) forgotten_.insert(key);
}

absl::Time DueQueue::NextDue() const {
  return order_.empty() ? absl::InfiniteFuture() : order_.begin()->first;
}

}  // namespace controller
