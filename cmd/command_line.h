// Flags as users expect them: one clear line for a wrong one, and a --help that
// shows this program's flags only.
#ifndef OCI_BACKEND_DRAIN_CMD_COMMAND_LINE_H_
#define OCI_BACKEND_DRAIN_CMD_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cmd {

// Exit status of a program that was called wrongly or cannot begin its work.
inline constexpr int kUsageError = 2;

struct CommandLine {
  bool help = false;                   // --help or -h
  bool version = false;                // --version
  std::vector<std::string> arguments;  // what is not a flag, in order
  std::vector<std::string> files;      // of -f FILE, each time it is there
};

// Sets gflags from "--name=value", "--name value", "--name" and "--noname"; a name
// may have hyphens where the flag has underscores.
// InvalidArgument names the flag, what is wrong and what it takes.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv);

// "  --name=VALUE  text (default: ...)" for each flag defined in a source file
// whose path contains one of `files`, by name.
std::string DescribeFlags(const std::vector<std::string>& files);

// "200ms", "1m30s". InvalidArgument names the flag and what it takes; also for a
// negative duration or one over a day.
absl::StatusOr<absl::Duration> DurationFlag(absl::string_view name, const std::string& text);

// The same code, with "what: " before the message: the flag or file it is about.
absl::Status Prefixed(absl::string_view what, const absl::Status& status);

// Prints "program: message" on standard error and answers kUsageError.
int Complain(absl::string_view program, const absl::Status& status);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_COMMAND_LINE_H_
