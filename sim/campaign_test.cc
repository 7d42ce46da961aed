// Seeds 1 to 600, fewer where the build is slow; another number with the environment
// variable SIM_SEEDS.
#include "sim/campaign.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"

namespace sim {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

#ifndef NDEBUG
constexpr int64_t kSeeds = 60;
#else
constexpr int64_t kSeeds = 2000;
#endif

// Parts are test cases, so that Bazel can share them out.
class CampaignTest : public testing::TestWithParam<int> {};

constexpr int kParts = 20;

TEST_P(CampaignTest, EveryPromiseHolds) {
  CampaignOptions options;
  const int64_t all = FromEnvironment("SIM_SEEDS", kSeeds);
  options.seeds = all / kParts;
  options.first = static_cast<uint64_t>(1 + options.seeds * GetParam());
  options.max_failures = 1;
  const CampaignResult result = RunCampaign(options);
  EXPECT_EQ(result.seeds, options.seeds);
  for (const Failure& failure : result.failures) ADD_FAILURE() << DescribeFailure(failure);
}

INSTANTIATE_TEST_SUITE_P(Parts, CampaignTest, testing::Range(0, kParts));

// Between two passes: nothing caught it there.
TEST(Campaign, AProcessCanEndAtTheOpeningOfAWatch) {
  EXPECT_FALSE(RunScenario(MakeScenario(218668), false).breach.has_value());
}

TEST(Campaign, TheSameSeedIsTheSameRun) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Scenario scenario = MakeScenario(seed);
    EXPECT_EQ(Describe(scenario), Describe(MakeScenario(seed)));
    EXPECT_EQ(RunScenario(scenario, true).trace, RunScenario(scenario, true).trace);
  }
}

TEST(Campaign, EverySeedRollsAndLastsTenMinutes) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const Scenario scenario = MakeScenario(seed);
    EXPECT_GE(scenario.length, absl::Minutes(10));
    bool rolls = false;
    for (const Act& act : scenario.acts) rolls = rolls || act.kind == ActKind::kRollingUpdate;
    EXPECT_TRUE(rolls) << Describe(scenario);
  }
}

}  // namespace
}  // namespace sim
