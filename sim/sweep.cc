#include "sim/sweep.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sim/call_faults.h"

namespace sim {
namespace {

constexpr absl::Duration kAWhile = absl::Minutes(1);
// From the end of the last failure: the ingress controller's cache, and time in
// which nothing may be written.
constexpr absl::Duration kSettles = absl::Minutes(5);
constexpr absl::Duration kShortest = absl::Minutes(10);

struct Row {
  ActKind kind;
  // The act's number: once, and from then on. Zero: there is no such run.
  int once;
  int lasting;
  bool forever;  // it can last for ever
};

constexpr Row kRows[] = {
    {ActKind::kOci409, 1, 3, true},  // Conflict
    {ActKind::kOci409, 2, 4, true},  // IncorrectState
    {ActKind::kOci412, 1, 1, true},
    {ActKind::kOci429, 1, 2, true},
    {ActKind::kOci500, 1, 1, true},
    {ActKind::kOci503, 1, 1, true},
    {ActKind::kOciReadFails, 0, 1, true},
    {ActKind::kOciSlow, 0, 12, true},
    {ActKind::kLostReply, 1, 1, true},
    {ActKind::kNoAnswer, 1, 5, true},
    {ActKind::kFailedWork, 1, 1, true},
    {ActKind::kKubeFails, 1, 1, true},
    {ActKind::kPodGetFails, 0, 1, true},
    {ActKind::kPodGetSlow, 0, 8, true},
    {ActKind::kEndpointsGetFails, 0, 1, true},
    {ActKind::kListFails, 0, 1, true},
    {ActKind::kLedgerFails, 1, 1, true},
    {ActKind::kLedgerConflict, 1, 0, false},
    {ActKind::kWatchGone, 1, 0, false},
    {ActKind::kApiRestart, 1, 0, false},
    {ActKind::kWatchDrop, 0, 1, true},
    {ActKind::kWatchDelay, 0, 15, true},
    {ActKind::kCrashBeforeCall, 1, 0, false},
    {ActKind::kCrashAfterCall, 1, 0, false},
};

// Failures of what is not a call begin with each call all the same.
bool CanSuffer(ActKind kind, CallKind call) {
  if (kind == ActKind::kFailedWork) return IsOciWrite(call);
  return !CallFaults::Takes(kind) || CallFaults::Concerns(kind, call);
}

struct Planned {
  SweepCase what;
  Scenario scenario;
};

Planned Plan(const Row& row, Extent extent, int call, absl::Duration at) {
  Planned planned{{row.kind, extent}, SweepScenario()};
  Act act{at, row.kind};
  act.at_call = call;
  act.number = extent == Extent::kOnce ? row.once : row.lasting;
  if (extent == Extent::kForAWhile) act.length = kAWhile;
  if (extent == Extent::kForever) act.length = absl::InfiniteDuration();
  Scenario& scenario = planned.scenario;
  scenario.acts.push_back(act);
  scenario.calm = std::max(scenario.calm, at + act.length);
  if (extent != Extent::kForever) {
    scenario.length = std::max(kShortest, scenario.calm + kSettles);
  }
  return planned;
}

std::vector<Planned> PlanAll(const std::vector<SentCall>& calls) {
  std::vector<Planned> all;
  for (const Row& row : kRows) {
    for (const Extent extent : {Extent::kOnce, Extent::kForAWhile, Extent::kForever}) {
      if (extent == Extent::kOnce && row.once == 0) continue;
      if (extent != Extent::kOnce && row.lasting == 0) continue;
      if (extent == Extent::kForever && !row.forever) continue;
      for (size_t i = 0; i < calls.size(); ++i) {
        if (!CanSuffer(row.kind, calls[i].kind)) continue;
        all.push_back(Plan(row, extent, static_cast<int>(i) + 1, calls[i].at));
      }
    }
  }
  return all;
}

}  // namespace

absl::string_view ExtentName(Extent extent) {
  constexpr absl::string_view kNames[] = {"once", "for a minute", "for ever"};
  return kNames[static_cast<int>(extent)];
}

Scenario SweepScenario() {
  Scenario scenario;
  ServiceSpec spec;
  spec.replicas = 2;
  scenario.services = {spec};
  scenario.acts = {{absl::Seconds(20), ActKind::kRollingUpdate}};
  scenario.calm = absl::Seconds(20);
  scenario.length = kShortest;
  return scenario;
}

SweepResult RunSweep(const SweepOptions& options,
                     const std::function<void(const SweepResult&)>& on_run) {
  SweepResult total;
  const ScenarioResult plain = RunScenario(SweepScenario(), /*trace=*/true);
  total.calls = static_cast<int>(plain.sent.size());
  if (plain.breach.has_value()) total.failures.push_back({SweepScenario(), *plain.breach});
  const std::vector<Planned> all = PlanAll(plain.sent);
  total.all = static_cast<int64_t>(all.size());
  const auto stride = static_cast<size_t>(options.stride);
  for (auto i = static_cast<size_t>(options.offset); i < all.size(); i += stride) {
    if (total.failures.size() >= options.max_failures) break;
    const ScenarioResult result = RunScenario(all[i].scenario, /*trace=*/false);
    ++total.runs;
    ++total.runs_of[all[i].what];
    total.virtual_time += result.virtual_time;
    if (result.breach.has_value()) {
      total.failures.push_back({all[i].scenario, *result.breach});
    } else if (all[i].what.extent == Extent::kOnce && result.fired.count(all[i].what.kind) == 0) {
      ++total.without_effect;
    }
    if (on_run) on_run(total);
  }
  return total;
}

std::string DescribeSweep(const SweepResult& result) {
  std::string text = absl::StrFormat("%-22s %-14s %8s\n", "what happens", "how long", "runs");
  for (const auto& [what, runs] : result.runs_of) {
    absl::StrAppendFormat(&text, "%-22s %-14s %8d\n", ActName(what.kind), ExtentName(what.extent),
                          runs);
  }
  return text;
}

std::string DescribeFailure(const SweepFailure& failure) {
  const ScenarioResult again = RunScenario(failure.scenario, /*trace=*/true);
  return absl::StrCat("invariant ", failure.breach.invariant, " broken after ",
                      absl::FormatDuration(failure.breach.at), ": ", failure.breach.what, "\n",
                      Describe(failure.scenario), absl::StrJoin(again.trace, "\n"), "\n");
}

}  // namespace sim
