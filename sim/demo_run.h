// One run of the demonstration, from an empty world to its figures.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_RUN_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_RUN_H_

#include <atomic>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/demo_options.h"
#include "sim/demo_report.h"
#include "sim/demo_screen.h"
#include "sim/demo_world.h"

namespace sim {

struct DemoRunPlan {
  std::string name;   // on the screen
  std::string title;  // in a table, where it is clear which Services there are
  bool with_controller = false;
  bool narrate = false;  // its events are shown as they happen
  DemoWorldOptions world;
};

// What the runs have in common.
struct DemoStage {
  const DemoOptions& options;
  std::string controller;  // the program
  DemoScreen& screen;
  const std::atomic<bool>& interrupted;
};

class DemoRun {
 public:
  // `stage` must outlive it. `index` is the run's line on the screen.
  DemoRun(const DemoStage& stage, DemoRunPlan plan, size_t index);

  // Blocks until the rollout is over, patience is, or it is interrupted. An error is
  // a world that could not be set up.
  absl::StatusOr<RunResult> Run();

 private:
  absl::Status SetUp();
  absl::Status WaitForController();
  // When the rollout starts: the same moment of the ingress controller's clock in
  // every run of this seed.
  absl::Time TriggerTime() const;
  void Watch();
  bool HasNeighbour() const { return plan_.world.manifests.size() > 1; }
  bool RolloutsAreOver(absl::Time now) const;
  bool IsOver(absl::Time now);
  void Narrate(absl::Time until);
  void ShowProgress(absl::Time now);
  RunResult Conclude();

  template <typename Condition>
  absl::Status WaitFor(Condition condition, absl::Duration patience, const char* what);

  const DemoStage& stage_;
  const DemoRunPlan plan_;
  const size_t index_;
  std::unique_ptr<DemoWorld> world_;
  std::ofstream timeline_;
  absl::Time connected_;
  absl::Time trigger_;
  absl::Time end_;
  std::vector<std::string> faults_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_RUN_H_
