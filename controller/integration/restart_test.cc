// A controller that ends in the middle of something, and its successor.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::JsonTree;
using sim::KubeFault;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::RequestFault;
using sim::RequestRecord;
using sim::WorldCall;
using sim::WorldService;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool IsWrite(const RequestRecord& record) { return record.request.method == "PUT"; }

class Restart : public ::testing::Test {
 protected:
  void Start() {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService({.name = "web"});
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  void SetServiceTime(absl::Duration time) {
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      core.options().min_service_time = core.options().max_service_time = time;
    });
  }

  // Ends the controller and says how long that took.
  absl::Duration TimeToStop() {
    const absl::Time from = base::RealClock().Now();
    world_.StopController();
    return base::RealClock().Now() - from;
  }

  ControllerWorld world_;
  WorldService web_;
};

TEST_F(Restart, ADrainThatIsConfirmedIsNeitherTakenBackNorRepeated) {
  Start();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  const std::string ledger = world_.Ledger();
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLooks(4));
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
  EXPECT_EQ(world_.Ledger(), ledger);
}

TEST_F(Restart, ADrainThatWasWrittenAndNotYetConfirmedIsConfirmedByTheSuccessor) {
  // The predecessor never sees its work request end.
  world_.settings().plan.work_request_poll = absl::Hours(1);
  Start();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  ASSERT_THAT(world_.Ledger(), HasSubstr(world_.BackendOf(web_, "web-1")));
  world_.settings().plan.work_request_poll = absl::Milliseconds(5);
  world_.StartController();
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
  world_.AwaitEvent("BackendDrained", "web");
}

TEST_F(Restart, AWriteThatIsStillRunningEndsDrained) {
  SetServiceTime(absl::Seconds(1));
  Start();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("the write is on its way", [&] { return !world_.OciWrites().empty(); }));
  world_.StartController();
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_FALSE(world_.IsDrained(web_, "web-0"));
  for (const WorldCall& write : world_.OciWrites()) {
    EXPECT_THAT(write.body, HasSubstr("\"drain\":true"));
  }
}

TEST_F(Restart, APodThatIsDeletedWhileNobodyLooksIsDrainedAtOnce) {
  Start();
  world_.StopController();
  world_.DeletePod(web_, "web-1");
  world_.StartController();
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
}

TEST_F(Restart, AnOperatorsDrainOfALivePodIsStillRespected) {
  Start();
  world_.EditBackend(web_, "web-1", [](rapidjson::Value& backend) { backend["drain"] = true; });
  ASSERT_TRUE(world_.Await("the ledger knows the operator's drain", [&] {
    return absl::StrContains(world_.Ledger(), "byOperator");
  })) << world_.Ledger();
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLooks(4));
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
}

TEST_F(Restart, ADrainedTerminatingPodWithoutAnEntryIsEnteredAsOurs) {
  Start();
  world_.StopController();
  world_.DeletePod(web_, "web-1");
  world_.EditBackend(web_, "web-1", [](rapidjson::Value& backend) { backend["drain"] = true; });
  world_.StartController();
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.Ledger(), ::testing::Not(HasSubstr("byOperator")));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
}

// The controller ends within ten seconds, whatever hangs for ten minutes; a slow machine
// may take longer.
constexpr absl::Duration kAtOnce = absl::Minutes(1);

TEST_F(Restart, StopEndsInTimeWhileAWriteHangs) {
  Start();
  RequestFault hang;
  hang.matches = IsWrite;
  hang.delay = absl::Minutes(10);
  world_.oci().With([&](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Add(hang); });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("the write hangs", [&] { return !world_.OciWrites().empty(); }));
  EXPECT_LT(TimeToStop(), kAtOnce);
  // What was written without an answer is found by the successor.
  world_.StartController();
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
}

TEST_F(Restart, StopEndsInTimeWhileReadsHang) {
  Start();
  RequestFault hang;
  hang.times = 1000;
  hang.delay = absl::Minutes(10);
  const size_t before = world_.Calls().size();
  world_.oci().With([&](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Add(hang); });
  ASSERT_TRUE(world_.Await("a read hangs", [&] { return world_.Calls().size() > before; }));
  EXPECT_LT(TimeToStop(), kAtOnce);
}

TEST_F(Restart, StopEndsInTimeWhileTheApiServerHangs) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  world_.cluster().With([](sim::FakeApiServer& server, sim::Controllers&) {
    server.faults().Add(
        KubeFault{.times = -1, .kind = KubeFault::Kind::kDelay, .delay = absl::Minutes(10)});
  });
  world_.StartController();
  ASSERT_TRUE(world_.Await("lists hang", [&] { return world_.Calls().size() >= 3; }));
  EXPECT_LT(TimeToStop(), kAtOnce);
}

TEST_F(Restart, StopEndsInTimeWhileTheLedgerHangs) {
  Start();
  world_.cluster().With([](sim::FakeApiServer& server, sim::Controllers&) {
    server.faults().Add(KubeFault{.resource = "configmaps",
                                  .times = -1,
                                  .kind = KubeFault::Kind::kDelay,
                                  .delay = absl::Minutes(10)});
    server.faults().Add(KubeFault{.resource = "events",
                                  .times = -1,
                                  .kind = KubeFault::Kind::kDelay,
                                  .delay = absl::Minutes(10)});
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("the ledger's write hangs", [&] {
    for (const WorldCall& call : world_.Calls()) {
      if (call.is_ledger_write()) return true;
    }
    return false;
  }));
  EXPECT_LT(TimeToStop(), kAtOnce);
}

}  // namespace
}  // namespace integration
