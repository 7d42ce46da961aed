// The thread that drives one reflector.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_WATCHER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_WATCHER_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "health/vitals.h"
#include "http/transport.h"
#include "kube/kube_api.h"
#include "kube/reflector.h"

namespace controller {

// Lists and watches from construction until Stop or destruction.
class Watcher {
 public:
  struct Target {
    kube::Resource resource = kube::Resource::kServices;
    std::string ns;         // empty: all namespaces
    std::string name = {};  // of one object; empty: all
    // "pods in namespace shop"
    std::string ToString() const;
  };
  struct Parts {
    kube::KubeApi& api;
    base::Clock& clock;
    health::Vitals& vitals;
  };

  // All parts must outlive it.
  Watcher(const Parts& parts, const Target& target, std::unique_ptr<kube::ReflectorSink> sink,
          uint64_t seed);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Asks the thread to end, and ends a watch in flight; waits for nothing.
  void Cancel();
  // The same, and joins the thread. Idempotent.
  void Stop();

  struct State {
    bool synced = false;
    absl::Time last_heard;
    absl::Status last_error;  // OK unless it is waiting after one
  };
  State state() const;
  const Target& target() const { return target_; }

 private:
  void Run();
  void Watch(const kube::WatchRequest& request);
  void Publish();

  const Parts parts_;
  const Target target_;
  const std::unique_ptr<kube::ReflectorSink> sink_;
  base::Random random_;
  kube::Reflector reflector_;  // touched by the thread only
  const std::shared_ptr<http::Cancellation> cancellation_;
  std::atomic_flag cancelled_;
  absl::Notification stop_;
  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_WATCHER_H_
