#include "controller/work_queue.h"

#include <algorithm>

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

std::optional<oci::Ocid> WorkQueue::Take(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  const absl::Time end = base::RealClock().Now() + patience;
  for (;;) {
    const absl::Time now = base::RealClock().Now();
    if (closed_ || now >= end) return std::nullopt;
    std::optional<oci::Ocid> key = paused_ ? std::nullopt : queue_.Take(now);
    if (key.has_value()) {
      // Another waiter slept until this key was due; the next key is its turn.
      changed_.Signal();
      return key;
    }
    changed_.WaitWithDeadline(&mutex_, paused_ ? end : std::min(queue_.NextDue(), end));
  }
}

void WorkQueue::Pause(bool paused) {
  absl::MutexLock lock(&mutex_);
  paused_ = paused;
  changed_.SignalAll();
}

bool WorkQueue::AtRest() const {
  absl::MutexLock lock(&mutex_);
  return queue_.taken() == 0;
}

int WorkQueue::waiting() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(queue_.waiting());
}

bool WorkQueue::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
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
