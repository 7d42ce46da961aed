#include "cmd/budget.h"

#include <gtest/gtest.h>

namespace cmd {
namespace {

oci::WorkRequest Took(absl::Duration duration, oci::WorkRequestState state) {
  oci::WorkRequest work_request;
  work_request.state = state;
  work_request.time_accepted = absl::FromUnixSeconds(1'800'000'000);
  work_request.time_finished = work_request.time_accepted + duration;
  return work_request;
}

TEST(Budget, MeasuresWhatSucceededAndHasBothTimes) {
  using enum oci::WorkRequestState;
  oci::WorkRequest undated;
  undated.state = kSucceeded;
  const WorkRequestTimes times = MeasureWorkRequests(
      {Took(absl::Seconds(12), kSucceeded), Took(absl::Seconds(7), kSucceeded),
       Took(absl::Seconds(8), kSucceeded), Took(absl::Seconds(90), kFailed),
       Took(absl::InfiniteDuration(), kInProgress), Took(absl::Seconds(-3), kSucceeded), undated});
  EXPECT_EQ(times.count, 3);
  EXPECT_EQ(times.median, absl::Seconds(8));
  EXPECT_EQ(times.longest, absl::Seconds(12));
}

TEST(Budget, WithoutAWorkRequestItAssumesWhatIsUsual) {
  const WorkRequestTimes times = MeasureWorkRequests({});
  EXPECT_EQ(times.count, 0);
  EXPECT_EQ(times.longest, absl::Seconds(14));
}

// docs/lifecycle_budget.md has these figures.
TEST(Budget, IsTheOneOfTheDocumentation) {
  const LifecycleBudget budget =
      ComputeBudget(WorkRequestTimes(), absl::Seconds(20), absl::Seconds(60));
  EXPECT_EQ(budget.drain, absl::Milliseconds(30'300));
  EXPECT_EQ(budget.replacement, absl::Seconds(63));
  EXPECT_EQ(budget.grace, absl::Seconds(159));
  EXPECT_EQ(budget.wait, absl::Seconds(97));
  EXPECT_EQ(DescribeBudget(budget),
            "    a drain takes 30.3s, a replacement 1m3s: terminationGracePeriodSeconds 159 or "
            "more\n    preStop: drain-wait --timeout=1m37s --linger=2s, or without the barrier "
            "sleep 31\n");
}

}  // namespace
}  // namespace cmd
