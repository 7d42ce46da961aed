// oci-drain as a process beside a cluster and a load balancer, over real HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "controller/ledger_store.h"
#include "sim/controller_world.h"
#include "sim/program.h"

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LiveCommands : public testing::Test {
 protected:
  LiveCommands() {
    web_ = world_.AddService({.name = "web", .pods = 3});
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
  }

  cmd::Ran Call(const std::string& arguments) {
    return cmd::RunProgram(
        absl::StrCat("cmd/oci-drain ", arguments, " ", absl::StrJoin(world_.ProgramFlags(), " ")));
  }

  // As if the controller had drained the Pod's backend.
  std::string LedgerOf(const std::string& pod) {
    const std::string uid =
        world_.Find({&sim::resources::Pods(), web_.ns, pod})["metadata"]["uid"].AsString();
    return absl::StrCat(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ", sim::kWorldNamespace,
        ", name: ", controller::LedgerName(oci::Ocid(sim::kWorldLoadBalancer)),
        "}\ndata: {loadBalancer: ", sim::kWorldLoadBalancer,
        ", ledger: '{\"version\":1,\"entries\":[{\"set\":\"", web_.backend_set(),
        "\",\"backend\":\"", world_.BackendOf(web_, pod), "\",\"pod\":\"", pod, "\",\"podUid\":\"",
        uid, "\",\"since\":\"2026-11-30T12:00:00Z\"}]}'}\n");
  }

  sim::ControllerWorld world_;
  sim::WorldService web_;
};

TEST_F(LiveCommands, PlanTellsWhatWouldBeDrainedAndWritesNothing) {
  world_.DeletePod(web_, "web-0");
  const cmd::Ran ran = Call("plan");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("shop/web-0 [routable]: its Pod is terminating"));
  EXPECT_THAT(ran.output, HasSubstr("shop/web-1 [routable]: its Pod is live"));
  EXPECT_THAT(ran.output, HasSubstr(absl::StrCat("write ", web_.backend_set(), ": UpdateBackend")));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  for (const sim::WorldCall& call : world_.Calls()) EXPECT_FALSE(call.is_ledger_write());
}

TEST_F(LiveCommands, BudgetSaysWhatEachServiceNeeds) {
  const cmd::Ran ran = Call("budget --startup=20s");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("14s at most (assumed: none is remembered)"));
  EXPECT_THAT(ran.output, HasSubstr("  Service shop/web, shutdown 30s\n"));
  EXPECT_THAT(ran.output, HasSubstr("terminationGracePeriodSeconds 129 or more"));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
}

TEST_F(LiveCommands, PlanForProgramsIsOneObjectOnOneLine) {
  world_.DeletePod(web_, "web-0");
  const cmd::Ran ran = Call("plan --output=json");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1);
  EXPECT_TRUE(base::ParseJson(ran.output, "plan").ok()) << ran.output;
}

TEST_F(LiveCommands, ASnapshotOfTheClusterGivesTheSamePlanLater) {
  world_.DeletePod(web_, "web-0");
  const cmd::Ran snapshot = Call("plan --output=snapshot");
  ASSERT_EQ(snapshot.status, 0) << snapshot.output;
  const std::string file = testing::TempDir() + "/snapshot.json";
  ASSERT_TRUE(sim::WriteFile(file, snapshot.output).ok());
  const cmd::Ran later = cmd::RunProgram("cmd/oci-drain plan --snapshot=" + file);
  EXPECT_EQ(later.status, 0) << later.output;
  EXPECT_THAT(later.output, HasSubstr("shop/web-0 [routable]: its Pod is terminating"));
  EXPECT_THAT(later.output, HasSubstr(absl::StrCat("write ", web_.backend_set())));
}

TEST_F(LiveCommands, CapacityIsATableOfEachSetsSlotsAndWritesNothing) {
  world_.AddPod(web_, "web-new");
  const cmd::Ran ran = Call("capacity --max_backends_per_set=3");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr(": 3 of 512 backends in use, 509 free"));
  EXPECT_THAT(ran.output, testing::ContainsRegex(absl::StrCat(
                              web_.backend_set(), " +shop/web +3 +3 +0 +0 +1 +0 +0 +4\n")));
  EXPECT_THAT(ran.output, HasSubstr("RolloutBlockedByBackendLimit: 1 Pod(s)"));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  const cmd::Ran json = Call("capacity --output=json");
  EXPECT_EQ(json.status, 0) << json.output;
  EXPECT_EQ(json.output.find('\n'), json.output.size() - 1);
  EXPECT_TRUE(base::ParseJson(json.output, "capacity").ok()) << json.output;
  EXPECT_THAT(json.output, HasSubstr("\"pending\":1"));
}

TEST_F(LiveCommands, CapacityEndsWithThreeIfARolloutWouldNotFit) {
  world_.Apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: a}]}
)");
  ASSERT_TRUE(world_.Await("Pods of the Deployment", [&] {
    return world_.cluster().With([](sim::FakeApiServer& server, auto&) {
      return server.store().List(sim::resources::Pods(), "shop").size() >= 6;
    });
  }));
  const cmd::Ran ran = Call("capacity --max_backends_per_set=3");
  EXPECT_EQ(ran.status, 3) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("RolloutWillExceedBackendLimit: A rollout of Deployment"));
}

TEST_F(LiveCommands, ALoadBalancerThatNoIngressClassNamesIsNamedInTheError) {
  const cmd::Ran ran = Call("plan --load_balancer=ocid1.loadbalancer.oc1.iad.other");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("ocid1.loadbalancer.oc1.iad.other"));
  EXPECT_THAT(ran.output, HasSubstr("oci-native-ingress.oraclecloud.com/id"));
}

// What our drain left behind after its address went to a live Pod is taken back;
// what an operator drained stays.
TEST_F(LiveCommands, ReleaseUndrainsWhatIsOursAndLivesAndNothingElse) {
  const auto drain = [](rapidjson::Value& backend) { backend["drain"].SetBool(true); };
  world_.EditBackend(web_, "web-0", drain);
  world_.EditBackend(web_, "web-1", drain);
  world_.Apply(LedgerOf("web-0"));
  const cmd::Ran ran = Call("release");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr(absl::StrCat(sim::kWorldLoadBalancer, ": released")));
  EXPECT_FALSE(world_.IsDrained(web_, "web-0"));
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  const cmd::Ran again = Call("release");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(world_.OciWrites().size(), 1u);
}

TEST_F(LiveCommands, ReleaseSaysWhichLoadBalancerItCouldNotReach) {
  world_.oci().With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
    core.RemoveLoadBalancer(sim::kWorldLoadBalancer);
  });
  const cmd::Ran ran = Call("release --release_within=2s");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr(sim::kWorldLoadBalancer));
  EXPECT_THAT(ran.output, Not(HasSubstr(": released")));
}

}  // namespace
