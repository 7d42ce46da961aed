// What the controller makes of an API server that restarts, forgets, forbids, or
// does not store the ledger.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/integration/two_load_balancers_for_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"

namespace integration {
namespace {

using sim::JsonTree;
using sim::KubeFault;
using sim::KubeWatchFault;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldCall;
using sim::WorldService;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class KubeErrors : public TwoLoadBalancers {
 protected:
  template <typename Function>
  void WithServer(Function function) {
    world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) { function(server); });
  }

  int CountLedgerWrites() {
    const std::vector<WorldCall> calls = world_.Calls();
    return static_cast<int>(std::count_if(
        calls.begin(), calls.end(), [](const WorldCall& call) { return call.is_ledger_write(); }));
  }
};

TEST_F(KubeErrors, ARestartInTheMiddleOfADrainLosesNothing) {
  world_.oci().With([](sim::FakeLoadBalancer& core, auto&) {
    core.options().min_service_time = core.options().max_service_time = absl::Milliseconds(300);
  });
  Start();
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(world_.Await("the write is on its way", [&] { return !world_.OciWrites().empty(); }));
  world_.cluster().Restart();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_TRUE(world_.IsDrained(web_, "web-0"));
  EXPECT_FALSE(world_.IsDrained(web_, "web-2"));
}

TEST_F(KubeErrors, AWatchThatIsTooOldIsListedAnew) {
  Start();
  WithServer([](sim::FakeApiServer& server) { server.watches().Expire("pods"); });
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), SizeIs(1));
}

TEST_F(KubeErrors, WatchesThatAreCutAreTakenUpWhereTheyWere) {
  Start();
  WithServer([](sim::FakeApiServer& server) { server.watches().Cut(""); });
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), SizeIs(1));
}

TEST_F(KubeErrors, ADeletionThatThePodsWatchMissedIsSeenInTheNextList) {
  Start();
  WithServer([](sim::FakeApiServer& server) {
    server.faults().Add(KubeWatchFault{
        .resource = "pods", .name = "web-1", .times = -1, .kind = KubeWatchFault::Kind::kDrop});
  });
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitLooks(2));
  WithServer([](sim::FakeApiServer& server) { server.faults().Clear(); });
  WithServer([](sim::FakeApiServer& server) { server.watches().Expire("pods"); });
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
}

TEST_F(KubeErrors, AForbiddenNamespaceStopsItsLoadBalancerByNameAndNoOther) {
  SetUpCluster();
  WithServer([](sim::FakeApiServer& server) { server.Forbid({.resource = "pods", .ns = "shop"}); });
  world_.StartController();
  const JsonTree event = world_.AwaitEvent("WatchForbidden", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr("pods in namespace shop"));
  world_.DeletePod(web_, "web-1");
  world_.DeletePod(api_, "api-1");
  EXPECT_TRUE(world_.AwaitConfirmed(api_, "api-1", kOtherLoadBalancer));
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), IsEmpty());
  for (const JsonTree& other : world_.Events("WatchForbidden")) {
    EXPECT_NE(other["regarding"]["name"].AsString(), "other");
  }
  WithServer([](sim::FakeApiServer& server) { server.PermitAll(); });
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(KubeErrors, AResourceForbiddenFromTheStartIsToldToEveryLoadBalancer) {
  SetUpCluster();
  WithServer([](sim::FakeApiServer& server) {
    server.Forbid({.resource = "endpointslices"});
    // The classes are listed long after the refusal.
    server.faults().Add(KubeFault{.verb = "list",
                                  .resource = "ingressclasses",
                                  .kind = KubeFault::Kind::kDelay,
                                  .delay = absl::Milliseconds(1500)});
  });
  world_.StartController();
  for (const char* name : {kWorldClass, "other"}) {
    EXPECT_THAT(world_.AwaitEvent("WatchForbidden", name)["note"].AsString(),
                HasSubstr("endpointslices"));
  }
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
}

TEST_F(KubeErrors, WithoutALedgerADrainWaitsForItsPatienceAndIsRecordedLater) {
  Start();
  WithServer([](sim::FakeApiServer& server) { server.Forbid({.resource = "configmaps"}); });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  absl::Time first_try = absl::InfiniteFuture();
  for (const WorldCall& call : world_.Calls()) {
    if (call.is_ledger_write()) first_try = std::min(first_try, call.time);
  }
  EXPECT_GE(world_.OciWrites()[0].time - first_try, absl::Milliseconds(250));
  const JsonTree event = world_.AwaitEvent("LedgerUnavailable", kWorldClass);
  EXPECT_EQ(event["type"].AsString(), "Warning");
  EXPECT_THAT(world_.Ledger(), IsEmpty());
  WithServer([](sim::FakeApiServer& server) { server.PermitAll(); });
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
}

TEST_F(KubeErrors, ALedgerThatStaysForbiddenIsAskedForEverLessOften) {
  Start();
  WithServer([](sim::FakeApiServer& server) { server.Forbid({.resource = "configmaps"}); });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  const int before = CountLedgerWrites();
  const absl::Time until = base::RealClock().Now() + absl::Seconds(3);
  ASSERT_TRUE(world_.Await("three seconds", [&] { return base::RealClock().Now() >= until; }));
  EXPECT_LE(CountLedgerWrites() - before, 12);
}

TEST_F(KubeErrors, ALedgerThatCannotBeReadIsNotOverwritten) {
  SetUpCluster();
  world_.Apply(absl::StrCat(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: drain, name: oci-drain-aaaa}\n",
      "data: {loadBalancer: ", kWorldLoadBalancer, ", ledger: \"{broken\"}\n"));
  world_.StartController();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  world_.AwaitEvent("LedgerUnavailable", kWorldClass);
  EXPECT_EQ(world_.Ledger(), "{broken");
}

TEST_F(KubeErrors, EventsThatAreRefusedHoldUpNoDrain) {
  SetUpCluster();
  WithServer([](sim::FakeApiServer& server) { server.Forbid({.resource = "events"}); });
  world_.StartController();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
}

}  // namespace
}  // namespace integration
