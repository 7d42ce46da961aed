#include "sim/campaign.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/minimise.h"

namespace sim {

CampaignResult RunCampaign(const CampaignOptions& options) {
  CampaignResult total;
  for (int64_t i = 0; i < options.seeds && total.failures.size() < options.max_failures; ++i) {
    const uint64_t seed = options.first + static_cast<uint64_t>(i);
    const Scenario scenario = MakeScenario(seed);
    ScenarioResult result = RunScenario(scenario, /*trace=*/false);
    ++total.seeds;
    total.virtual_time += result.virtual_time;
    total.writes += result.writes;
    total.rival_writes += result.rival_writes;
    total.calls += result.calls;
    std::set<ActKind> planned;
    for (const Act& act : scenario.acts) planned.insert(act.kind);
    for (const ActKind kind : planned) ++total.coverage[kind].seeds;
    for (const auto& [kind, times] : result.fired) total.coverage[kind].fired += times;
    if (result.breach.has_value()) total.failures.push_back({seed, *std::move(result.breach)});
    if (options.on_seed) options.on_seed(total);
  }
  return total;
}

std::string DescribeCoverage(const CampaignResult& result) {
  std::string text = absl::StrFormat("%-22s %10s %10s\n", "what happens", "seeds", "times");
  for (int kind = 0; kind < kActKinds; ++kind) {
    const auto found = result.coverage.find(static_cast<ActKind>(kind));
    const Coverage coverage = found == result.coverage.end() ? Coverage() : found->second;
    absl::StrAppendFormat(&text, "%-22s %10d %10d\n", ActName(static_cast<ActKind>(kind)),
                          coverage.seeds, coverage.fired);
  }
  return text;
}

std::string DescribeFailure(const Failure& failure) {
  const Scenario smallest = Minimise(MakeScenario(failure.seed), failure.breach.invariant);
  const ScenarioResult again = RunScenario(smallest, /*trace=*/true);
  std::string text =
      absl::StrCat("invariant ", failure.breach.invariant, " broken by seed ", failure.seed,
                   " after ", absl::FormatDuration(failure.breach.at), ": ", failure.breach.what,
                   "\nthe smallest part of it that fails so:\n", Describe(smallest));
  for (const std::string& line : again.trace) absl::StrAppend(&text, line, "\n");
  return text;
}

}  // namespace sim
