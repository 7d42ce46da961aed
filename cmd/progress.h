// Says what a command is waiting for, once that takes long.
#ifndef OCI_BACKEND_DRAIN_CMD_PROGRESS_H_
#define OCI_BACKEND_DRAIN_CMD_PROGRESS_H_

#include <ostream>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace cmd {

// A thread of its own, since whoever waits cannot say so.
class Progress {
 public:
  // Nothing is said before `patience` is over, and nothing at all without `out`, which
  // must outlive it.
  Progress(std::ostream* out, absl::Duration patience);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is waited for from now on.
  void Step(absl::string_view what);

 private:
  void Run(absl::Duration patience);

  std::ostream* const out_;
  absl::Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  std::string what_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_PROGRESS_H_
