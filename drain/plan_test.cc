// What a pass remembers of the write that it made. The decisions themselves are the
// golden cases of testdata/drain.
#include "drain/plan.h"

#include <initializer_list>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drain {
namespace {

using ::testing::ElementsAre;

const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);
const oci::BackendSetName kFirst("bs_1");
const oci::BackendSetName kSecond("bs_2");
const oci::WorkRequestId kOurs("ours");

oci::BackendSet SetOf(std::initializer_list<const char*> names) {
  oci::BackendSet set;
  for (const char* name : names) set.backends.emplace_back().name = oci::BackendName(name);
  return set;
}

// One flip of the backend "a".
Plan PlanFor(const oci::BackendSetName& set) {
  Plan plan;
  plan.write.emplace();
  plan.write->set = set;
  plan.write->base = SetOf({"a"});
  plan.write->change.flips[oci::BackendName("a")] = {};
  return plan;
}

TEST(Accepted, ABurstIsTheWritesOfOneWaveOverAllSets) {
  Plan first = PlanFor(kFirst);
  first.write->burst = {kSecond};
  const Memory after_first = Accepted(first, kOurs, kNow);
  EXPECT_EQ(after_first.last_burst, kNow);
  EXPECT_THAT(after_first.burst_sets, ElementsAre(kSecond));

  Plan second = PlanFor(kSecond);
  second.memory = after_first;
  const Memory after_second = Accepted(second, kOurs, kNow + absl::Seconds(9));
  EXPECT_EQ(after_second.last_burst, kNow) << "the burst goes on";
  EXPECT_EQ(after_second.last_write, kNow + absl::Seconds(9));
  EXPECT_TRUE(after_second.burst_sets.empty());
}

TEST(Accepted, RemembersWhatAWholeSetWriteWillMakeOfTheSet) {
  Plan plan = PlanFor(kFirst);
  Write& write = *plan.write;
  write.whole_set = true;
  write.behind = {oci::WorkRequestId("foreign")};
  write.base = SetOf({"a", "b", "c"});
  write.change.flips[oci::BackendName("a")] = {.drain = true, .offline = true};
  write.change.removals = {oci::BackendName("b")};
  write.change.additions.emplace_back().name = oci::BackendName("d");
  Flip& flip = write.flips.emplace_back();
  flip.key = {kFirst, oci::BackendName("a")};
  flip.pod_uid = "uid";
  plan.memory.due_since[flip.key] = kNow;

  const Memory memory = Accepted(plan, kOurs, kNow);
  ASSERT_TRUE(memory.own_write.has_value() && memory.own_write->sent.has_value());
  EXPECT_EQ(memory.own_write->work_request, kOurs);
  const auto& sent = (*memory.own_write->sent)->backends;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_TRUE(sent[0].drain && sent[0].offline);
  EXPECT_EQ(sent[1].name, oci::BackendName("c"));
  EXPECT_FALSE(sent[1].drain);
  EXPECT_EQ(sent[2].name, oci::BackendName("d"));
  EXPECT_EQ(memory.carried.at(flip.key), "uid");
  EXPECT_TRUE(memory.due_since.empty());
  EXPECT_EQ(memory.answered.size(), 1u) << "the foreign write has its answer";
  EXPECT_EQ(memory.beside_foreign, 0);
}

TEST(Accepted, CountsSingleFlipsBesideForeignWrites) {
  Plan plan = PlanFor(kFirst);
  plan.write->behind = {oci::WorkRequestId("foreign")};
  plan.write->flips.emplace_back().drain = false;
  const Memory memory = Accepted(plan, kOurs, kNow);
  EXPECT_EQ(memory.beside_foreign, 1);
  EXPECT_FALSE(memory.own_write->sent.has_value());
  EXPECT_TRUE(memory.carried.empty()) << "an un-drain carries no drain";
}

// Without an answer: a list of work requests decides.
Input AfterALostWrite(const char* type, const char* id) {
  Plan plan = PlanFor(kFirst);
  plan.write->whole_set = true;
  plan.write->behind = {oci::WorkRequestId("foreign")};
  Input input;
  input.now = kNow + absl::Seconds(1);
  input.memory = Lost(plan, kNow);
  input.work_requests.emplace();
  input.work_requests->this_pass = true;
  oci::WorkRequest& listed = input.work_requests->all.emplace_back();
  listed.id = oci::WorkRequestId(id);
  listed.type = type;
  listed.state = oci::WorkRequestState::kInProgress;
  return input;
}

TEST(Lost, HoldsTheNextWriteWhileTheLastOneMayRun) {
  EXPECT_TRUE(MakePlan(AfterALostWrite("UpdateBackendSet", "new")).memory.lost_write.has_value());
  EXPECT_FALSE(MakePlan(AfterALostWrite("UpdateBackend", "new")).memory.lost_write.has_value())
      << "of another type";
  EXPECT_FALSE(
      MakePlan(AfterALostWrite("UpdateBackendSet", "foreign")).memory.lost_write.has_value())
      << "it was there before";
  Input input = AfterALostWrite("UpdateBackendSet", "new");
  input.work_requests->all.front().state = oci::WorkRequestState::kSucceeded;
  EXPECT_FALSE(MakePlan(input).memory.lost_write.has_value()) << "it has ended";
}

TEST(Lost, IsDecidedByANewListOnly) {
  Input input = AfterALostWrite("UpdateBackend", "new");
  input.work_requests->this_pass = false;
  EXPECT_TRUE(MakePlan(input).memory.lost_write.has_value());
  input.now = kNow + input.options.own_write_give_up;
  EXPECT_FALSE(MakePlan(input).memory.lost_write.has_value()) << "given up";
}

// A Pod ended early while its backend routed, which was told. Then it was drained, and
// its deadline comes before that is confirmed.
TEST(MissedDeadline, StaysToldWhileTheLedgerHasTheDrain) {
  const BackendKey key{kFirst, oci::BackendName("a")};
  const std::string name = "missed|bs_1|a|uid";
  oci::LoadBalancer load_balancer;
  load_balancer.lifecycle_state = "ACTIVE";
  load_balancer.backend_sets[kFirst].name = kFirst;
  load_balancer.backend_sets[kFirst].backends.emplace_back().name = key.backend;
  Input input;
  input.now = kNow;
  input.read = Read{load_balancer, oci::Etag("etag"), kNow, /*this_pass=*/true};
  input.work_requests = WorkRequests{{}, kNow, /*this_pass=*/true};
  LedgerEntry& entry = input.ledger[key];
  entry.pod_uid = "uid";
  entry.since = kNow;
  entry.deadline = kNow + absl::Seconds(5);
  input.memory.told = {name};
  Plan plan = MakePlan(input);
  EXPECT_THAT(plan.memory.told, ElementsAre(name)) << "neither sign is seen now";
  EXPECT_TRUE(plan.notices.empty());
  input.now = input.read->at = input.work_requests->at = entry.deadline + absl::Seconds(1);
  input.memory.told = plan.memory.told;
  EXPECT_TRUE(MakePlan(input).notices.empty()) << "it is told once";
  input.memory.told.clear();
  plan = MakePlan(input);
  ASSERT_EQ(plan.notices.size(), 1u);
  EXPECT_EQ(plan.notices[0].kind, NoticeKind::kDrainDeadlineMissed);
}

}  // namespace
}  // namespace drain
