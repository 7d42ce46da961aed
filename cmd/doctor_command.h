// `oci-drain doctor`: whether drains can work here, and what to mend.
#ifndef OCI_BACKEND_DRAIN_CMD_DOCTOR_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_DOCTOR_COMMAND_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "cmd/diagnosis.h"
#include "cmd/live_commands.h"

namespace cmd {

// Prints a line for each finding as it comes, or one JSON object at the end. What cannot
// be asked is a finding, too; an error is only a flag that is wrong. `progress` may be
// null. Answers whether there is no problem. Writes nothing.
absl::StatusOr<bool> RunDoctor(const LiveOptions& options, DiagnosisStyle style, std::ostream& out,
                               std::ostream* progress);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_DOCTOR_COMMAND_H_
