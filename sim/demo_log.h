// What the controller's log says of its writes.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_LOG_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_LOG_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sim {

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

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_LOG_H_
