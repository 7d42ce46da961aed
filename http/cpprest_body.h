// What the HTTP library's threads and the thread of a call share: the answer's body.
#ifndef OCI_BACKEND_DRAIN_HTTP_CPPREST_BODY_H_
#define OCI_BACKEND_DRAIN_HTTP_CPPREST_BODY_H_

#include <cpprest/streams.h>
#include <pplx/pplxtasks.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace http {

using SteadyClock = std::chrono::steady_clock;

// Thrown where a thread waits for an exchange.
struct DeadlinePassed {};
struct WasCancelled {};
struct BodyTooLarge {};

// One request on its way and its answer. Shared with the library's callbacks, which may
// outlive the call after a timeout. Thread-safe.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // Whoever waits throws WasCancelled, and the library ends the request.
  void Cancel();
  pplx::cancellation_token token() { return source_.get_token(); }

  // Blocks this thread until `task` ends. task.get() would do so without a deadline.
  template <typename T>
  T Await(pplx::task<T> task, SteadyClock::time_point deadline) {
    if (task.is_done()) return task.get();
    auto done = std::make_shared<bool>(false);
    task.then([self = shared_from_this(), done](pplx::task<T> ended) {
      try {
        ended.wait();
      } catch (...) {  // Seen again by get() below; unseen it would end the process.
      }
      absl::MutexLock lock(&self->mutex_);
      *done = true;
      self->changed_.SignalAll();
    });
    {
      absl::MutexLock lock(&mutex_);
      while (!*done) WaitLocked(deadline);
    }
    return task.get();
  }

  // Where the library writes the body. Its own buffer hands each piece on by two tasks,
  // and copies it twice.
  concurrency::streams::ostream MakeSink();

  // The body is over once `ready` ends, well or not.
  void EndWith(const pplx::task<void>& ready);

  // The whole body. Throws how it ended if not well; BodyTooLarge if it is longer than
  // LimitWhole allowed.
  std::string TakeWhole(SteadyClock::time_point deadline);
  // Before the request: nobody takes the body before its end, and it may be so long.
  void LimitWhole(size_t most);
  // So much of it is on its way.
  void Expect(size_t bytes);

  // Waits for a piece of it and takes all that is there; false at the end. What `bytes`
  // held before is gone.
  bool TakeSome(std::string& bytes, SteadyClock::time_point deadline);

 private:
  class Sink;

  // Once; throws.
  void WaitLocked(SteadyClock::time_point deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  pplx::task<size_t> Put(const char* bytes, size_t count);

  pplx::cancellation_token_source source_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::string body_ ABSL_GUARDED_BY(mutex_);  // as far as it has come and was not taken
  std::optional<size_t> most_of_whole_ ABSL_GUARDED_BY(mutex_);
  bool too_large_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> resume_ ABSL_GUARDED_BY(mutex_);  // the library, which waits
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_CPPREST_BODY_H_
