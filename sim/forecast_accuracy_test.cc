// How near the forecast's peak comes to what happens in virtual time, beside the
// ingress controller, with work requests of 6 to 14 s. FORECAST_ROLLOUTS says how many
// rollouts are tried, FORECAST_FIRST the first seed; few are tried by default, because each
// takes a while.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "base/random.h"
#include "capacity/forecast.h"
#include "capacity/rollout.h"
#include "sim/capacity_rollout.h"

namespace sim {
namespace {

constexpr int kDefaultRollouts = 20;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) ADD_FAILURE() << name << "=" << text;
  return value;
}

CapacityRolloutOptions RandomRollout(uint64_t seed) {
  base::Random random(seed);
  CapacityRolloutOptions options;
  options.seed = seed;
  options.replicas = static_cast<int>(random.Between(2, 40));
  options.max_surge = static_cast<int>(random.Between(1, std::max(1, options.replicas / 2)));
  options.max_unavailable = static_cast<int>(random.Between(0, options.replicas / 4));
  options.ready_after = absl::Seconds(random.Between(4, 60));
  options.shutdown = absl::Seconds(random.Between(10, 120));
  options.grace = absl::Seconds(120);
  return options;
}

// As the controller would forecast it once it has measured these times.
int ForecastPeak(const CapacityRolloutOptions& options) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.written_max_surge = kube::IntOrPercent::Count(options.max_surge);
  workload.written_max_unavailable = kube::IntOrPercent::Count(options.max_unavailable);
  workload.grace = options.grace;
  capacity::Times times;
  times.startup = options.ready_after;
  times.termination = options.shutdown + absl::Seconds(1);
  return capacity::Simulate(capacity::RolloutOf(workload, options.replicas, times)).peak;
}

TEST(ForecastAccuracy, ThePeakIsWithinTwoOrThreePercentInNineteenOfTwentyRollouts) {
  const int rollouts = FromEnvironment("FORECAST_ROLLOUTS", kDefaultRollouts);
  const int first = FromEnvironment("FORECAST_FIRST", 1);
  int near = 0;
  int worst = 0;
  for (int seed = first; seed < first + rollouts; ++seed) {
    const CapacityRolloutOptions options = RandomRollout(static_cast<uint64_t>(seed));
    const CapacityRolloutResult result = RunCapacityRollout(options);
    ASSERT_TRUE(result.finished) << "seed " << seed;
    const int off = ForecastPeak(options) - result.peak;
    const bool is_near = std::abs(off) <= std::max(2.0, 0.03 * result.peak);
    near += is_near ? 1 : 0;
    worst = std::max(worst, std::abs(off));
    if (is_near) continue;
    std::cout << "seed " << seed << ": forecast " << off << " off " << result.peak << ": "
              << options.replicas << " replicas, surge " << options.max_surge << ", unavailable "
              << options.max_unavailable << ", ready after " << options.ready_after << ", ends in "
              << options.shutdown << std::endl;
  }
  std::cout << near << " of " << rollouts << " forecast peaks within max(2, 3 %), the worst "
            << worst << " backends off" << std::endl;
  EXPECT_GE(near * 100, rollouts * 95);
}

}  // namespace
}  // namespace sim
