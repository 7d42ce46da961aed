// Each plan here breaks one promise, as a careless planner might.
#include "drain/check.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drain {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);
const oci::BackendSetName kSet("bs_web");
const oci::BackendName kEnding("10.0.0.1:8080");
const oci::BackendName kLive("10.0.0.2:8080");
const oci::BackendName kForeign("10.9.9.9:8080");

Endpoint EndpointAt(const std::string& ip, bool terminating) {
  Endpoint endpoint;
  endpoint.ip = ip;
  endpoint.port = 8080;
  endpoint.backend = oci::MakeBackendName(ip, 8080);
  endpoint.pod = {"shop", "web-" + ip};
  endpoint.uid = endpoint.cached_uid = "uid-" + ip;
  if (terminating) endpoint.deletion_timestamp = kNow + absl::Seconds(30);
  return endpoint;
}

// One Pod ends, one lives, and a backend is nobody's; the plan drains the first.
class CheckPlanTest : public ::testing::Test {
 protected:
  CheckPlanTest() {
    input_.now = kNow;
    input_.options.coalesce_window = absl::ZeroDuration();
    oci::LoadBalancer load_balancer;
    load_balancer.lifecycle_state = "ACTIVE";
    oci::BackendSet& read = load_balancer.backend_sets[kSet];
    read.name = kSet;
    read.health_checker_protocol = "HTTP";
    for (const oci::BackendName& name : {kEnding, kLive, kForeign}) {
      read.backends.emplace_back().name = name;
    }
    input_.read = Read{std::move(load_balancer), oci::Etag("e"), kNow, true};
    input_.work_requests = WorkRequests{{}, kNow, true};
    SetInput& set = input_.sets.emplace_back();
    set.name = kSet;
    set.service = {"v1", "Service", {"shop", "web"}, "service"};
    set.opted_in = set.publishes_terminating = true;
    set.has_membership = false;
    set.target_port = 8080;
    set.endpoints = {EndpointAt("10.0.0.1", true), EndpointAt("10.0.0.2", false)};
    plan_ = MakePlan(input_);
  }

  SetInput& set() { return input_.sets[0]; }
  Write& write() { return *plan_.write; }

  void ExpectBroken(const std::string& words) {
    const absl::Status status = CheckPlan(input_, plan_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }

  void FlipTo(const oci::BackendName& name, bool drain, const std::string& uid) {
    write().flips = {Flip{.key = {kSet, name}, .drain = drain, .pod = "", .pod_uid = uid}};
    write().change.flips = {{name, {.drain = drain, .offline = false}}};
  }

  Input input_;
  Plan plan_;
};

TEST_F(CheckPlanTest, PassesAPlanThatIsSound) {
  ASSERT_TRUE(plan_.write.has_value());
  EXPECT_TRUE(CheckPlan(input_, plan_).ok()) << CheckPlan(input_, plan_);
  plan_.write.reset();
  EXPECT_TRUE(CheckPlan(input_, plan_).ok()) << "who writes nothing breaks nothing";
}

TEST_F(CheckPlanTest, FindsAWriteWhileSomethingIsAsked) {
  plan_.questions.read = true;
  ExpectBroken("questions are open");
}

TEST_F(CheckPlanTest, FindsAWriteWhilePaused) {
  input_.paused = true;
  ExpectBroken("while paused");
}

TEST_F(CheckPlanTest, FindsAWriteWithoutTheEtagOfItsRead) {
  write().etag = oci::Etag("older");
  ExpectBroken("without the ETag");
  write().etag = oci::Etag();
  input_.read->etag = oci::Etag();
  ExpectBroken("without the ETag");
  input_.read.reset();
  ExpectBroken("without the ETag");
}

TEST_F(CheckPlanTest, FindsASetThatIsNotToBeWritten) {
  set().contested = true;
  ExpectBroken("contested");
  set().name = oci::BackendSetName("bs_other");
  ExpectBroken("nothing maps to this set");
}

TEST_F(CheckPlanTest, FindsADrainWithoutOptIn) {
  set().publishes_terminating = false;
  ExpectBroken("a drain without opt-in");
  set().publishes_terminating = true;
  input_.options.release = true;
  ExpectBroken("a drain without opt-in");
  input_.options.release = false;
  set().opted_in = false;
  ExpectBroken("a drain without opt-in");
}

TEST_F(CheckPlanTest, FindsMembershipWithoutOptInUnlessItIsCarriedForAll) {
  set().opted_in = false;
  write().flips.clear();
  write().change.flips.clear();
  write().change.removals = {kEnding};
  ExpectBroken("membership of a Service without opt-in");
  input_.carry_all = true;
  EXPECT_TRUE(CheckPlan(input_, plan_).ok());
}

TEST_F(CheckPlanTest, FindsAFlipThatTheRuleDoesNotGive) {
  FlipTo(kLive, true, "");
  ExpectBroken("drained though its Pod is not known to end");
  FlipTo(kEnding, false, "");
  ExpectBroken("un-drained though no live Pod has it");
  FlipTo(kForeign, true, "");
  ExpectBroken("no endpoint names it");
}

TEST_F(CheckPlanTest, FindsADrainThatIsNotWrittenDown) {
  plan_.ledger.clear();
  ExpectBroken("not in the ledger");
}

TEST_F(CheckPlanTest, FindsAnUndrainThatIsNotOurs) {
  FlipTo(kLive, false, "uid-10.0.0.2");
  ExpectBroken("not in the ledger");
  LedgerEntry& entry = input_.ledger[{kSet, kLive}];
  EXPECT_TRUE(CheckPlan(input_, plan_).ok());
  entry.by_operator = true;
  EXPECT_TRUE(CheckPlan(input_, plan_).ok()) << "of a Pod that has gone";
  entry.pod_uid = "uid-10.0.0.2";
  ExpectBroken("an operator's drain of this Pod");
}

TEST_F(CheckPlanTest, FindsAForeignBackendThatIsTouched) {
  write().change.flips[kForeign] = {};
  ExpectBroken("flag of a foreign backend");
  write().change.flips.erase(kForeign);
  write().change.removals = {kForeign};
  ExpectBroken("a foreign backend left out");
  input_.memory.known.Put({kSet, kForeign}, {});
  EXPECT_TRUE(CheckPlan(input_, plan_).ok()) << "it was a Pod of this Service";
}

TEST_F(CheckPlanTest, FindsMoreBackendsThanAllowed) {
  write().change.additions.emplace_back().name = oci::BackendName("10.0.0.3:8080");
  write().base = input_.read->load_balancer->backend_sets.at(kSet);
  EXPECT_TRUE(CheckPlan(input_, plan_).ok());
  input_.options.max_backends_per_set = 3;
  ExpectBroken("more backends than a set may have");
  input_.options.max_backends_per_set = 512;
  input_.options.max_backends_per_load_balancer = 3;
  ExpectBroken("more backends than a load balancer may have");
  write().change.removals = {kEnding};
  EXPECT_TRUE(CheckPlan(input_, plan_).ok()) << "no more than there are already";
}

TEST_F(CheckPlanTest, CountsASetThatIsNotThereAsEmpty) {
  write().change.additions.emplace_back().name = oci::BackendName("10.0.0.3:8080");
  input_.read->load_balancer = oci::LoadBalancer();
  input_.options.max_backends_per_set = 0;
  ExpectBroken("more backends than a set may have");
}

}  // namespace
}  // namespace drain
