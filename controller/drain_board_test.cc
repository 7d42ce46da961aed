#include "controller/drain_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace controller {
namespace {

using ::drain::DrainProgress;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
const PodId kPod{{"shop", "web-0"}, "u-0"};

class DrainBoardTest : public testing::Test {
 protected:
  DrainBoardTest() {
    pod_.key = kPod.key;
    pod_.uid = kPod.uid;
  }

  void Delete(absl::Duration grace = absl::Seconds(60)) {
    pod_.deletion_timestamp = now_ + grace;
    pod_.deletion_grace = grace;
  }

  void Report(const std::string& load_balancer, std::vector<DrainProgress> progress) {
    drain::Input input;
    input.now = now_;
    input.load_balancer = oci::Ocid(load_balancer);
    input.read.emplace();
    input.read->at = now_;
    input.work_requests.emplace();
    input.work_requests->at = now_;
    input.work_requests->all = unfinished_;
    drain::Plan plan;
    for (size_t i = 0; i < progress.size(); ++i) {
      drain::Acknowledgement acknowledgement;
      acknowledgement.key = {oci::BackendSetName("bs_" + std::to_string(i)),
                             oci::BackendName("10.0.0.1:80")};
      acknowledgement.pod = kPod.key;
      acknowledgement.pod_uid = kPod.uid;
      acknowledgement.progress = progress[i];
      acknowledgement.release_at = pod_.deletion_timestamp - absl::Seconds(20);
      plan.acknowledgements.push_back(acknowledgement);
    }
    board_.Report(input, plan);
  }

  DrainOutcome Look() { return board_.Look(kPod, now_).outcome; }
  // Of a Pod that asked for a look at `since`.
  DrainAnswer Confirm(absl::Time since) { return board_.Look(kPod, now_, since); }
  absl::Time LookDue() { return board_.LookDue(oci::Ocid("lb-a"), absl::Seconds(1)); }

  kube::PodMetadata pod_;
  std::set<oci::Ocid> load_balancers_{oci::Ocid("lb-a")};
  std::vector<std::string> asked_;
  std::vector<oci::WorkRequest> unfinished_;  // in the list of each look
  absl::Time now_ = kStart;
  DrainBoard board_{{[this](const kube::ObjectKey& key) {
                       return key == pod_.key ? std::optional<kube::PodMetadata>(pod_)
                                              : std::nullopt;
                     },
                     [this](const kube::ObjectKey&) { return load_balancers_; },
                     [this](const oci::Ocid& id) { asked_.push_back(id.value()); }}};
};

TEST_F(DrainBoardTest, APodOfAnotherUidIsUnknown) {
  EXPECT_EQ(board_.Look({kPod.key, "u-1"}, now_).outcome, DrainOutcome::kUnknownPod);
  EXPECT_EQ(board_.Look({{"shop", "web-1"}, "u-0"}, now_).outcome, DrainOutcome::kUnknownPod);
}

TEST_F(DrainBoardTest, APodThatIsNotYetSeenEndingWaits) {
  Report("lb-a", {});
  const DrainAnswer answer = board_.Look(kPod, now_);
  EXPECT_EQ(answer.outcome, DrainOutcome::kWaiting);
  EXPECT_EQ(answer.look_again, now_ + absl::Seconds(1));
}

TEST_F(DrainBoardTest, EverySetOfEveryLoadBalancerMustLetGo) {
  load_balancers_.insert(oci::Ocid("lb-b"));
  Delete();
  Report("lb-a", {DrainProgress::kDrained, DrainProgress::kNotRegistered});
  EXPECT_EQ(Look(), DrainOutcome::kWaiting) << "the other load balancer has not spoken";
  Report("lb-b", {DrainProgress::kWaiting});
  const DrainAnswer answer = board_.Look(kPod, now_);
  EXPECT_EQ(answer.outcome, DrainOutcome::kWaiting);
  EXPECT_EQ(answer.sets.size(), 3u);
  EXPECT_EQ(answer.look_again, pod_.deletion_timestamp - absl::Seconds(20));
  Report("lb-b", {DrainProgress::kDrained});
  EXPECT_EQ(Look(), DrainOutcome::kDrained);
  Report("lb-a", {DrainProgress::kNotRegistered});
  Report("lb-b", {DrainProgress::kNotRegistered});
  EXPECT_EQ(Look(), DrainOutcome::kNotRegistered);
}

TEST_F(DrainBoardTest, APhotographFromBeforeTheDeletionDoesNotProveThatNoSetHoldsThePod) {
  Report("lb-a", {});
  now_ += absl::Seconds(1);
  Delete();
  ASSERT_TRUE(board_.Join(kPod, [] {}).ok());
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
  now_ += absl::Seconds(1);
  Report("lb-a", {});
  EXPECT_EQ(Look(), DrainOutcome::kNotRegistered);
}

TEST_F(DrainBoardTest, APodOfNoLoadBalancerIsNotRegistered) {
  load_balancers_.clear();
  Delete();
  EXPECT_EQ(Look(), DrainOutcome::kNotRegistered);
}

TEST_F(DrainBoardTest, ALoadBalancerThatWasNeverReadProvesNothing) {
  Delete();
  drain::Input input;
  input.now = now_;
  input.load_balancer = oci::Ocid("lb-a");
  board_.Report(input, drain::Plan());
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
}

TEST_F(DrainBoardTest, TheShutdownTimeBeforeTheDeadlineEveryPodIsLetGo) {
  Delete();
  Report("lb-a", {DrainProgress::kWaiting});
  now_ = pod_.deletion_timestamp - absl::Seconds(20);
  EXPECT_EQ(Look(), DrainOutcome::kDeadlineMissed);
  Report("lb-a", {DrainProgress::kDrained, DrainProgress::kHeldBack});
  EXPECT_EQ(Look(), DrainOutcome::kLastBackend);
}

TEST_F(DrainBoardTest, WithoutAWordOfAnySetItIsThirtySecondsBeforeTheDeadline) {
  Delete();
  now_ += absl::Seconds(29);
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
  now_ += absl::Seconds(1);
  EXPECT_EQ(Look(), DrainOutcome::kDeadlineMissed);
}

// Seen in the laboratory: 12 s of grace, backend-drain-shutdown of 2 s, and SIGTERM at once,
// since the hook had asked before the first plan after the deletion.
TEST_F(DrainBoardTest, AShortGracePeriodIsNotOverBeforeAPlanHasSpoken) {
  Delete(absl::Seconds(12));
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
  now_ += absl::Seconds(5);
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
  now_ += absl::Seconds(1);
  EXPECT_EQ(Look(), DrainOutcome::kDeadlineMissed);
}

TEST_F(DrainBoardTest, APodThatLeavesWithoutADeletionIsKnownByItsAcknowledgements) {
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(Look(), DrainOutcome::kDrained);
}

TEST_F(DrainBoardTest, AWaiterAsksForAPassOnceAndOnceMoreWhenThePodEnds) {
  ASSERT_TRUE(board_.Join(kPod, [] {}).ok());
  Look();
  Look();
  EXPECT_THAT(asked_, ElementsAre("lb-a"));
  Delete();
  Look();
  Look();
  EXPECT_THAT(asked_, ElementsAre("lb-a", "lb-a"));
}

TEST_F(DrainBoardTest, WaitersAreWokenByNewsOfTheirPodOnly) {
  int calls = 0;
  const auto waiter = board_.Join(kPod, [&] { ++calls; });
  ASSERT_TRUE(waiter.ok());
  Delete();
  Look();
  now_ += absl::Seconds(1);
  Report("lb-a", {DrainProgress::kWaiting});
  EXPECT_EQ(calls, 1);
  now_ += absl::Seconds(1);
  Report("lb-a", {DrainProgress::kWaiting});
  EXPECT_EQ(calls, 1);
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(calls, 2);
  board_.Leave(*waiter, /*let_go=*/true, now_);
  Report("lb-a", {DrainProgress::kWaiting});
  EXPECT_EQ(calls, 2);
}

TEST_F(DrainBoardTest, AConfirmationTakesALookThatIsYoungerThanTheQuestion) {
  Delete();
  Report("lb-a", {DrainProgress::kDrained});
  now_ += absl::Seconds(0.1);
  const absl::Time since = now_;
  int calls = 0;
  ASSERT_TRUE(board_
                  .Join(
                      kPod, [&] { ++calls; }, since)
                  .ok());
  EXPECT_EQ(LookDue(), absl::InfiniteFuture());
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kWaiting);
  EXPECT_FALSE(Confirm(since).refused);
  EXPECT_THAT(asked_, testing::Contains("lb-a"));
  EXPECT_EQ(LookDue(), since + absl::Seconds(0.9)) << "a second after the last look";
  EXPECT_EQ(Look(), DrainOutcome::kDrained) << "who asks as before is told as before";
  now_ += absl::Seconds(1);
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kDrained);
  EXPECT_EQ(LookDue(), absl::InfiniteFuture());
}

TEST_F(DrainBoardTest, OneLookConfirmsAllWhoAskedBeforeIt) {
  Delete();
  Report("lb-a", {DrainProgress::kDrained});
  const absl::Time first = now_ += absl::Seconds(2);
  EXPECT_EQ(Confirm(first).outcome, DrainOutcome::kWaiting);
  const absl::Time second = now_ += absl::Seconds(0.5);
  EXPECT_EQ(Confirm(second).outcome, DrainOutcome::kWaiting);
  now_ += absl::Seconds(0.1);
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(Confirm(first).outcome, DrainOutcome::kDrained);
  EXPECT_EQ(Confirm(second).outcome, DrainOutcome::kDrained);
  const absl::Time third = now_ + absl::Seconds(0.1);
  EXPECT_EQ(Confirm(third).outcome, DrainOutcome::kWaiting);
  EXPECT_EQ(LookDue(), now_ + absl::Seconds(1));
}

TEST_F(DrainBoardTest, ADrainThatIsTakenBackOrMayBeIsNotConfirmed) {
  Delete();
  const absl::Time since = now_;
  Report("lb-a", {DrainProgress::kWaiting});
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kWaiting);
  EXPECT_TRUE(Confirm(since).refused);
  oci::WorkRequest foreign;
  foreign.id = oci::WorkRequestId("w-1");
  foreign.type = "UpdateBackendSet";
  foreign.state = oci::WorkRequestState::kAccepted;
  unfinished_ = {foreign};
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_TRUE(Confirm(since).refused);
  EXPECT_EQ(Look(), DrainOutcome::kDrained);
  unfinished_[0].type = "UpdateListener";  // cannot change a backend
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kDrained);
}

TEST_F(DrainBoardTest, EveryLoadBalancerOfThePodIsLookedAt) {
  load_balancers_.insert(oci::Ocid("lb-b"));
  Delete();
  const absl::Time since = now_;
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kWaiting);
  EXPECT_FALSE(Confirm(since).refused);
  EXPECT_EQ(board_.LookDue(oci::Ocid("lb-b"), absl::Seconds(1)), absl::InfinitePast());
  Report("lb-b", {DrainProgress::kNotRegistered});
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kDrained);
  board_.Forget(oci::Ocid("lb-b"));
  EXPECT_EQ(board_.LookDue(oci::Ocid("lb-b"), absl::Seconds(1)), absl::InfiniteFuture());
}

TEST_F(DrainBoardTest, WhoseTimeIsUpIsNotHeldByALoadBalancerThatCannotBeLookedAt) {
  Delete();
  Report("lb-a", {DrainProgress::kDrained});
  const absl::Time since = now_ + absl::Seconds(1);
  now_ = pod_.deletion_timestamp - absl::Seconds(20.1);
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kWaiting);
  EXPECT_LE(Confirm(since).look_again, pod_.deletion_timestamp - absl::Seconds(20));
  now_ = pod_.deletion_timestamp - absl::Seconds(20);
  EXPECT_EQ(Confirm(since).outcome, DrainOutcome::kDrained) << "as far as is known";
}

TEST_F(DrainBoardTest, AWaiterThatLeftIsKnownForAMomentUnlessItWasLetGo) {
  const auto waiter = board_.Join(kPod, [] {});
  EXPECT_THAT(board_.Waiters(now_), ElementsAre("u-0"));
  board_.Leave(*waiter, /*let_go=*/false, now_);
  EXPECT_THAT(board_.Waiters(now_ + absl::Seconds(2)), ElementsAre("u-0"));
  EXPECT_THAT(board_.Waiters(now_ + absl::Seconds(3)), IsEmpty());
  const auto again = board_.Join(kPod, [] {});
  board_.Leave(*again, /*let_go=*/true, now_);
  EXPECT_THAT(board_.Waiters(now_), IsEmpty());
}

TEST_F(DrainBoardTest, ThereIsABoundOnWaiters) {
  int64_t last = 0;
  for (size_t i = 0; i < DrainBoard::kMaxWaiters; ++i) {
    const auto waiter = board_.Join({kPod.key, std::to_string(i)}, [] {});
    ASSERT_TRUE(waiter.ok());
    last = *waiter;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(board_.Join(kPod, [] {}).status()));
  board_.Leave(last, /*let_go=*/true, now_);
  EXPECT_TRUE(board_.Join(kPod, [] {}).ok());
}

TEST_F(DrainBoardTest, ALoadBalancerThatIsNotOursAnyMoreIsForgotten) {
  Delete();
  Report("lb-old", {DrainProgress::kWaiting});
  Report("lb-a", {DrainProgress::kDrained});
  EXPECT_EQ(Look(), DrainOutcome::kWaiting);
  board_.Forget(oci::Ocid("lb-old"));
  EXPECT_EQ(Look(), DrainOutcome::kDrained);
}

}  // namespace
}  // namespace controller
