// Where log lines go, and in which form.
#ifndef OCI_BACKEND_DRAIN_CMD_LOGGING_H_
#define OCI_BACKEND_DRAIN_CMD_LOGGING_H_

#include "absl/status/status.h"

namespace cmd {

// glog to standard error, as text or, by --log_format=json, as one JSON object a
// line {"time","severity","file","line","message"}. Call once, before the first
// line. InvalidArgument if --log_format is neither.
absl::Status StartLogging(const char* program);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_LOGGING_H_
