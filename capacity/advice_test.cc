#include "capacity/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "capacity/forecast.h"
#include "capacity/memo.h"

namespace capacity {
namespace {

kube::Workload Deployment(int replicas, kube::IntOrPercent surge, int unavailable,
                          absl::Duration grace) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.replicas = replicas;
  workload.written_max_surge = surge;
  workload.written_max_unavailable = kube::IntOrPercent::Count(unavailable);
  workload.grace = grace;
  return workload;
}

int PeakOf(const kube::Workload& workload) {
  return Simulate(RolloutOf(workload, workload.replicas, Times())).peak;
}

// The largest value below `now` that fits, by trying all.
template <typename Change>
std::optional<int> LargestByTrying(int low, int now, int room, Change change) {
  std::optional<int> largest;
  for (int value = low; value < now; ++value) {
    if (PeakOf(change(value)) <= room) largest = value;
  }
  return largest;
}

TEST(Advise, NamesTheLargestValueThatFits) {
  for (const int unavailable : {0, 2}) {
    for (const int room : {21, 22, 24, 27, 30, 35}) {
      const kube::Workload workload =
          Deployment(20, kube::IntOrPercent::Count(8), unavailable, absl::Seconds(50));
      const Advice advice = Advise(workload, 20, Times(), room);
      if (PeakOf(workload) <= room) {
        EXPECT_EQ(Describe(advice), "");
        continue;
      }
      EXPECT_EQ(advice.max_surge, LargestByTrying(unavailable == 0 ? 1 : 0, 8, room,
                                                  [&](int surge) {
                                                    kube::Workload changed = workload;
                                                    changed.written_max_surge =
                                                        kube::IntOrPercent::Count(surge);
                                                    return changed;
                                                  }))
          << room;
      const auto grace = LargestByTrying(0, 50, room, [&](int seconds) {
        kube::Workload changed = workload;
        changed.grace = absl::Seconds(seconds);
        return changed;
      });
      EXPECT_EQ(advice.grace.has_value(), grace.has_value()) << room;
      if (grace.has_value()) {
        EXPECT_EQ(advice.grace, absl::Seconds(*grace)) << room;
      }
      EXPECT_EQ(advice.replicas, LargestByTrying(1, 20, room,
                                                 [&](int replicas) {
                                                   kube::Workload changed = workload;
                                                   changed.replicas = replicas;
                                                   return changed;
                                                 }))
          << room;
    }
  }
}

TEST(Advise, WhatCannotBeMadeToFitHasNoAdvice) {
  const kube::Workload workload =
      Deployment(20, kube::IntOrPercent::Percent(25), 0, absl::Seconds(50));
  EXPECT_EQ(Describe(Advise(workload, 20, Times(), 0)), "");
  EXPECT_EQ(Describe(Advise(workload, kMaxReplicas + 1, Times(), 512)), "");
  kube::Workload set = workload;
  set.kind = "StatefulSet";
  EXPECT_EQ(Describe(Advise(set, 20, Times(), 15)), "15 replicas");
}

TEST(Advise, IsOneReadableList) {
  Advice advice;
  advice.max_surge = 12;
  advice.grace = absl::Seconds(40);
  advice.replicas = 460;
  EXPECT_EQ(Describe(advice), "maxSurge 12, or terminationGracePeriodSeconds 40, or 460 replicas");
}

TEST(ForecastMemo, MakesAForecastOnceAndForgetsWhenFull) {
  ForecastMemo memo;
  const kube::Workload workload = Deployment(3, kube::IntOrPercent::Count(1), 0, absl::Seconds(30));
  const Rollout one = RolloutOf(workload, 3, Times());
  const Rollout two = RolloutOf(workload, 4, Times());
  const auto first = memo.Of({one});
  EXPECT_EQ(memo.Of({one}), first);
  EXPECT_NE(memo.Of({two}), first);
  EXPECT_EQ(memo.Of({one, two})->steady, 7);
  EXPECT_EQ(memo.Of({})->peak, 0);
  for (int replicas = 0; replicas < 600; ++replicas) {
    memo.Of({RolloutOf(workload, replicas % 300, Times())});
    EXPECT_LE(memo.size(), ForecastMemo::kMaxForecasts);
  }
}

TEST(ForecastMemo, ForgetsWhatIsAskedForNoMore) {
  ForecastMemo memo;
  const kube::Workload workload = Deployment(3, kube::IntOrPercent::Count(1), 0, absl::Seconds(30));
  const Rollout lasting = RolloutOf(workload, 3, Times());
  const auto first = memo.Of({lasting});
  memo.Of({RolloutOf(workload, 4, Times())});
  memo.Age();
  EXPECT_EQ(memo.size(), 2u) << "both were asked for";
  EXPECT_EQ(memo.Of({lasting}), first);
  memo.Age();
  EXPECT_EQ(memo.size(), 1u);
  EXPECT_EQ(memo.Of({lasting}), first);
}

}  // namespace
}  // namespace capacity
