// The flags that say how to plan and write, shared by the programs.
#ifndef OCI_BACKEND_DRAIN_CMD_SETTINGS_FLAGS_H_
#define OCI_BACKEND_DRAIN_CMD_SETTINGS_FLAGS_H_

#include "absl/status/statusor.h"
#include "controller/settings.h"

namespace cmd {

// InvalidArgument names the flag and what it takes.
absl::StatusOr<controller::Settings> SettingsFromFlags();

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_SETTINGS_FLAGS_H_
