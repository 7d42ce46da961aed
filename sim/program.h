// What the fakes have in common when they run as programs.
#ifndef OCI_BACKEND_DRAIN_SIM_PROGRAM_H_
#define OCI_BACKEND_DRAIN_SIM_PROGRAM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sim {

struct DurationRange {
  absl::Duration min;
  absl::Duration max;
};

// "6s-14s", "10s", "0". InvalidArgument for anything else, a negative one and one
// whose end is before its beginning.
absl::StatusOr<DurationRange> ParseDurationRange(const std::string& text);

// The whole file. NotFound or PermissionDenied names the path and the cause.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// With mode 0600, replaced if it exists.
absl::Status WriteFile(const std::string& path, const std::string& text);

// Blocks SIGTERM and SIGINT in the calling thread and those it starts from now on,
// so that WaitForEnd can see them. Before any other thread is started.
void BlockEndSignals();

// Returns on SIGTERM or SIGINT, and with `exit_with_stdin` when standard input
// ends (whoever started the program is gone).
void WaitForEnd(bool exit_with_stdin);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_PROGRAM_H_
