// drain-wait as a process, with a whole controller: a Pod's SIGTERM comes after its
// backend is drained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "controller/barrier_server.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/kube_resources.h"

namespace {

using sim::kWorldLoadBalancer;

TEST(DrainOrder, ThePreStopHookEndsOnceTheBackendIsDrained) {
  sim::ControllerWorld world;
  world.AddClass(sim::kWorldClass, kWorldLoadBalancer);
  const sim::WorldService web = world.AddService({.name = "web"});
  world.AddLoadBalancer(kWorldLoadBalancer, {web});
  world.StartController();
  const auto barrier = controller::BarrierServer::Start(
      world.controller().board(), base::RealClock(), {.address = "127.0.0.1", .port = 0});
  ASSERT_TRUE(barrier.ok()) << barrier.status();
  ASSERT_TRUE(world.AwaitLooks(2));

  const std::string uid =
      world.Find({&sim::resources::Pods(), web.ns, "web-0"})["metadata"]["uid"].AsString();
  auto hook = sim::ChildProcess::Start(
      {"/usr/bin/env", "POD_NAMESPACE=" + web.ns, "POD_NAME=web-0", "POD_UID=" + uid,
       "cmd/drain-wait", "--linger=0s", "--fail_unless_drained",
       absl::StrCat("--address=127.0.0.1:", (*barrier)->port())},
      testing::TempDir() + "/drain_wait.log");
  ASSERT_TRUE(hook.ok()) << hook.status();
  ASSERT_TRUE(world.Await("the hook waits", [&] {
    return world.controller().board().Waiters(base::RealClock().Now()).count(uid) != 0;
  }));
  ASSERT_TRUE(world.AwaitLooks(3));
  EXPECT_TRUE((*hook)->running());

  world.DeletePod(web, "web-0");
  ASSERT_TRUE(world.Await("the hook ends", [&] { return !(*hook)->running(); }));
  // What the kubelet would do now is send SIGTERM.
  EXPECT_TRUE(world.IsDrained(web, "web-0"));
  EXPECT_EQ((*hook)->Ending(), "exit status 0");
}

}  // namespace
