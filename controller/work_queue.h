// DueQueue for threads: workers wait for the next key that is due.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_WORK_QUEUE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_WORK_QUEUE_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "controller/due_queue.h"
#include "oci/types.h"

namespace controller {

// Thread-safe. Times are those of the machine's clock.
class WorkQueue {
 public:
  void Add(const oci::Ocid& key, absl::Time at);
  void Forget(const oci::Ocid& key);

  // Blocks until a key is due, at most for `patience`: then, while it is paused and
  // once Close was called, nothing.
  std::optional<oci::Ocid> Take(absl::Duration patience);
  void Done(const oci::Ocid& key, absl::Time next);

  // While it is paused no key is due.
  void Pause(bool paused);
  // Nothing is taken and not yet Done.
  bool AtRest() const;
  // Keys that wait to be due.
  int waiting() const;

  // Wakes all who wait. What is taken may still be Done.
  void Close();
  bool closed() const;

 private:
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  DueQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool paused_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_WORK_QUEUE_H_
