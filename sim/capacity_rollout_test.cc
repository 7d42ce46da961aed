// At the limit of a load balancer, in virtual time, beside the ingress controller.
#include "sim/capacity_rollout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"

namespace sim {
namespace {

constexpr absl::Duration kMinimumDrain = absl::Seconds(5);

std::string Describe(const CapacityRolloutResult& result) {
  return absl::StrCat(
      "peak ", result.peak, ", refused ", result.over, ", withdrawn ", result.withdrawn,
      ", longest wait ", absl::FormatDuration(result.longest_wait), ", slowest write ",
      absl::FormatDuration(result.slowest_write), ", blocked told after ",
      absl::FormatDuration(result.blocked_after), ", took ", absl::FormatDuration(result.took));
}

TEST(CapacityRollout, AFullSetFinishesWithTheWaitsThatAreAllowed) {
  for (const int surge : {1, 3}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CapacityRolloutOptions options;
      options.seed = seed;
      options.replicas = options.limit_of_set = 12;
      options.max_surge = surge;
      options.shutdown = options.grace = absl::Minutes(5);
      options.action = controller::CapacityAction::kWithdraw;
      const CapacityRolloutResult result = RunCapacityRollout(options);
      std::cout << "surge " << surge << " seed " << seed << ": " << Describe(result) << std::endl;
      EXPECT_TRUE(result.finished) << seed;
      EXPECT_EQ(result.over, 0) << seed;
      EXPECT_LE(result.peak, 12) << seed;
      EXPECT_GT(result.withdrawn, 0) << seed;
      EXPECT_LE(result.longest_wait, kMinimumDrain + 4 * result.slowest_write) << seed;
    }
  }
}

TEST(CapacityRollout, SeveralSetsAtTheLoadBalancersLimitFinish) {
  CapacityRolloutOptions options;
  options.deployments = 3;
  options.replicas = 6;
  options.max_surge = 2;
  options.foreign = 4;
  options.limit_of_load_balancer = 22;
  options.shutdown = options.grace = absl::Minutes(5);
  options.action = controller::CapacityAction::kWithdraw;
  const CapacityRolloutResult result = RunCapacityRollout(options);
  std::cout << Describe(result) << std::endl;
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.over, 0);
  EXPECT_LE(result.peak, 18);
  EXPECT_LE(result.longest_wait, kMinimumDrain + 4 * result.slowest_write);
}

#ifndef NDEBUG
constexpr int kLimit = 64;
#else
constexpr int kLimit = 512;
#endif

// All slots of the load balancer are in use, most of them by somebody else; all
// Deployments roll at once.
CapacityRolloutOptions AtTheLimit(int deployments, int surge, uint64_t seed) {
  CapacityRolloutOptions options;
  options.seed = seed;
  options.deployments = deployments;
  options.replicas = 12;
  options.max_surge = surge;
  options.limit_of_set = options.limit_of_load_balancer = kLimit;
  options.foreign = kLimit - deployments * options.replicas;
  options.shutdown = options.grace = absl::Minutes(5);
  options.action = controller::CapacityAction::kWithdraw;
  return options;
}

constexpr absl::Duration kLongestWorkRequest = absl::Seconds(14);
// 25 % of 12 replicas.
constexpr int kQuarter = 3;

// A drain and an exchange, each behind one that runs. Sets that roll at once share the
// load balancer's one queue: each has its drain and its exchange there.
absl::Duration LongestWait(int sets) {
  return kMinimumDrain + 2 * (sets + 1) * kLongestWorkRequest;
}

TEST(CapacityRollout, AtTheLimitWithoutTheGateNoReplacementWaitsForLong) {
  for (const int sets : {1, 3}) {
    for (const int surge : {1, kQuarter}) {
      const CapacityRolloutResult result = RunCapacityRollout(AtTheLimit(sets, surge, 11));
      std::cout << kLimit << " slots, " << sets << " sets, surge " << surge << ": "
                << Describe(result) << std::endl;
      EXPECT_TRUE(result.finished);
      EXPECT_EQ(result.over, 0);
      EXPECT_LE(result.peak, sets * 12);
      EXPECT_LE(result.longest_wait, LongestWait(sets));
    }
  }
}

TEST(CapacityRollout, AtTheLimitWithTheGateItIsToldThatNothingGoesOn) {
  CapacityRolloutOptions options = AtTheLimit(3, kQuarter, 12);
  options.gate = true;
  options.at_most = absl::Minutes(5);
  const CapacityRolloutResult result = RunCapacityRollout(options);
  std::cout << kLimit << " slots, with the gate: " << Describe(result) << std::endl;
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.withdrawn, 0);
  EXPECT_EQ(result.over, 0);
  EXPECT_LE(result.blocked_after, absl::Seconds(2)) << "within one pass";
}

TEST(CapacityRollout, AtTheLimitReleasedGatesLetTheRolloutFinish) {
  for (const int surge : {1, kQuarter}) {
    CapacityRolloutOptions options = AtTheLimit(3, surge, 13);
    options.gate = options.release_gate = true;
    const CapacityRolloutResult result = RunCapacityRollout(options);
    std::cout << kLimit << " slots, gates released, surge " << surge << ": " << Describe(result)
              << std::endl;
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.over, 0);
    EXPECT_LE(result.peak, 3 * 12);
    EXPECT_LE(result.blocked_after, absl::Seconds(2));
  }
}

TEST(CapacityRollout, WithoutWithdrawalReplacementsWaitForTheEndOfOldPods) {
  CapacityRolloutOptions options;
  options.replicas = options.limit_of_set = 12;
  options.shutdown = options.grace = absl::Minutes(5);
  const CapacityRolloutResult result = RunCapacityRollout(options);
  std::cout << Describe(result) << std::endl;
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.over, 0);
  EXPECT_EQ(result.withdrawn, 0);
  EXPECT_GT(result.longest_wait, absl::Minutes(2));
}

}  // namespace
}  // namespace sim
