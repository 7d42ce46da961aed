// The controller as a child process, and what its log says of its writes.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_PROCESS_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <set>
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
  // The most memory it ever had, in MB of 2^20 bytes; 0 if it has ended.
  double PeakMegabytes() const;
  // SIGTERM, then SIGKILL if it is still there after 10 s. Idempotent.
  void Stop();
  // "exit status 2", "signal 11"; of one that has ended.
  std::string Ending() const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  bool ended_ = false;
  int wait_status_ = 0;
};

// One accepted write of the controller as it logs it.
struct LoggedWrite {
  std::string backend_set;
  std::string reason;
  bool carries_wave = false;
  int waves = 0;  // until then, all sets
  std::string work_request;
};

// From the whole log, as text or as lines of JSON; other lines are skipped.
std::vector<LoggedWrite> ParseLoggedWrites(absl::string_view log);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_PROCESS_H_
