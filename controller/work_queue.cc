#include "controller/work_queue.h"

#include "base/clock.h"

namespace controller {

void WorkQueue::Add(const oci::Ocid& key, absl::Time at) {
  absl::MutexLock lock(&mutex_);
  queue_.Add(key, at);
  changed_.Signal();
}

void WorkQueue::Forget(const oci::Ocid& key) {
  absl::MutexLock lock(&mutex_);
  queue_.Forget(key);
}

std::optional<oci::Ocid> WorkQueue::Take() {
  absl::MutexLock lock(&mutex_);
  while (!closed_) {
    std::optional<oci::Ocid> key = queue_.Take(base::RealClock().Now());
    if (key.has_value()) {
      // Another waiter slept until this key was due; the next key is its turn.
      changed_.Signal();
      return key;
    }
    changed_.WaitWithDeadline(&mutex_, queue_.NextDue());
  }
  return std::nullopt;
}

void WorkQueue::Done(const oci::Ocid& key, absl::Time next) {
  absl::MutexLock lock(&mutex_);
  queue_.Done(key, next);
  changed_.Signal();
}

void WorkQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  changed_.SignalAll();
}

}  // namespace controller
