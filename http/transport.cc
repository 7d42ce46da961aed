#include "http/transport.h"

#include "absl/strings/match.h"

namespace http {

absl::string_view FindHeader(const Headers& headers, absl::string_view name) {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

namespace {

class SpinGuard {
 public:
  explicit SpinGuard(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinGuard() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void Cancellation::Cancel() {
  std::function<void()> callback;
  {
    SpinGuard guard(lock_);
    cancelled_.store(true, std::memory_order_release);
    callback = std::exchange(callback_, nullptr);
  }
  if (callback) callback();
}

void Cancellation::OnCancel(std::function<void()> callback) {
  {
    SpinGuard guard(lock_);
    if (!cancelled()) {
      callback_ = std::move(callback);
      return;
    }
  }
  if (callback) callback();
}

}  // namespace http
