// The model of the ingress controller, the load balancer and a rollout against what
// was measured with the real ingress controller.
#include "sim/calibration.h"

#include <gtest/gtest.h>

#include <iostream>

#include "absl/strings/str_format.h"

namespace sim {
namespace {

constexpr int kSeeds = 20;

class CalibrationTest : public testing::TestWithParam<DrainOnlyPolicy> {};

TEST_P(CalibrationTest, TheMedianIsWhatWasMeasured) {
  const CalibrationFigures measured = Measured(GetParam());
  const CalibrationFigures median = MedianOf(GetParam(), kSeeds);
  std::cout << PolicyName(GetParam()) << "\n";
  for (const CalibrationRow& row : CalibrationRows()) {
    std::cout << absl::StrFormat("  %-38s measured %5.1f  simulated %5.1f\n", row.name,
                                 measured.*row.figure, median.*row.figure);
    EXPECT_NEAR(median.*row.figure, measured.*row.figure, row.is_count ? 1 : 6) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, CalibrationTest,
                         testing::Values(DrainOnlyPolicy::kNone, DrainOnlyPolicy::kOnePerPod,
                                         DrainOnlyPolicy::kOnePerPass));

}  // namespace
}  // namespace sim
