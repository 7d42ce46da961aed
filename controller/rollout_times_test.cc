#include "controller/rollout_times.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace controller {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
constexpr char kWorkload[] = "workload-uid";

// One Service of one workload, seen pass by pass.
class RolloutTimesTest : public testing::Test {
 protected:
  RolloutTimesTest() {
    input_.workloads.push_back(
        {{"apps/v1", "Deployment", {"shop", "web"}, kWorkload}, 3, 0, false});
    input_.sets.resize(1);
  }

  drain::Endpoint& Add(const std::string& uid, bool serving) {
    drain::Endpoint endpoint;
    endpoint.uid = endpoint.cached_uid = uid;
    endpoint.pod = {"shop", uid};
    endpoint.serving = serving;
    endpoint.workload = 0;
    endpoints().push_back(endpoint);
    return endpoints().back();
  }

  void PassAt(absl::Duration after, const std::set<std::string>& withdrawn = {}) {
    input_.now = kStart + after;
    times_.Observe(input_, withdrawn);
  }

  std::vector<drain::Endpoint>& endpoints() { return input_.sets[0].endpoints; }
  capacity::Times Measured() { return times_.Of(kWorkload, memory_); }

  drain::Input input_;
  drain::Memory memory_;
  RolloutTimes times_;
};

TEST_F(RolloutTimesTest, NothingMeasuredIsTheDefault) {
  PassAt(absl::ZeroDuration());
  EXPECT_EQ(Measured(), capacity::Times());
}

TEST_F(RolloutTimesTest, StartupIsTheMedianFromPublishedToServing) {
  PassAt(absl::ZeroDuration());
  for (const int seconds : {10, 90, 20}) {
    EXPECT_EQ(Measured().startup, capacity::Times().startup) << "too few Pods";
    endpoints().clear();
    const std::string uid = absl::StrCat("pod-", seconds);
    Add(uid, false);
    PassAt(absl::ZeroDuration());
    endpoints().front().serving = true;
    PassAt(absl::Seconds(seconds));
  }
  EXPECT_EQ(Measured().startup, absl::Seconds(20) + capacity::Times().address);
}

TEST_F(RolloutTimesTest, APodThatWasThereAtTheFirstPassIsNoMeasurement) {
  for (int i = 0; i < 5; ++i) Add(absl::StrCat("pod-", i), false);
  PassAt(absl::ZeroDuration());
  for (drain::Endpoint& endpoint : endpoints()) endpoint.serving = true;
  PassAt(absl::Seconds(1));
  EXPECT_EQ(Measured().startup, capacity::Times().startup);
}

TEST_F(RolloutTimesTest, TerminationRunsFromTheDeletionToTheEndOfThePublication) {
  for (int i = 0; i < 4; ++i) {
    drain::Endpoint& endpoint = Add(absl::StrCat("pod-", i), true);
    endpoint.deletion_grace = absl::Seconds(60);
    endpoint.deletion_timestamp = kStart + absl::Seconds(60);
  }
  PassAt(absl::ZeroDuration());
  endpoints().erase(endpoints().begin());
  PassAt(absl::Seconds(2), {"pod-0"});
  EXPECT_FALSE(Measured().termination.has_value()) << "it was withdrawn";
  endpoints().clear();
  PassAt(absl::Seconds(24.5));
  EXPECT_EQ(Measured().termination, absl::Seconds(25));
}

TEST_F(RolloutTimesTest, RegistrationFollowsTheWorkRequests) {
  memory_.service_times = {absl::Seconds(6), absl::Seconds(10)};
  EXPECT_EQ(Measured().registration, absl::Seconds(12));
  EXPECT_EQ(Measured().drained, absl::Seconds(12));
}

}  // namespace
}  // namespace controller
