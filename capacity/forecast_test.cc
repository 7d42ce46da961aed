#include "capacity/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "capacity/rollout.h"

namespace capacity {
namespace {

using testing::ElementsAre;
using testing::Field;

kube::Workload Deployment(int replicas, kube::IntOrPercent surge, kube::IntOrPercent unavailable) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.replicas = replicas;
  workload.written_max_surge = surge;
  workload.written_max_unavailable = unavailable;
  return workload;
}

Rollout RolloutFor(const kube::Workload& workload) {
  return RolloutOf(workload, workload.replicas, Times());
}

Rollout Rolling(int replicas, int surge, int unavailable) {
  return RolloutFor(Deployment(replicas, kube::IntOrPercent::Count(surge),
                               kube::IntOrPercent::Count(unavailable)));
}

kube::Workload StatefulSet(int replicas) {
  kube::Workload workload;
  workload.kind = "StatefulSet";
  workload.replicas = replicas;
  workload.written_max_unavailable = kube::IntOrPercent::Count(1);
  return workload;
}

TEST(RolloutOf, RoundsAsKubernetesDoes) {
  const struct {
    int replicas;
    int surge_percent;
    int unavailable_percent;
    int surge;
    int unavailable;
  } kCases[] = {
      {10, 25, 25, 3, 2}, {4, 25, 25, 1, 1}, {1, 25, 25, 1, 0}, {3, 0, 10, 0, 1},
      {0, 25, 25, 0, 0},  {500, 1, 0, 5, 0}, {7, 0, 0, 0, 1},
  };
  for (const auto& each : kCases) {
    const Rollout rollout =
        RolloutFor(Deployment(each.replicas, kube::IntOrPercent::Percent(each.surge_percent),
                              kube::IntOrPercent::Percent(each.unavailable_percent)));
    EXPECT_EQ(rollout.max_surge, each.surge) << each.replicas << " " << each.surge_percent;
    EXPECT_EQ(rollout.max_unavailable, each.unavailable) << each.replicas;
  }
}

TEST(RolloutOf, AnAutoscalersReplicasResolvePercentagesAnew) {
  const kube::Workload workload =
      Deployment(10, kube::IntOrPercent::Percent(25), kube::IntOrPercent::Count(0));
  EXPECT_EQ(RolloutOf(workload, 100, Times()).max_surge, 25);
}

TEST(RolloutOf, OnlyOurGateWaitsForTheLoadBalancer) {
  kube::Workload workload = Deployment(1, kube::IntOrPercent::Count(1), {});
  workload.readiness_gates = {"example.com/other"};
  EXPECT_FALSE(RolloutFor(workload).gated);
  workload.readiness_gates.push_back("oci-native-ingress.oraclecloud.com/load-balancer-ready");
  EXPECT_TRUE(RolloutFor(workload).gated);
}

TEST(RolloutOf, AProcessEndsWithItsGracePeriodAtTheLatest) {
  kube::Workload workload = Deployment(1, kube::IntOrPercent::Count(1), {});
  workload.grace = absl::Seconds(60);
  EXPECT_EQ(RolloutFor(workload).termination, absl::Seconds(60));
  Times times;
  times.termination = absl::Seconds(25);
  EXPECT_EQ(RolloutOf(workload, 1, times).termination, absl::Seconds(25));
  times.termination = absl::Seconds(90);
  EXPECT_EQ(RolloutOf(workload, 1, times).termination, absl::Seconds(60));
}

TEST(Simulate, OnePodOfOneIsReplacedStepByStep) {
  // Created at 0, registered at 3 + 15, ready at 30; the old one is deleted then,
  // gone at 60 and out at 70.
  const Forecast forecast = Simulate(Rolling(1, 1, 0));
  EXPECT_THAT(forecast.backends, ElementsAre(Point{0, 1}, Point{18000, 2}, Point{70000, 1}));
  EXPECT_EQ(forecast.steady, 1);
  EXPECT_EQ(forecast.peak, 2);
  EXPECT_EQ(forecast.duration, absl::Seconds(70));
  EXPECT_EQ(forecast.Above(1), absl::Seconds(52));
  EXPECT_EQ(forecast.Above(2), absl::ZeroDuration());
  EXPECT_EQ(forecast.At(absl::Seconds(18)), 2);
  EXPECT_EQ(forecast.At(absl::Seconds(17)), 1);
  EXPECT_EQ(forecast.At(absl::Hours(1)), 1);
}

TEST(Simulate, ALongGraceBringsThePeakNearTwiceTheReplicas) {
  kube::Workload workload =
      Deployment(100, kube::IntOrPercent::Percent(25), kube::IntOrPercent::Count(0));
  workload.grace = absl::Minutes(10);
  EXPECT_EQ(Simulate(RolloutFor(workload)).peak, 200);
  workload.grace = absl::ZeroDuration();
  EXPECT_LE(Simulate(RolloutFor(workload)).peak, 151);
}

TEST(Simulate, TheDeploymentControllerGrowsThenShrinks) {
  // Surge 1, unavailable 1 of 4: two are created and one deleted at once (fewest
  // available: 3), so that five slots are held once both are registered.
  const Rollout rollout = Rolling(4, 1, 1);
  EXPECT_EQ(Simulate(rollout).At(absl::Seconds(18)), 6) << "one terminates until 30 + 10";
}

TEST(Simulate, SequentialStylesNeverHoldMoreThanTheirReplicas) {
  Forecast forecast = Simulate(RolloutFor(StatefulSet(5)));
  EXPECT_EQ(forecast.peak, 5);
  // Each: 30 s to end, 30 s to start; the last one's predecessor left long before.
  EXPECT_EQ(forecast.duration, absl::Seconds(300));
  kube::Workload recreate = Deployment(5, {}, {});
  recreate.recreate = true;
  forecast = Simulate(RolloutFor(recreate));
  EXPECT_EQ(forecast.peak, 5);
  EXPECT_EQ(forecast.At(absl::Seconds(46)), 0);
  EXPECT_EQ(forecast.duration, absl::Seconds(60));
}

TEST(Simulate, APartitionKeepsItsPods) {
  kube::Workload workload = StatefulSet(5);
  workload.partition = 4;
  EXPECT_EQ(Simulate(RolloutFor(workload)).duration, absl::Seconds(60));
  workload.partition = 9;
  EXPECT_EQ(Simulate(RolloutFor(workload)).duration, absl::ZeroDuration());
}

TEST(Simulate, WhatReplacesNothingByItselfHasNoRollout) {
  kube::Workload workload = StatefulSet(5);
  workload.on_delete = true;
  EXPECT_EQ(Simulate(RolloutFor(workload)).backends.size(), 1);
  workload.kind = "DaemonSet";
  EXPECT_EQ(Simulate(RolloutFor(workload)).peak, 5);
}

TEST(Simulate, MinReadySecondsStretchIt) {
  kube::Workload workload = Deployment(1, kube::IntOrPercent::Count(1), {});
  workload.min_ready = absl::Seconds(100);
  EXPECT_EQ(Simulate(RolloutFor(workload)).duration, absl::Seconds(170));
}

TEST(Simulate, BadNumbersHaveDefinedResults) {
  Rollout rollout;
  EXPECT_EQ(Simulate(rollout).peak, 0);
  EXPECT_THAT(Simulate(rollout).backends, ElementsAre(Point{0, 0}));
  rollout.replicas = 3;  // neither surge nor unavailable: one at a time goes
  EXPECT_EQ(Simulate(rollout).peak, 3);
  EXPECT_LT(Simulate(rollout).duration, absl::InfiniteDuration());
  rollout.replicas = std::numeric_limits<int>::max();
  EXPECT_EQ(Simulate(rollout).peak, std::numeric_limits<int>::max());
  EXPECT_EQ(Simulate(rollout).duration, absl::InfiniteDuration());
  kube::Workload workload = Deployment(-5, kube::IntOrPercent::Count(1), {});
  workload.grace = absl::InfiniteDuration();
  EXPECT_EQ(RolloutFor(workload).replicas, 0);
  EXPECT_EQ(RolloutFor(workload).termination, absl::Hours(24));
}

TEST(Simulate, EveryRolloutEndsWithWhatItBeganWith) {
  for (int replicas = 0; replicas <= 30; ++replicas) {
    for (int surge = 0; surge <= 5; ++surge) {
      for (int unavailable = 0; unavailable <= replicas; unavailable += 3) {
        const Forecast forecast = Simulate(Rolling(replicas, surge, unavailable));
        EXPECT_EQ(forecast.backends.back().count, replicas);
        EXPECT_LE(forecast.peak, 2 * replicas);
        EXPECT_GE(forecast.peak, replicas);
        EXPECT_LT(forecast.duration, absl::InfiniteDuration());
      }
    }
  }
}

TEST(Together, IsWhatOneSimulationOfAllGives) {
  const Rollout a = Rolling(40, 10, 0);
  const Rollout b = Rolling(7, 1, 1);
  const Rollout c = RolloutFor(StatefulSet(3));
  const Forecast one = Simulate(a);
  const Forecast two = Simulate(b);
  const Forecast three = Simulate(c);
  const Forecast sum = Together({&one, &two, &three});
  const Confined all = SimulateWithin({a, b, c}, Room());
  EXPECT_EQ(sum.backends, all.forecast.backends);
  EXPECT_EQ(sum.peak, all.forecast.peak);
  EXPECT_EQ(sum.duration, all.forecast.duration);
  EXPECT_EQ(sum.steady, 50);
  EXPECT_EQ(Together({}).peak, 0);
}

TEST(SimulateWithin, WithoutSlotsReplacementsWaitForTheEndOfOldPods) {
  // At 30 the new one is ready without the load balancer; the old one's slot is
  // free at 70. It has waited since 18.
  const Rollout rollout = Rolling(1, 1, 0);
  const Confined confined = SimulateWithin({rollout}, {.slots = 1});
  EXPECT_TRUE(confined.finishes);
  EXPECT_EQ(confined.forecast.peak, 1);
  EXPECT_EQ(confined.longest_wait, absl::Seconds(52));
  EXPECT_EQ(confined.withdrawn, 0);
}

TEST(SimulateWithin, WithdrawalMakesRoomAfterTheMinimumDrain) {
  Rollout rollout = Rolling(1, 1, 0);
  rollout.termination = absl::Minutes(10);
  // Deleted at 30, drained at 45, kept for 5, exchanged by a write of 15.
  const Confined confined =
      SimulateWithin({rollout}, {.slots = 1, .withdraw = true, .minimum = absl::Seconds(5)});
  EXPECT_EQ(confined.longest_wait, absl::Seconds(65 - 18));
  EXPECT_EQ(confined.withdrawn, 1);
  EXPECT_EQ(confined.forecast.peak, 1);
}

TEST(SimulateWithin, AGateWithoutASlotStopsForEver) {
  Rollout rollout = Rolling(3, 1, 0);
  rollout.gated = true;
  const Confined confined = SimulateWithin({rollout}, {.slots = 3, .withdraw = true});
  EXPECT_FALSE(confined.finishes);
  EXPECT_EQ(confined.forecast.duration, absl::InfiniteDuration());
  EXPECT_EQ(confined.waiting.back().count, 1);
  EXPECT_TRUE(SimulateWithin({rollout}, {.slots = 4}).finishes);
}

TEST(SimulateWithin, NeverExceedsTheRoomAndLosesNoPod) {
  for (int replicas = 1; replicas <= 20; ++replicas) {
    for (int spare = -2; spare <= 4; ++spare) {
      for (const bool withdraw : {false, true}) {
        const Rollout rollout = Rolling(replicas, 3, 1);
        const int slots = std::max(1, replicas + spare);
        const Confined confined =
            SimulateWithin({rollout, rollout}, {.slots = 2 * slots, .withdraw = withdraw});
        EXPECT_LE(confined.forecast.peak, std::max(2 * replicas, 2 * slots));
        if (spare < 0) continue;
        EXPECT_TRUE(confined.finishes);
        EXPECT_EQ(confined.forecast.backends.back().count, 2 * replicas);
        EXPECT_EQ(confined.waiting.back().count, 0);
      }
    }
  }
}

TEST(SimulateWithin, WhatIsTooLargeIsSaidToBe) {
  Rollout rollout = Rolling(6000, 1, 0);
  const Confined confined = SimulateWithin({rollout, rollout}, Room());
  EXPECT_FALSE(confined.finishes);
  EXPECT_EQ(confined.forecast.peak, 24000);
}

}  // namespace
}  // namespace capacity
