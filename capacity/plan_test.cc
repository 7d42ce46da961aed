#include "capacity/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "capacity/memo.h"

namespace capacity {
namespace {

using annotations::Reserve;
using testing::ElementsAre;
using testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

Drained DrainedBackend(int i, absl::Duration ago) {
  Drained drained;
  drained.backend = oci::BackendName(absl::StrCat("10.0.0.", i, ":80"));
  drained.pod = {"shop", absl::StrCat("web-", i)};
  drained.pod_uid = absl::StrCat("u", i);
  drained.since = kNow - ago;
  return drained;
}

// A set without reserve.
SetInput SetOf(const std::string& name, const Demand& demand) {
  SetInput set;
  set.name = oci::BackendSetName(name);
  set.service = {"v1", "Service", {"shop", name}, name};
  set.demand = demand;
  set.reserve = Reserve{Reserve::Kind::kBackends, 0};
  set.obstacle = Obstacle::kNone;
  return set;
}

Input InputOf(std::vector<SetInput> sets) {
  Input input;
  input.now = kNow;
  input.sets = std::move(sets);
  return input;
}

std::shared_ptr<const Forecast> ForecastOf(int steady, int peak) {
  Forecast forecast;
  forecast.steady = steady;
  forecast.peak = peak;
  forecast.backends = {{0, steady}};
  return std::make_shared<const Forecast>(forecast);
}

std::vector<std::string> Found(const Plan& plan) {
  std::vector<std::string> names;
  for (const Finding& finding : plan.findings) {
    names.push_back(finding.set < 0 ? Name(finding.kind)
                                    : absl::StrCat(Name(finding.kind), "/", finding.set));
  }
  return names;
}

std::vector<std::string> Withdrawn(const SetPlan& set) {
  std::vector<std::string> names;
  for (const Drained& drained : set.withdrawals) names.push_back(drained.pod.name);
  return names;
}

TEST(CapacityPlan, WithRoomEveryoneGetsWhatItNeeds) {
  SetInput web = SetOf("web", {.live = 10, .pending = 2, .draining = 1, .foreign = 1});
  web.reserve = Reserve{Reserve::Kind::kBackends, 4};
  const Plan plan = MakePlan(InputOf({web, SetOf("api", {.live = 5})}));
  EXPECT_EQ(plan.in_use, 17);
  EXPECT_EQ(plan.free, 495);
  EXPECT_EQ(plan.sets[0].additions, 2);
  EXPECT_EQ(plan.sets[0].waiting, 0);
  EXPECT_EQ(plan.sets[0].need, 4);
  EXPECT_EQ(plan.sets[0].reserved, 3) << "the draining one has a slot of the reserve";
  EXPECT_EQ(plan.sets[0].free, 495);
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(CapacityPlan, ReservesAreAutomaticAbsoluteOrAShare) {
  SetInput set = SetOf("web", {.live = 41, .pending = 1});
  set.forecast = ForecastOf(42, 60);
  const auto need = [&](std::optional<Reserve> reserve) {
    set.reserve = reserve;
    return MakePlan(InputOf({set})).sets[0].need;
  };
  EXPECT_EQ(need(std::nullopt), 18) << "the default is automatic";
  EXPECT_EQ(need(Reserve{Reserve::Kind::kAuto, 0}), 18);
  EXPECT_EQ(need(Reserve{Reserve::Kind::kBackends, 20}), 20);
  EXPECT_EQ(need(Reserve{Reserve::Kind::kPercent, 10}), 5) << "rounded up";
  set.autoscaled = ForecastOf(100, 150);
  EXPECT_EQ(need(std::nullopt), 108);
  set.forecast = set.autoscaled = nullptr;
  EXPECT_EQ(need(std::nullopt), 0) << "no forecast";
}

TEST(CapacityPlan, ASetsLimitAndTheLoadBalancersBothHold) {
  Input input = InputOf({SetOf("web", {.live = 8, .pending = 9}), SetOf("api", {.pending = 9})});
  input.limits = {.backends_per_set = 10, .backends_per_load_balancer = 15};
  Plan plan = MakePlan(input);
  EXPECT_EQ(plan.sets[0].additions, 2);
  EXPECT_EQ(plan.sets[1].additions, 5);
  EXPECT_EQ(plan.sets[1].waiting, 4);
  input.other_backends = 6;
  plan = MakePlan(input);
  EXPECT_EQ(plan.free, 1);
  EXPECT_EQ(plan.sets[0].additions + plan.sets[1].additions, 1);
  input.other_backends = 100;
  plan = MakePlan(input);
  EXPECT_EQ(plan.free, 0);
  EXPECT_EQ(plan.sets[0].additions, 0);
}

TEST(CapacityPlan, AReserveComesFirstWhenBothWait) {
  SetInput web = SetOf("web", {.live = 50, .pending = 6});
  SetInput api = SetOf("api", {.live = 50, .pending = 6});
  Input input = InputOf({web, api});
  input.limits = {.backends_per_set = 512, .backends_per_load_balancer = 106};
  Plan plan = MakePlan(input);
  EXPECT_EQ(plan.sets[0].additions, 3);
  EXPECT_EQ(plan.sets[1].additions, 3);
  input.sets[1].reserve = Reserve{Reserve::Kind::kBackends, 24};
  plan = MakePlan(input);
  EXPECT_EQ(plan.sets[0].additions, 1);
  EXPECT_EQ(plan.sets[1].additions, 5);
}

TEST(CapacityPlan, NoReserveKeepsASlotFromAPodThatExists) {
  SetInput web = SetOf("web", {.live = 90, .pending = 5});
  SetInput api = SetOf("api", {.live = 5});
  api.reserve = Reserve{Reserve::Kind::kBackends, 5};
  Input input = InputOf({web, api});
  input.limits.backends_per_load_balancer = 100;
  const Plan plan = MakePlan(input);
  EXPECT_EQ(plan.sets[0].additions, 5);
  EXPECT_EQ(plan.sets[1].reserved, 0);
  EXPECT_THAT(Found(plan), ElementsAre("ReserveUnsatisfiable/1", "BackendCapacityLow"));
}

TEST(CapacityPlan, WithdrawsTheLongestDrainedAsManyAsWait) {
  SetInput web = SetOf("web", {.live = 8, .pending = 2, .draining = 4});
  web.drained = {DrainedBackend(1, absl::Seconds(6)), DrainedBackend(2, absl::Seconds(9)),
                 DrainedBackend(3, absl::Seconds(30)), DrainedBackend(4, absl::Seconds(4))};
  Input input = InputOf({web});
  input.limits.backends_per_set = 12;
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[0]), ElementsAre("web-3", "web-2"));
  input.sets[0].expected = 1;
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[0]), ElementsAre("web-3", "web-2", "web-1"));
  input.sets[0].expected = 9;
  Plan plan = MakePlan(input);
  EXPECT_THAT(Withdrawn(plan.sets[0]), ElementsAre("web-3", "web-2", "web-1"));
  EXPECT_EQ(plan.next_look, kNow + absl::Seconds(1)) << "when the fourth may go";
  input.sets[0].drained[2].withdrawn = true;
  input.sets[0].expected = 0;
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[0]), ElementsAre("web-2")) << "one is on its way";
  input.sets[0].demand.pending = 0;
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[0]), IsEmpty());
}

TEST(CapacityPlan, AtTheLoadBalancersLimitOtherSetsMakeRoom) {
  SetInput web = SetOf("web", {.live = 10, .pending = 1});
  SetInput api = SetOf("api", {.live = 10, .draining = 1});
  api.drained = {DrainedBackend(7, absl::Minutes(1))};
  Input input = InputOf({web, api});
  input.limits = {.backends_per_set = 20, .backends_per_load_balancer = 21};
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[1]), ElementsAre("web-7"));
  input.limits = {.backends_per_set = 10, .backends_per_load_balancer = 512};
  EXPECT_THAT(Withdrawn(MakePlan(input).sets[1]), IsEmpty()) << "it would not help";
}

TEST(CapacityPlan, AnObstacleIsToldWhileAPodWaits) {
  SetInput web = SetOf("web", {.live = 9, .pending = 1, .draining = 1});
  web.drained = {DrainedBackend(1, absl::Minutes(1))};
  for (const Obstacle obstacle :
       {Obstacle::kOnlyWarn, Obstacle::kNoLabelInSelector, Obstacle::kLabelInReplicaSet,
        Obstacle::kLabelInDisruptionBudget}) {
    web.obstacle = obstacle;
    Input input = InputOf({web});
    input.limits.backends_per_set = 10;
    const Plan plan = MakePlan(input);
    EXPECT_THAT(plan.sets[0].withdrawals, IsEmpty());
    EXPECT_THAT(Found(plan), ElementsAre("BackendSetLimitNear/0", "WithdrawalRefused/0"));
    EXPECT_EQ(plan.findings.back().obstacle, obstacle);
  }
}

TEST(CapacityPlan, ARolloutThatWillExceedALimitIsFoundBeforeItHappens) {
  SetInput web = SetOf("web", {.live = 60, .foreign = 10});
  web.reserve = std::nullopt;
  web.forecast = ForecastOf(60, 95);
  Input input = InputOf({web, SetOf("api", {.live = 30})});
  input.limits = {.backends_per_set = 100, .backends_per_load_balancer = 200};
  Plan plan = MakePlan(input);
  ASSERT_THAT(Found(plan), ElementsAre("RolloutWillExceedBackendLimit/0"));
  EXPECT_EQ(plan.findings[0].limit, LimitKind::kBackendSet);
  EXPECT_EQ(plan.findings[0].wanted, 105);
  EXPECT_EQ(plan.findings[0].room, 90);
  input.limits = {.backends_per_set = 512, .backends_per_load_balancer = 130};
  plan = MakePlan(input);
  ASSERT_THAT(Found(plan), ElementsAre("RolloutWillExceedBackendLimit/0"));
  EXPECT_EQ(plan.findings[0].limit, LimitKind::kLoadBalancer) << "the set's own has room";
  EXPECT_EQ(plan.findings[0].room, 90);
}

TEST(CapacityPlan, BlockedIsWhatNothingWillFree) {
  Input input = InputOf({SetOf("web", {.live = 10, .pending = 1})});
  input.limits.backends_per_set = 10;
  EXPECT_THAT(Found(MakePlan(input)),
              ElementsAre("RolloutBlockedByBackendLimit/0", "BackendSetLimitNear/0"));
  input.sets[0].demand = {.live = 9, .pending = 1, .draining = 1};
  EXPECT_THAT(Found(MakePlan(input)), ElementsAre("BackendSetLimitNear/0"));
}

TEST(CapacityPlan, NearEndsOnlyWellBelow) {
  Input input = InputOf({SetOf("web", {.live = 90})});
  input.limits.backends_per_set = 100;
  EXPECT_THAT(Found(MakePlan(input)), ElementsAre("BackendSetLimitNear/0"));
  input.sets[0].demand.live = 86;
  EXPECT_THAT(Found(MakePlan(input)), IsEmpty());
  input.raised = {{FindingKind::kBackendSetLimitNear, oci::BackendSetName("web")}};
  EXPECT_THAT(Found(MakePlan(input)), ElementsAre("BackendSetLimitNear/0"));
  input.sets[0].demand.live = 84;
  EXPECT_THAT(Found(MakePlan(input)), IsEmpty());
}

TEST(CapacityPlan, AllBackendSetsInUseIsCapacityLow) {
  Input input = InputOf({SetOf("web", {.live = 1})});
  input.other_sets = 15;
  const Plan plan = MakePlan(input);
  ASSERT_THAT(Found(plan), ElementsAre("BackendCapacityLow"));
  EXPECT_EQ(plan.findings[0].limit, LimitKind::kBackendSets);
  input.other_sets = 14;
  EXPECT_THAT(Found(MakePlan(input)), IsEmpty());
}

Input RandomInput(base::Random& random) {
  Input input;
  input.now = kNow;
  input.limits.backends_per_set = static_cast<int>(random.Between(1, 12));
  input.limits.backends_per_load_balancer = static_cast<int>(random.Between(1, 30));
  input.other_backends = static_cast<int>(random.Between(0, 3));
  const int64_t sets = random.Between(0, 5);
  for (int64_t i = 0; i < sets; ++i) {
    const auto few = [&] { return static_cast<int>(random.Between(0, 5)); };
    SetInput set = SetOf(absl::StrCat("set", i),
                         {.live = few(), .pending = few(), .draining = few(), .foreign = few()});
    if (random.Between(0, 1) == 0) {
      set.reserve = Reserve{Reserve::Kind::kBackends, few()};
    } else {
      set.reserve = std::nullopt;
      const int steady = set.demand.steady();
      set.forecast = ForecastOf(steady, steady + few());
    }
    set.expected = few() / 3;
    for (int j = 0; j < set.demand.draining; ++j) {
      set.drained.push_back(DrainedBackend(static_cast<int>(10 * i + j), absl::Seconds(2 * few())));
      set.drained.back().withdrawn = few() == 0;
    }
    if (few() == 0) set.obstacle = Obstacle::kNoLabelInSelector;
    input.sets.push_back(std::move(set));
  }
  return input;
}

void CheckInvariants(const Input& input, const Plan& plan) {
  int all = input.other_backends;
  int added = 0;
  for (size_t i = 0; i < input.sets.size(); ++i) {
    const SetInput& set = input.sets[i];
    const SetPlan& out = plan.sets[i];
    const int free = std::max(0, input.limits.backends_per_set - set.demand.held());
    ASSERT_GE(out.additions, 0);
    ASSERT_LE(out.additions + out.reserved, free);
    ASSERT_EQ(out.additions + out.waiting, set.demand.pending);
    for (const Drained& drained : out.withdrawals) {
      ASSERT_FALSE(drained.withdrawn);
      ASSERT_LE(drained.since + set.minimum, kNow);
      ASSERT_EQ(set.obstacle, Obstacle::kNone);
    }
    all += set.demand.held();
    added += out.additions + out.reserved;
  }
  const int free = std::max(0, input.limits.backends_per_load_balancer - all);
  ASSERT_LE(added, free);
  for (size_t i = 0; i < input.sets.size(); ++i) {
    const SetPlan& out = plan.sets[i];
    const int own =
        input.limits.backends_per_set - input.sets[i].demand.held() - out.additions - out.reserved;
    if (out.waiting > 0 && own > 0) {
      ASSERT_EQ(added, free) << "a slot is idle";
    }
  }
}

TEST(CapacityPlan, KeepsItsInvariantsForRandomInputs) {
  base::Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const Input input = RandomInput(random);
    const Plan plan = MakePlan(input);
    CheckInvariants(input, plan);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "input " << i;
  }
}

}  // namespace
}  // namespace capacity
