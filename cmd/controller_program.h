// oci-drain-controller as a function, so that a test can build it with one thing more.
#ifndef OCI_BACKEND_DRAIN_CMD_CONTROLLER_PROGRAM_H_
#define OCI_BACKEND_DRAIN_CMD_CONTROLLER_PROGRAM_H_

#include <functional>

#include "absl/time/time.h"
#include "health/vitals.h"

namespace cmd {

struct ControllerHooks {
  // Called before there are loops, with what they will tick; it may still change the
  // other hooks.
  std::function<void(health::Vitals& vitals)> on_start;
  // From a wedge to the end of the process.
  absl::Duration farewell = absl::Seconds(30);
};

// main() of the program; answers its exit status. The hooks must outlive the call.
int RunController(int argc, char** argv, const ControllerHooks& hooks = {});

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CONTROLLER_PROGRAM_H_
