// A program run as a child.
#ifndef OCI_BACKEND_DRAIN_SIM_CHILD_PROCESS_H_
#define OCI_BACKEND_DRAIN_SIM_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sim {

// Not thread-safe. The child dies with the thread that started it.
class ChildProcess {
 public:
  // Runs `arguments` (the program's path first) with standard input from nowhere
  // and its output in `log_file`. NotFound if there is no such program.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments, const std::string& log_file);
  // Stops.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool running();
  // Sends it a signal, if it runs.
  void Signal(int number);
  // Resident memory in MB of 2^20 bytes, the most it ever had and what it has now;
  // 0 if it has ended.
  double PeakMegabytes() const { return Megabytes("VmHWM"); }
  double ResidentMegabytes() const { return Megabytes("VmRSS"); }
  // User and system time so far; 0 if it has ended.
  double CpuSeconds() const;
  // SIGTERM, then SIGKILL if it is still there after 10 s. Idempotent.
  void Stop();
  // "exit status 2", "signal 11"; of one that has ended.
  std::string Ending() const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  double Megabytes(absl::string_view field) const;

  pid_t pid_;
  bool ended_ = false;
  int wait_status_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CHILD_PROCESS_H_
