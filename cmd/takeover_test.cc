// Replicas of the controller as processes, between a cluster and a load balancer over
// real HTTP: one writes, and another one goes on where it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/barrier_peer_for_test.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/program.h"

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kBinary[] = "cmd/oci-drain-controller-wedge";

class Replica {
 public:
  Replica(std::vector<std::string> flags, const std::string& log) : log_(log) {
    flags.insert(flags.begin(), kBinary);
    auto started = sim::ChildProcess::Start(flags, log);
    EXPECT_TRUE(started.ok()) << started.status();
    process_ = *std::move(started);
  }

  sim::ChildProcess& process() { return *process_; }
  std::string Log() const { return sim::ReadFile(log_).value_or(""); }
  bool Says(const std::string& text) const { return absl::StrContains(Log(), text); }

  // The whole answer; empty until the port is known.
  std::string Get(const std::string& target) const {
    return GetFrom(Between("probes on port ", ","), target);
  }
  std::string AskBarrier(const std::string& target) const {
    return GetFrom(barrier_port(), target);
  }
  std::string barrier_port() const { return Between("drain barrier on port ", "\n"); }
  bool Answers(const std::string& target, const std::string& text) const {
    return absl::StrContains(Get(target), text);
  }

 private:
  static std::string GetFrom(const std::string& port_text, const std::string& target) {
    int port = 0;
    if (!absl::SimpleAtoi(port_text, &port)) return "";
    return controller::Peer(port, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"))
        .ReadAll();
  }

  std::string Between(const std::string& before, const std::string& after) const {
    const std::string log = Log();
    const size_t at = log.find(before);
    if (at == std::string::npos) return "";
    const size_t from = at + before.size();
    const size_t end = log.find(after, from);
    return end == std::string::npos ? "" : log.substr(from, end - from);
  }

  const std::string log_;
  std::unique_ptr<sim::ChildProcess> process_;
};

class Takeover : public testing::Test {
 protected:
  Takeover() {
    web_ = world_.AddService({.name = "web", .pods = 4});
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
  }

  std::unique_ptr<Replica> Start(const std::string& name, std::vector<std::string> flags = {}) {
    for (const std::string& flag : world_.ProgramFlags()) flags.push_back(flag);
    for (const char* flag : {"--health_port=0", "--barrier_port=0", "--health_address=127.0.0.1",
                             "--work_request_poll=20ms", "--active_poll=100ms",
                             "--coalesce_window=1ms", "--wedge_after=5s"}) {
      flags.emplace_back(flag);
    }
    return std::make_unique<Replica>(std::move(flags),
                                     absl::StrCat(testing::TempDir(), "/", name, ".log"));
  }
  // The first leads, the second stands by; both are ready.
  void StartBoth(const std::vector<std::string>& flags = {}) {
    first_ = Start("first", flags);
    ASSERT_TRUE(world_.Await("the first leads",
                             [&] {
                               return first_->Answers("/readyz?verbose", ": leads\n") &&
                                      first_->Answers("/readyz", "200 OK");
                             }))
        << first_->Log() << first_->Get("/readyz?verbose");
    second_ = Start("second", flags);
    ASSERT_TRUE(
        world_.Await("the second is ready", [&] { return second_->Answers("/readyz", "200 OK"); }))
        << second_->Log() << second_->Get("/readyz?verbose");
    EXPECT_TRUE(second_->Answers("/readyz?verbose", "stands by; "));
  }
  std::string Holder() {
    return world_
        .Find({sim::FindKubeKind("coordination.k8s.io/v1", "Lease"), sim::kWorldNamespace,
               "oci-drain"})["spec"]["holderIdentity"]
        .AsString();
  }
  std::string Both() { return first_->Log() + "\n--\n" + second_->Log(); }

  sim::ControllerWorld world_;
  sim::WorldService web_;
  std::unique_ptr<Replica> first_;
  std::unique_ptr<Replica> second_;
};

TEST_F(Takeover, OneWritesAndTheOtherIsReady) {
  StartBoth();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1")) << Both();
  world_.DeletePod(web_, "web-2");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-2")) << Both();
  EXPECT_THAT(world_.OciWrites(), SizeIs(2));
  EXPECT_FALSE(second_->Says("accepted"));
  EXPECT_TRUE(second_->Answers("/readyz", "200 OK"));
  EXPECT_TRUE(second_->Answers("/livez", "200 OK"));
}

TEST_F(Takeover, TheBarrierOfAStandbyAnswersWithWhatTheLeaderKnows) {
  StartBoth({"--barrier_advertise=127.0.0.1"});
  EXPECT_THAT(Holder(), HasSubstr(absl::StrCat("@127.0.0.1:", first_->barrier_port())));
  const std::string uid =
      world_.Find({sim::FindKubeKind("v1", "Pod"), web_.ns, "web-1"})["metadata"]["uid"].AsString();
  world_.DeletePod(web_, "web-1");
  EXPECT_THAT(second_->AskBarrier(
                  absl::StrCat("/v1/drained/", web_.ns, "/web-1?uid=", uid, "&timeout=60s")),
              HasSubstr("\"outcome\":\"Drained\""))
      << Both();
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
}

TEST_F(Takeover, AKilledLeaderIsReplacedWhenItsLeaseRunsOut) {
  StartBoth({"--lease_duration=6s", "--renew_deadline=4s", "--retry_period=1s"});
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1")) << Both();
  const std::string holder = Holder();
  first_->process().Signal(SIGKILL);
  world_.DeletePod(web_, "web-2");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-2")) << Both();
  EXPECT_NE(Holder(), holder);
  // What the first had drained is neither taken back nor written again.
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(2)) << Both();
}

TEST_F(Takeover, ALeaderThatIsToEndReleasesAndTheOtherActsAtOnce) {
  // A lease that would outlast the patience of every wait here.
  StartBoth({"--lease_duration=10m"});
  first_->process().Signal(SIGTERM);
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1")) << Both();
  ASSERT_TRUE(world_.Await("the first has ended", [&] { return !first_->process().running(); }));
  EXPECT_EQ(first_->process().Ending(), "exit status 0") << first_->Log();
  EXPECT_THAT(world_.OciWrites(), SizeIs(1)) << Both();
}

TEST_F(Takeover, AWriteInFlightAtTheEndIsFinishedAndTold) {
  StartBoth();
  sim::RequestFault slow;
  slow.matches = [](const sim::RequestRecord& record) { return record.request.method == "PUT"; };
  slow.delay = absl::Seconds(2);
  world_.oci().With([&](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Add(slow); });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("the ledger has the drain", [&] { return !world_.Ledger().empty(); }));
  first_->process().Signal(SIGTERM);
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1")) << Both();
  EXPECT_THAT(world_.OciWrites(), SizeIs(1)) << Both();
  ASSERT_TRUE(world_.Await("the first has ended", [&] { return !first_->process().running(); }));
  EXPECT_EQ(first_->process().Ending(), "exit status 0") << first_->Log();
  world_.AwaitEvent("BackendDrained", "web");
}

class Wedge : public Takeover, public testing::WithParamInterface<const char*> {};

TEST_P(Wedge, IsSeenAndAnotherOneLeads) {
  const std::string kind = GetParam();
  StartBoth({absl::StrCat("--test_wedge=", kind), "--lease_duration=8s", "--renew_deadline=6s",
             "--retry_period=1s"});
  const std::string holder = Holder();
  first_->process().Signal(SIGUSR1);
  // A watch thread stands still at the next event that it gets.
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("the first is not ready", [&] {
    return first_->Answers("/readyz", "503");
  })) << first_->Log();
  EXPECT_THAT(first_->Get("/livez"), HasSubstr(kind)) << first_->Get("/readyz?verbose");
  ASSERT_TRUE(world_.Await("another one leads", [&] {
    return Holder() != holder && !Holder().empty();
  })) << Both();
  world_.DeletePod(web_, "web-2");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-2")) << Both();
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_TRUE(second_->Answers("/readyz", "200 OK"));
  EXPECT_THAT(first_->Get("/livez"), HasSubstr("503")) << "its endpoints still answer";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Wedge, testing::Values("worker", "watch", "pool"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Takeover, AStuckProcessGivesTheLeaseUpAndEndsWithStatusThree) {
  StartBoth({"--test_wedge=worker", "--test_farewell_s=4"});
  const std::string holder = Holder();
  first_->process().Signal(SIGUSR1);
  ASSERT_TRUE(world_.Await("another one leads", [&] {
    return Holder() != holder && !Holder().empty();
  })) << Both();
  EXPECT_TRUE(first_->process().running()) << "its endpoints answer for a while";
  ASSERT_TRUE(world_.Await("the first has ended", [&] { return !first_->process().running(); }))
      << first_->Log();
  EXPECT_EQ(first_->process().Ending(), "exit status 3") << first_->Log();
  EXPECT_TRUE(first_->Says("the process ends in 4s")) << first_->Log();
}

TEST_F(Takeover, TheShippedProgramCannotBeMadeToStandStill) {
  const std::string log = absl::StrCat(testing::TempDir(), "/shipped.log");
  const auto shipped =
      sim::ChildProcess::Start({"cmd/oci-drain-controller", "--test_wedge=worker"}, log);
  ASSERT_TRUE(shipped.ok()) << shipped.status();
  ASSERT_TRUE(world_.Await("it has ended", [&] { return !(*shipped)->running(); }));
  EXPECT_EQ((*shipped)->Ending(), "exit status 2");
  EXPECT_THAT(sim::ReadFile(log).value_or(""), HasSubstr("test_wedge"));
}

}  // namespace
