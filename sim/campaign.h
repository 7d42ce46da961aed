// Many seeds, one after another, and what they covered.
#ifndef OCI_BACKEND_DRAIN_SIM_CAMPAIGN_H_
#define OCI_BACKEND_DRAIN_SIM_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/scenario_run.h"

namespace sim {

struct Failure {
  uint64_t seed = 0;
  Breach breach;
};

struct Coverage {
  int64_t seeds = 0;  // that had it in their plan
  int64_t fired = 0;  // times it had an effect
};

struct CampaignResult {
  int64_t seeds = 0;
  absl::Duration virtual_time;
  int64_t writes = 0;
  int64_t rival_writes = 0;
  int64_t calls = 0;
  std::map<ActKind, Coverage> coverage;
  std::vector<Failure> failures;
};

struct CampaignOptions {
  uint64_t first = 1;
  int64_t seeds = 1000;
  size_t max_failures = 20;  // it stops after so many
  // Called after each seed.
  std::function<void(const CampaignResult&)> on_seed = nullptr;
};

CampaignResult RunCampaign(const CampaignOptions& options);

// A table of the coverage, one line a kind.
std::string DescribeCoverage(const CampaignResult& result);
// What to read about a failure: the invariant, the seed, and the trace of the
// smallest scenario that still fails so, one line an event.
std::string DescribeFailure(const Failure& failure);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CAMPAIGN_H_
