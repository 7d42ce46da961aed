#include "sim/virtual_rollout.h"

#include "gtest/gtest.h"

namespace sim {
namespace {

VirtualRolloutOptions WithSeed(uint64_t seed) {
  VirtualRolloutOptions options;
  options.world.seed = seed;
  options.world.load_balancer.min_service_time = absl::Seconds(6);
  options.world.load_balancer.max_service_time = absl::Seconds(14);
  return options;
}

TEST(VirtualRollout, NeverHasFewerGoodBackendsThanReplicas) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const VirtualRolloutResult result = RunVirtualRollout(WithSeed(seed));
    EXPECT_TRUE(result.finished) << "seed " << seed;
    EXPECT_EQ(result.figures.terminated, 10) << "seed " << seed;
    EXPECT_GE(result.figures.min_good_backends, 10) << "seed " << seed;
    EXPECT_EQ(result.conflicts, 0) << "seed " << seed;
  }
}

TEST(VirtualRollout, IsTheSameRunForTheSameSeed) {
  const VirtualRolloutResult a = RunVirtualRollout(WithSeed(7));
  const VirtualRolloutResult b = RunVirtualRollout(WithSeed(7));
  EXPECT_EQ(a.timeline, b.timeline);
  EXPECT_FALSE(a.timeline.empty());
}

TEST(VirtualRollout, WithTheIngressControllerAloneEveryPodEndsRoutable) {
  VirtualRolloutOptions options = WithSeed(3);
  options.world.with_controller = false;
  const VirtualRolloutResult result = RunVirtualRollout(options);
  EXPECT_EQ(result.figures.drained_before_exit, 0);
  EXPECT_GT(result.figures.dead + result.figures.dead_foreign, absl::Seconds(5));
}

}  // namespace
}  // namespace sim
