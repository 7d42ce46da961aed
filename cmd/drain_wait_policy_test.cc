#include "cmd/drain_wait_policy.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cmd {
namespace {

using Action = DrainWaitStep::Action;

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

TEST(DrainWait, AsksAtOnceAndLetsTheBarrierHoldTheQuestion) {
  const DrainWait wait(DrainWaitOptions{}, kStart);
  const DrainWaitStep step = wait.Next(kStart);
  EXPECT_EQ(step.action, Action::kAsk);
  EXPECT_EQ(step.hold, absl::Seconds(7.5));
}

// Seen in the laboratory: a drain that took longer than the fallback was never waited for,
// since the barrier was given up in the middle of the first question that it held.
TEST(DrainWait, ABarrierThatHoldsTheFirstQuestionIsHeardBeforeTheFallback) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  const DrainWaitStep first = wait.Next(kStart);
  EXPECT_LT(kStart + first.hold, first.by);
  EXPECT_LE(first.by, At(15));
  wait.Note(BarrierVerdict::kWait, kStart, kStart + first.hold);
  const DrainWaitStep second = wait.Next(kStart + first.hold);
  EXPECT_EQ(second.action, Action::kAsk);
  EXPECT_EQ(second.hold, absl::Seconds(25));
  EXPECT_EQ(second.by, kStart + first.hold + absl::Seconds(30));
}

TEST(DrainWait, ABarrierThatIsReachedLateIsHeardBeforeTheFallbackToo) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kUseless, At(12), At(12.1));
  const DrainWaitStep step = wait.Next(At(13));
  EXPECT_EQ(step.action, Action::kAsk);
  EXPECT_EQ(step.hold, absl::Seconds(1));
  EXPECT_EQ(step.by, At(15));
}

TEST(DrainWait, OnceItIsDrainedItLingersAndAsksAgainAndEnds) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  EXPECT_FALSE(wait.Next(kStart).confirm);
  wait.Note(BarrierVerdict::kDrained, kStart, At(9));
  const DrainWaitStep lingers = wait.Next(At(9));
  EXPECT_EQ(lingers.action, Action::kPause);
  EXPECT_EQ(lingers.by, At(11));
  const DrainWaitStep again = wait.Next(At(11));
  EXPECT_EQ(again.action, Action::kAsk);
  EXPECT_TRUE(again.confirm);
  EXPECT_EQ(again.hold, absl::Seconds(15)) << "as long as the fallback, not 25 s";
  wait.Note(BarrierVerdict::kDrained, At(11), At(11.3));
  const DrainWaitStep end = wait.Next(At(11.3));
  EXPECT_EQ(end.action, Action::kEnd);
  EXPECT_TRUE(end.drained);
  EXPECT_EQ(end.linger, absl::ZeroDuration());
}

// Seen in the soak: the ingress controller's write was accepted within the linger, and took
// the drain back.
TEST(DrainWait, ADrainThatWasTakenBackIsWaitedForAndLingeredForAgain) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kDrained, kStart, At(9));
  wait.Note(BarrierVerdict::kWait, At(11), At(11.2));
  const DrainWaitStep pause = wait.Next(At(11.2));
  EXPECT_EQ(pause.action, Action::kPause);
  EXPECT_EQ(pause.by, At(12));
  EXPECT_TRUE(wait.Next(At(12)).confirm);
  wait.Note(BarrierVerdict::kDrained, At(12), At(20));
  const DrainWaitStep lingers = wait.Next(At(20));
  EXPECT_EQ(lingers.action, Action::kPause);
  EXPECT_EQ(lingers.by, At(22));
  wait.Note(BarrierVerdict::kDrained, At(22), At(22.5));
  EXPECT_EQ(wait.Next(At(22.5)).action, Action::kEnd);
  EXPECT_TRUE(wait.Next(At(22.5)).drained);
}

TEST(DrainWait, APodWhoseTimeIsUpLingersAndAsksNobody) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kReleased, kStart, At(9));
  const DrainWaitStep step = wait.Next(At(9));
  EXPECT_EQ(step.action, Action::kEnd);
  EXPECT_TRUE(step.drained);
  EXPECT_EQ(step.linger, absl::Seconds(2));
}

TEST(DrainWait, WithoutALingerTheWordHasJustCome) {
  DrainWaitOptions options;
  options.linger = absl::ZeroDuration();
  DrainWait wait(options, kStart);
  wait.Note(BarrierVerdict::kDrained, kStart, At(9));
  EXPECT_EQ(wait.Next(At(9)).action, Action::kEnd);
}

TEST(DrainWait, ABarrierThatIsGoneAfterItsWordIsGivenUpAfterTheFallback) {
  DrainWaitOptions options;
  options.linger = absl::Seconds(20);  // longer than the fallback: it is waited for
  DrainWait wait(options, kStart);
  wait.Note(BarrierVerdict::kDrained, kStart, At(9));
  EXPECT_EQ(wait.Next(At(28.9)).action, Action::kPause);
  wait.Note(BarrierVerdict::kUseless, At(29), At(29.1));
  EXPECT_EQ(wait.Next(At(43.9)).action, Action::kAsk);
  const DrainWaitStep step = wait.Next(At(44));
  EXPECT_EQ(step.action, Action::kEnd);
  EXPECT_TRUE(step.drained) << "it had the barrier's word";
  EXPECT_EQ(step.linger, absl::ZeroDuration());
}

TEST(DrainWait, TheTimeoutWithinALingerLeavesTheRestOfIt) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kDrained, At(160), At(179.5));
  EXPECT_EQ(wait.Next(At(179.5)).by, At(180));
  const DrainWaitStep step = wait.Next(At(180));
  EXPECT_EQ(step.action, Action::kEnd);
  EXPECT_EQ(step.linger, absl::Seconds(1.5));
}

TEST(DrainWait, AsksAgainWhileTheBarrierWaits) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kWait, kStart, At(25));
  EXPECT_EQ(wait.Next(At(25)).action, Action::kAsk);
  wait.Note(BarrierVerdict::kWait, At(25), At(50));
  EXPECT_EQ(wait.Next(At(50)).action, Action::kAsk);
}

TEST(DrainWait, ABarrierThatAnswersWaitAtOnceIsAskedOnceASecond) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kWait, kStart, At(0.01));
  const DrainWaitStep step = wait.Next(At(0.01));
  EXPECT_EQ(step.action, Action::kPause);
  EXPECT_EQ(step.by, At(1));
}

TEST(DrainWait, GivesUpWithoutLingerWhenNobodyEverAnswers) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  for (int second = 0; second < 15; ++second) {
    EXPECT_EQ(wait.Next(At(second)).action, Action::kAsk);
    wait.Note(BarrierVerdict::kUseless, At(second), At(second + 0.5));
    EXPECT_EQ(wait.Next(At(second + 0.5)).action, Action::kPause);
  }
  const DrainWaitStep step = wait.Next(At(15));
  EXPECT_EQ(step.action, Action::kEnd);
  EXPECT_FALSE(step.drained);
  EXPECT_EQ(step.linger, absl::ZeroDuration());
}

// A controller that is replaced during a wait is back in seconds; the wait must not
// end because the fallback has long passed since the start.
TEST(DrainWait, TheFallbackCountsFromTheLastUsableAnswer) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kWait, At(35), At(60));
  wait.Note(BarrierVerdict::kUseless, At(60), At(60));
  EXPECT_EQ(wait.Next(At(61)).action, Action::kAsk);
  EXPECT_EQ(wait.Next(At(74.9)).action, Action::kAsk);
  EXPECT_EQ(wait.Next(At(75)).action, Action::kEnd);
}

TEST(DrainWait, AtTheTimeoutRequestsInFlightStillHaveTheirLinger) {
  DrainWait wait(DrainWaitOptions{}, kStart);
  wait.Note(BarrierVerdict::kWait, At(155), At(180));
  const DrainWaitStep step = wait.Next(At(180));
  EXPECT_EQ(step.action, Action::kEnd);
  EXPECT_FALSE(step.drained);
  EXPECT_EQ(step.linger, absl::Seconds(2));
}

TEST(DrainWait, EveryPathEndsWithinTimeoutAndLinger) {
  base::Random random(7);
  for (int round = 0; round < 2'000; ++round) {
    DrainWaitOptions options;
    options.timeout = absl::Milliseconds(random.Between(0, 60'000));
    options.linger = absl::Milliseconds(random.Between(0, 5'000));
    options.fallback = absl::Milliseconds(random.Between(0, 90'000));
    DrainWait wait(options, kStart);
    absl::Time now = kStart;
    DrainWaitStep step = wait.Next(now);
    for (int steps = 0; step.action != Action::kEnd; step = wait.Next(now)) {
      ASSERT_LT(++steps, 1'000) << "round " << round;
      ASSERT_GT(step.by, now);
      ASSERT_LE(step.by, kStart + options.timeout);
      const absl::Time asked_at = now;
      now = step.action == Action::kPause
                ? step.by
                : now + (step.by - now) * random.Fraction() + absl::Nanoseconds(1);
      now = std::min(now, step.by);
      if (step.action == Action::kPause) continue;
      const int64_t lot = random.Between(0, 9);
      const BarrierVerdict verdict = lot < 4   ? BarrierVerdict::kUseless
                                     : lot < 7 ? BarrierVerdict::kWait
                                     : lot < 9 ? BarrierVerdict::kDrained
                                               : BarrierVerdict::kReleased;
      wait.Note(verdict, asked_at, now);
    }
    EXPECT_LE(now + step.linger, kStart + options.timeout + options.linger);
  }
}

}  // namespace
}  // namespace cmd
