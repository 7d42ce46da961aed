// A program that is run for what it prints.
#ifndef OCI_BACKEND_DRAIN_KUBE_RUN_COMMAND_H_
#define OCI_BACKEND_DRAIN_KUBE_RUN_COMMAND_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace kube {

struct Command {
  // A path, or a name that is looked up in PATH.
  std::string program;
  std::vector<std::string> arguments;
  // Added to the environment of this process, or in place of what it has.
  std::vector<std::pair<std::string, std::string>> environment;
  absl::Duration timeout = absl::Seconds(30);
  size_t max_output_bytes = 1 << 20;  // of each of the two outputs
};

struct CommandResult {
  int exit_status = 0;  // 128 + n if signal n ended it
  std::string output;
  std::string error_output;
};

// Blocks until the program has ended. Its input is empty. NotFound if it cannot
// be started; DeadlineExceeded or ResourceExhausted if it takes too long or
// prints too much: then it and what it started are killed.
absl::StatusOr<CommandResult> RunCommand(const Command& command, base::Clock& clock);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_RUN_COMMAND_H_
