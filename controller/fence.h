// Until when this process may write, to OCI and to Kubernetes.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_FENCE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_FENCE_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace controller {

// Thread-safe, and no call waits. Moments are base::Clock::Monotonic().
class Fence {
 public:
  // Open until then; a moment that is past closes it.
  void OpenUntil(absl::Duration moment) {
    until_ns_.store(absl::ToInt64Nanoseconds(moment), std::memory_order_release);
  }
  // For good, whatever OpenUntil says later.
  void CloseForever() { closed_.store(true, std::memory_order_release); }

  // Right before a write goes out. FailedPrecondition: it must not.
  absl::Status Check(absl::Duration now) const {
    if (closed_.load(std::memory_order_acquire)) {
      return absl::FailedPreconditionError("not written: this process writes no more");
    }
    if (absl::ToInt64Nanoseconds(now) < until_ns_.load(std::memory_order_acquire)) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError("not written: another replica may lead");
  }

 private:
  std::atomic<int64_t> until_ns_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_FENCE_H_
