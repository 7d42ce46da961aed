#include "oci/work_request.h"

#include "gtest/gtest.h"

namespace oci {
namespace {

using Action = WorkRequestStep::Action;

const absl::Time kAccepted = absl::FromUnixSeconds(1'000'000);
const WorkRequestPolling kPolicy = {.interval = absl::Seconds(1),
                                    .give_up_after = absl::Seconds(10)};

TEST(WorkRequestStep, PollsOneIntervalAfterAcceptanceAndAfterEachLook) {
  WorkRequestProgress progress = {.accepted = kAccepted};
  WorkRequestStep step = NextStep(progress, kPolicy, kAccepted);
  EXPECT_EQ(step.action, Action::kPoll);
  EXPECT_EQ(step.at, kAccepted + absl::Seconds(1));
  progress.state = WorkRequestState::kInProgress;
  progress.last_look = kAccepted + absl::Milliseconds(1100);
  step = NextStep(progress, kPolicy, progress.last_look);
  EXPECT_EQ(step.action, Action::kPoll);
  EXPECT_EQ(step.at, kAccepted + absl::Milliseconds(2100));
}

TEST(WorkRequestStep, PollsAtOnceWhenLate) {
  const absl::Time now = kAccepted + absl::Seconds(5);
  const WorkRequestStep step = NextStep({.accepted = kAccepted}, kPolicy, now);
  EXPECT_EQ(step.action, Action::kPoll);
  EXPECT_EQ(step.at, now);
}

TEST(WorkRequestStep, EndsWithTheState) {
  const absl::Time late = kAccepted + absl::Hours(1);
  EXPECT_EQ(NextStep({.state = WorkRequestState::kSucceeded, .accepted = kAccepted}, kPolicy, late)
                .action,
            Action::kDone);
  EXPECT_EQ(
      NextStep({.state = WorkRequestState::kFailed, .accepted = kAccepted}, kPolicy, late).action,
      Action::kFailed);
}

TEST(WorkRequestStep, LooksOnceMoreAtTheBoundAndThenGivesUp) {
  WorkRequestProgress progress = {.state = WorkRequestState::kInProgress,
                                  .accepted = kAccepted,
                                  .last_look = kAccepted + absl::Milliseconds(9500)};
  WorkRequestStep step = NextStep(progress, kPolicy, progress.last_look);
  EXPECT_EQ(step.action, Action::kPoll);
  EXPECT_EQ(step.at, kAccepted + absl::Seconds(10));
  progress.last_look = step.at;
  EXPECT_EQ(NextStep(progress, kPolicy, step.at).action, Action::kGiveUp);
}

TEST(WorkRequestStep, AWalkEndsWhateverTheServerDoes) {
  WorkRequestProgress progress = {.accepted = kAccepted};
  absl::Time now = kAccepted;
  int polls = 0;
  for (;; ++polls) {
    ASSERT_LE(polls, 11);
    const WorkRequestStep step = NextStep(progress, kPolicy, now);
    if (step.action != Action::kPoll) break;
    EXPECT_GE(step.at, now);
    now = step.at;
    progress.last_look = now;  // every look fails: the state stays as it was
  }
  EXPECT_EQ(polls, 10);
}

}  // namespace
}  // namespace oci
