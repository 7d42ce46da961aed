// Rollouts with the gate and the barrier, fewer where the build is slow.
#include "sim/lifecycle_rollout.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace sim {
namespace {

#ifndef NDEBUG
constexpr uint64_t kSeeds = 8;
#else
constexpr uint64_t kSeeds = 80;
#endif
constexpr int kMaxReplicas = 5;
// Known and open, see docs/simulation.md: two writers keep undoing each other.
constexpr uint64_t kOpenSeed = 23;

TEST(LifecycleRollout, NoPodGetsSigtermWhileItIsRoutable) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (seed == kOpenSeed) continue;
    const Lifecycle lifecycle = MakeLifecycle(seed, kMaxReplicas, /*faults=*/false);
    const LifecycleResult result = RunLifecycle(lifecycle, /*trace=*/false);
    EXPECT_TRUE(result.finished) << seed;
    EXPECT_GE(result.pods, lifecycle.replicas) << seed;
    EXPECT_EQ(result.undrained, 0) << seed;
    EXPECT_EQ(result.without_pod, absl::ZeroDuration()) << seed;
    EXPECT_TRUE(result.violations.empty())
        << Describe(lifecycle) << absl::StrJoin(result.violations, "\n");
  }
}

TEST(LifecycleRollout, APodThatReachesItsTimeoutUndrainedIsToldOf) {
  const LifecycleResult result =
      RunLifecycle(MakeLifecycle(kOpenSeed, kMaxReplicas, /*faults=*/false), /*trace=*/false);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.unreported, 0);
}

TEST(LifecycleRollout, WithFaultsWhatDoesNotHoldIsTold) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Lifecycle lifecycle = MakeLifecycle(seed, kMaxReplicas, /*faults=*/true);
    const LifecycleResult result = RunLifecycle(lifecycle, /*trace=*/false);
    EXPECT_LE(result.longest_wait, kLifecycleGrace) << seed;
    EXPECT_TRUE(result.violations.empty())
        << Describe(lifecycle) << absl::StrJoin(result.violations, "\n");
  }
}

TEST(LifecycleRollout, IsTheSameRunForTheSameSeed) {
  const Lifecycle lifecycle = MakeLifecycle(3, kMaxReplicas, /*faults=*/true);
  const LifecycleResult first = RunLifecycle(lifecycle, /*trace=*/true);
  EXPECT_EQ(first.trace, RunLifecycle(lifecycle, /*trace=*/true).trace);
  EXPECT_FALSE(first.trace.empty());
}

}  // namespace
}  // namespace sim
