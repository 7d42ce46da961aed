// oci-drain beside a controller that runs, each a process, over real HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/program.h"

namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StatusLive : public testing::Test {
 protected:
  StatusLive() : log_(absl::StrCat(testing::TempDir(), "/controller.log")) {
    web_ = world_.AddService({.name = "web", .pods = 3});
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
  }

  void StartController() {
    std::vector<std::string> command = {"cmd/oci-drain-controller"};
    for (const std::string& flag : world_.ProgramFlags()) command.push_back(flag);
    for (const char* flag :
         {"--health_port=0", "--barrier_port=0", "--health_address=127.0.0.1",
          "--work_request_poll=20ms", "--active_poll=100ms", "--coalesce_window=1ms"}) {
      command.emplace_back(flag);
    }
    auto started = sim::ChildProcess::Start(command, log_);
    ASSERT_TRUE(started.ok()) << started.status();
    controller_ = *std::move(started);
    ASSERT_TRUE(world_.Await("the controller is ready and looks at the load balancer", [&] {
      const cmd::Ran status = Call("status");
      return status.status == 0 && absl::StrContains(status.output, web_.backend_set());
    })) << sim::ReadFile(log_).value_or("");
  }

  // With the controller's address, once it is known.
  cmd::Ran Call(const std::string& arguments) {
    const std::string log = sim::ReadFile(log_).value_or("");
    const std::string before = "probes on port ";
    const size_t at = log.find(before);
    if (at == std::string::npos) return {};
    int port = 0;
    const size_t end = log.find(',', at);
    if (!absl::SimpleAtoi(log.substr(at + before.size(), end - at - before.size()), &port)) {
      return {};
    }
    return cmd::RunProgram(
        absl::StrCat("cmd/oci-drain ", arguments, " --address=127.0.0.1:", port));
  }

  const std::string log_;
  sim::ControllerWorld world_;
  sim::WorldService web_;
  std::unique_ptr<sim::ChildProcess> controller_;
};

TEST_F(StatusLive, AControllerTellsWhatItHasDone) {
  StartController();
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.Await("the status tells of it", [&] {
    return absl::StrContains(Call("status").output, "BackendDrained");
  })) << Call("status").output;
  const cmd::Ran status = Call("status");
  EXPECT_EQ(status.status, 0) << status.output;
  EXPECT_THAT(status.output, HasSubstr("leads, leader "));
  EXPECT_THAT(status.output, ContainsRegex("shop/web-0 +[0-9.:]+ +bs_[0-9a-f]+ +confirmed "));
  EXPECT_THAT(status.output, ContainsRegex("bs_[0-9a-f]+ +shop/web +512 +2 +1 +0 +0 "));
  EXPECT_THAT(status.output, ContainsRegex("ours +UpdateBackend, drain .* succeeded"));
  const cmd::Ran json = Call("status --output=json");
  EXPECT_EQ(json.status, 0) << json.output;
  EXPECT_TRUE(base::ParseJson(json.output, "status").ok()) << json.output;
  const cmd::Ran explained = Call("explain pod shop/web-0");
  EXPECT_EQ(explained.status, 0) << explained.output;
  EXPECT_THAT(explained.output,
              AllOf(HasSubstr("rule          2, its Pod is terminating"),
                    HasSubstr("in the set, drained"), HasSubstr("confirmed, of Pod UID "),
                    HasSubstr("UpdateBackend, drain: accepted as work request"),
                    HasSubstr("BackendDrained")));
  const cmd::Ran unknown = Call("explain pod shop/nobody");
  EXPECT_EQ(unknown.status, 4) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("Pod shop/nobody: no backend set knows it"));
}

TEST_F(StatusLive, WithoutAControllerAPodIsExplainedByClusterAndOci) {
  world_.DeletePod(web_, "web-0");
  const std::string flags = absl::StrJoin(world_.ProgramFlags(), " ");
  const cmd::Ran ran =
      cmd::RunProgram(absl::StrCat("cmd/oci-drain explain pod shop/web-0 ", flags));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("rule          2, its Pod is terminating"),
                                HasSubstr("decision      drain"), HasSubstr("SIGKILL ")));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  const cmd::Ran live =
      cmd::RunProgram(absl::StrCat("cmd/oci-drain explain pod shop/web-1 ", flags));
  EXPECT_THAT(live.output, HasSubstr("rule          1, its Pod is live"));
  const cmd::Ran unknown =
      cmd::RunProgram(absl::StrCat("cmd/oci-drain explain pod shop/nobody ", flags));
  EXPECT_EQ(unknown.status, 4) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("lead to one: web"));
}

}  // namespace
