// Several measurements of the laboratory at a time, and the folders they need.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_LAB_CELLS_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_LAB_CELLS_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/lab/lab_run.h"

namespace sim {

absl::string_view ApplicationName(Application application);
absl::string_view HelpName(Help help);

// One measurement, and what came of it.
struct LabCell {
  std::string name;  // of its folder, without spaces
  LabOptions options;
  LabLoad load;
  absl::StatusOr<LabResult> result = absl::UnknownError("it was not run");
};

// The programs that were built beside this one, by the path of its file. NotFound names
// the one that is missing.
absl::StatusOr<LabPrograms> FindLabPrograms();

// Runs all of them, `jobs` at a time, each in a folder of its own below `folder`, which
// must exist. `on_done` is called as each ends, one at a time.
void RunCells(const std::string& folder, int jobs, const std::atomic<bool>& interrupted,
              const std::function<void(const LabCell&)>& on_done, std::vector<LabCell>& cells);

// A new folder for logs in the system's place for such; Unavailable if there is none.
absl::StatusOr<std::string> MakeLabFolder();

// The first error of a cell. Cancelled only if there is no other.
absl::Status FirstError(const std::vector<LabCell>& cells);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_LAB_CELLS_H_
