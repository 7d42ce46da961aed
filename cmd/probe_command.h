// oci-drain probe: requests while something is rolled out, and what became of them.
#ifndef OCI_BACKEND_DRAIN_CMD_PROBE_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_PROBE_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "probe/probe.h"

namespace cmd {

// Exit statuses of the command.
inline constexpr int kProbeClean = 0;
inline constexpr int kProbeFailed = 1;         // a request failed
inline constexpr int kProbeControlFailed = 3;  // in the control run: nothing was measured
inline constexpr int kProbeOwnFailure = 4;     // only the probe itself failed
inline constexpr int kProbeInterrupted = 130;

// Sets host, port, TLS and target from "http://host:port/path?query".
// InvalidArgument says what is wrong.
absl::Status SetProbeUrl(absl::string_view url, probe::Options& options);

// By the flags of probe_command.cc: the control run, the run, the report. `output` is
// "text" or "json". Answers the exit status.
absl::StatusOr<int> RunProbe(const std::string& url, const std::string& output);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_PROBE_COMMAND_H_
