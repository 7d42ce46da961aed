// A program run as a child.
#ifndef OCI_BACKEND_DRAIN_BENCH_CHILD_PROCESS_H_
#define OCI_BACKEND_DRAIN_BENCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace bench {

// Not thread-safe. The child dies with the thread that started it.
class ChildProcess {
 public:
  // Runs `arguments` (the program's path first) with its output in `log_file`.
  // NotFound if there is no such program.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments, const std::string& log_file);
  // SIGTERM; returns once it has ended.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // "VmHWM" or "VmRSS" of /proc/PID/status; 0 if it has ended.
  int64_t MemoryKilobytes(const std::string& field) const;
  // User and system time so far.
  double CpuSeconds() const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
};

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_CHILD_PROCESS_H_
