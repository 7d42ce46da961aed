#include "sim/replica_world.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

#ifdef NDEBUG
constexpr int kSeeds = 40;
#else
constexpr int kSeeds = 3;
#endif

// The smallest number of lines that tells a failure.
std::string Tail(const ReplicaResult& result) {
  constexpr size_t kLines = 60;
  const size_t first = result.trace.size() < kLines ? 0 : result.trace.size() - kLines;
  return absl::StrJoin(result.trace.begin() + static_cast<std::ptrdiff_t>(first),
                       result.trace.end(), "\n");
}

class ReplicaWorld : public testing::TestWithParam<int> {};

TEST_P(ReplicaWorld, NeverHasTwoWritersPastTheLease) {
  ReplicaResult sum;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const ReplicaResult result =
        RunReplicas({.seed = static_cast<uint64_t>(seed), .replicas = GetParam(), .trace = true});
    ASSERT_FALSE(result.breach.has_value()) << "seed " << seed << ": " << *result.breach << "\n"
                                            << Tail(result);
    sum.writes += result.writes;
    sum.takeovers += result.takeovers;
    sum.late_writes += result.late_writes;
    sum.pauses += result.pauses;
    sum.refused += result.refused;
  }
  // What the oracle is about did happen.
  EXPECT_GT(sum.writes, kSeeds * 5);
  EXPECT_GT(sum.takeovers, kSeeds * 2);
  EXPECT_GT(sum.pauses, kSeeds);
  if (kSeeds > 10) {
    EXPECT_GT(sum.late_writes, 0);
    EXPECT_GT(sum.refused, 0);
  }
  std::cout << sum.writes << " writes, " << sum.late_writes << " of them late, " << sum.refused
            << " refused, " << sum.takeovers << " takeovers, " << sum.pauses << " pauses\n";
}

INSTANTIATE_TEST_SUITE_P(Replicas, ReplicaWorld, testing::Values(2, 3));

TEST(ReplicaWorldRuns, TheSameSeedIsTheSameRun) {
  const ReplicaOptions options{.seed = 7, .trace = true};
  EXPECT_EQ(RunReplicas(options).trace, RunReplicas(options).trace);
}

}  // namespace
}  // namespace sim
