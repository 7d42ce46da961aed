// One rolling update, over and over: each time another of the controller's calls
// meets a failure, or is the last one of its process.
#ifndef OCI_BACKEND_DRAIN_SIM_SWEEP_H_
#define OCI_BACKEND_DRAIN_SIM_SWEEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/scenario.h"
#include "sim/scenario_run.h"

namespace sim {

enum class Extent {
  kOnce,       // that call
  kForAWhile,  // it and all that follow within a minute
  kForever,    // then only what must never happen is looked for
};
absl::string_view ExtentName(Extent extent);

// What is run: every kind to every extent that it has, at every call that can suffer
// from it.
struct SweepCase {
  ActKind kind = ActKind::kOci503;
  Extent extent = Extent::kOnce;
  friend auto operator<=>(const SweepCase&, const SweepCase&) = default;
};

// The rolling update itself, without a failure.
Scenario SweepScenario();

struct SweepFailure {
  Scenario scenario;
  Breach breach;
};

struct SweepOptions {
  // Only every so many-th run, beginning with the `offset`-th.
  int stride = 1;
  int offset = 0;
  size_t max_failures = 20;  // it stops after so many
};

struct SweepResult {
  int calls = 0;     // of the run without a failure
  int64_t all = 0;   // runs that there are
  int64_t runs = 0;  // that were made
  // Of those: a single failure that showed no effect, which is a defect of the sweep.
  int64_t without_effect = 0;
  absl::Duration virtual_time;
  std::map<SweepCase, int> runs_of;
  std::vector<SweepFailure> failures;
};

// `on_run`, if any, is called after each run. Not thread-safe.
SweepResult RunSweep(const SweepOptions& options,
                     const std::function<void(const SweepResult&)>& on_run);

// A table of the runs, one line a case.
std::string DescribeSweep(const SweepResult& result);
// The invariant, the scenario and its trace, one line an event.
std::string DescribeFailure(const SweepFailure& failure);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_SWEEP_H_
