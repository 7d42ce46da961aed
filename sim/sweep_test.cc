// Part of the sweep, less of it where the build is slow; another part with the
// environment variable SIM_STRIDE. `bazel run -c opt //sim -- --sweep` is all of it.
#include "sim/sweep.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/numbers.h"

namespace sim {
namespace {

#ifndef NDEBUG
constexpr int kStride = 101;
#else
constexpr int kStride = 9;
#endif

int Stride() {
  const char* text = std::getenv("SIM_STRIDE");
  int stride = 0;
  return text != nullptr && absl::SimpleAtoi(text, &stride) && stride > 0 ? stride : kStride;
}

// Parts are test cases, so that Bazel can share them out.
constexpr int kParts = 4;
class SweepTest : public testing::TestWithParam<int> {};

TEST_P(SweepTest, EveryPromiseHoldsWhicheverCallFails) {
  const SweepOptions options{
      .stride = Stride() * kParts, .offset = Stride() * GetParam(), .max_failures = 1};
  const SweepResult result = RunSweep(options, nullptr);
  EXPECT_GT(result.calls, 100);
  EXPECT_GE(result.runs, result.all / options.stride);
  EXPECT_EQ(result.without_effect, 0) << DescribeSweep(result);
  for (const SweepFailure& failure : result.failures) ADD_FAILURE() << DescribeFailure(failure);
}

INSTANTIATE_TEST_SUITE_P(Parts, SweepTest, testing::Range(0, kParts));

}  // namespace
}  // namespace sim
