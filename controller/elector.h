// The threads of the leader election: one that reads and writes the Lease, one that
// watches it.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_ELECTOR_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_ELECTOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "controller/election.h"
#include "controller/fence.h"
#include "controller/watcher.h"
#include "health/vitals.h"
#include "kube/kube_api.h"

namespace controller {

// Start once. Thread-safe.
class Elector {
 public:
  struct Parts {
    // For the Lease alone, with timeouts well below the renew deadline.
    kube::KubeApi& api;
    base::Clock& clock;
    Fence& fence;
    health::Vitals& vitals;
  };
  struct Callbacks {
    // On the lease's thread, without a lock held. The fence is open when a term
    // begins, and closed when on_end is called.
    std::function<void()> on_begin;
    std::function<void()> on_end;
    // Whether nothing of the last term is under way any more.
    std::function<bool()> at_rest;
  };

  // Everything must outlive it.
  Elector(const Parts& parts, const ElectionOptions& options, Callbacks callbacks, uint64_t seed);
  // Ends without a release, if Resign was not called.
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  // `address`: where other replicas reach this one; empty: nowhere.
  void Start(absl::string_view address);

  // No term any more; the lease is released as soon as its thread can. Waits for no
  // call. To be called once writes have ended, or the fence is closed for good.
  void Resign();
  // Waits for the end of that; false: it was not over after `patience`.
  bool AwaitResigned(absl::Duration patience);

  // Who leads, as far as is known; may be empty.
  std::string holder() const;
  // Of this process, as it stands in the Lease while it leads.
  std::string identity() const;
  // Terms of its own that have begun.
  int terms() const;

 private:
  class Sink;

  void Run();
  void Do(const ElectionStep& step);
  // Opens or closes the fence, and calls back when a term has begun or ended.
  void Publish();
  void Observe(const std::optional<kube::Lease>& lease);

  const Parts parts_;
  const ElectionOptions options_;
  const Callbacks callbacks_;
  const uint64_t seed_;
  mutable absl::Mutex mutex_;
  Election election_ ABSL_GUARDED_BY(mutex_);
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  bool resign_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool told_leading_ = false;  // the thread's own
  absl::Notification resigned_;
  std::unique_ptr<Watcher> watcher_;
  std::thread thread_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_ELECTOR_H_
