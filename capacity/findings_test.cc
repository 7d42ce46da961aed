// Findings by name, and the values that they are remembered by.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "capacity/explain.h"
#include "capacity/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace capacity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Input OneSet() {
  Input input;
  SetInput& set = input.sets.emplace_back();
  set.name = oci::BackendSetName("bs_web");
  set.service = {"v1", "Service", {"shop", "web"}, "s"};
  return input;
}

Finding Refused(LimitKind limit, Obstacle obstacle) {
  Finding finding;
  finding.kind = FindingKind::kWithdrawalRefused;
  finding.set = 0;
  finding.limit = limit;
  finding.most = 10;
  finding.in_use = 9;
  finding.obstacle = obstacle;
  return finding;
}

TEST(Findings, EachObstacleToAWithdrawalHasItsOwnCure) {
  std::set<std::string> cures;
  constexpr auto kLast = static_cast<int>(Obstacle::kLabelInDisruptionBudget);
  for (int i = 0; i <= kLast; ++i) {
    const std::string text =
        Describe(OneSet(), Refused(LimitKind::kBackendSet, static_cast<Obstacle>(i)), {});
    EXPECT_THAT(text, HasSubstr("9 of at most 10 backends of backend set bs_web"));
    cures.insert(text);
  }
  EXPECT_EQ(cures.size(), static_cast<size_t>(kLast) + 1);
}

TEST(Findings, NameTheLimitThatIsHit) {
  const auto text = [](LimitKind limit) {
    return Describe(OneSet(), Refused(limit, Obstacle::kOnlyWarn), {});
  };
  EXPECT_THAT(text(LimitKind::kBackendSet), HasSubstr("of backend set bs_web"));
  EXPECT_THAT(text(LimitKind::kLoadBalancer), HasSubstr("of the load balancer"));
  EXPECT_THAT(text(LimitKind::kBackendSets), HasSubstr("of backend sets"));
}

TEST(Findings, AreRememberedByKindAndSet) {
  const Input input = OneSet();
  Plan plan;
  plan.findings = {Refused(LimitKind::kBackendSet, Obstacle::kOnlyWarn), Finding()};
  EXPECT_THAT(KeysOf(input, plan),
              ElementsAre(Pair(FindingKind::kBackendCapacityLow, oci::BackendSetName()),
                          Pair(FindingKind::kWithdrawalRefused, oci::BackendSetName("bs_web"))));
}

TEST(Findings, EachKindHasANameOfItsOwnAndAnEnd) {
  std::set<std::string> names;
  constexpr auto kLast = static_cast<int>(FindingKind::kWithdrawalRefused);
  for (int i = 0; i <= kLast; ++i) {
    const auto kind = static_cast<FindingKind>(i);
    names.insert(Name(kind));
    EXPECT_EQ(DescribeEnd({kind, oci::BackendSetName()}), "Ended: " + Name(kind) + ".");
    EXPECT_EQ(DescribeEnd({kind, oci::BackendSetName("bs")}),
              "Ended: " + Name(kind) + " of backend set bs.");
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kLast) + 1);
}

// Two rollouts share a forecast only if they are the same in everything.
TEST(Rollouts, AreEqualOnlyIfEveryFieldIs) {
  const std::vector<std::function<void(Rollout&)>> changes = {
      [](Rollout& r) { r.style = Style::kRecreate; },
      [](Rollout& r) { ++r.replicas; },
      [](Rollout& r) { ++r.max_surge; },
      [](Rollout& r) { ++r.max_unavailable; },
      [](Rollout& r) { ++r.partition; },
      [](Rollout& r) { r.gated = !r.gated; },
      [](Rollout& r) { r.min_ready += absl::Seconds(1); },
      [](Rollout& r) { r.startup += absl::Seconds(1); },
      [](Rollout& r) { r.address += absl::Seconds(1); },
      [](Rollout& r) { r.registration += absl::Seconds(1); },
      [](Rollout& r) { r.drained += absl::Seconds(1); },
      [](Rollout& r) { r.termination += absl::Seconds(1); },
  };
  for (const auto& change : changes) {
    Rollout changed;
    change(changed);
    EXPECT_FALSE(changed == Rollout());
  }
  EXPECT_TRUE(Rollout() == Rollout());
  EXPECT_FALSE((Point{1, 2}) == (Point{1, 3}));
  EXPECT_FALSE((Point{1, 2}) == (Point{2, 2}));
}

}  // namespace
}  // namespace capacity
