// `oci-drain calibrate`: what is not documented of a load balancer, measured on
// one.
#ifndef OCI_BACKEND_DRAIN_CMD_CALIBRATE_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_CALIBRATE_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"

namespace cmd {

// Exit statuses, beside 0 for all measured and put back.
inline constexpr int kNotCalibrated = 4;  // ended early, or something is left behind
inline constexpr int kCalibrationInterrupted = 130;

// By flags. An error is a refusal before anything was written. On SIGINT and
// SIGTERM what was changed is put back; a second one ends the process where it
// is.
absl::StatusOr<int> RunCalibrate(const std::string& output);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CALIBRATE_COMMAND_H_
