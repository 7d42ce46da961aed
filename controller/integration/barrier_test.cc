// The drain barrier of a whole controller, over real HTTP.
#include <list>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "controller/barrier_peer_for_test.h"
#include "controller/barrier_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"
#include "sim/kube_resources.h"
#include "sim/load_balancer_document.h"

namespace integration {
namespace {

using controller::BarrierServer;
using controller::DrainBoard;
using controller::Peer;
using sim::ControllerWorld;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldService;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Barrier : public ::testing::Test {
 protected:
  void Start(const WorldService& service) {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService(service);
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    world_.StartController();
    auto barrier = BarrierServer::Start(world_.controller().board(), base::RealClock(),
                                        {.address = "127.0.0.1", .port = 0});
    ASSERT_TRUE(barrier.ok()) << barrier.status();
    barrier_ = *std::move(barrier);
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  std::string Question(const std::string& pod, const std::string& more = "") {
    const std::string uid =
        world_.Find({&sim::resources::Pods(), web_.ns, pod})["metadata"]["uid"].AsString();
    return absl::StrCat("GET /v1/drained/", web_.ns, "/", pod, "?uid=", uid, "&timeout=60s", more,
                        " HTTP/1.1\r\nHost: barrier\r\n\r\n");
  }

  bool AwaitWaiters(size_t count) {
    return world_.Await("waiters", [&] {
      return world_.controller().board().Waiters(absl::InfinitePast()).size() >= count;
    });
  }

  ControllerWorld world_;
  WorldService web_;
  std::unique_ptr<BarrierServer> barrier_;
};

TEST_F(Barrier, LetsAPodGoWhenItsBackendIsDrainedAndNotBefore) {
  Start({.name = "web"});
  Peer peer(barrier_->port(), Question("web-0"));
  ASSERT_TRUE(AwaitWaiters(1));
  world_.DeletePod(web_, "web-0");
  EXPECT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
  EXPECT_TRUE(world_.IsDrained(web_, "web-0"));
}

// Seen in the soak: the ingress controller's write was accepted after the drain had been
// confirmed and before SIGTERM.
TEST_F(Barrier, ADrainIsNotConfirmedWhileAForeignWriteMayTakeItBack) {
  Start({.name = "web"});
  Peer peer(barrier_->port(), Question("web-0"));
  ASSERT_TRUE(AwaitWaiters(1));
  world_.DeletePod(web_, "web-0");
  ASSERT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
  const auto clear_drains = [&](rapidjson::Document& lb) {
    rapidjson::Value& backends = (*sim::FindBackendSet(lb, web_.backend_set()))["backends"];
    for (rapidjson::Value& backend : backends.GetArray()) backend["drain"].SetBool(false);
    return sim::ApiError();
  };
  const auto write = [&](absl::Duration takes) {
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      core.options().min_service_time = core.options().max_service_time = takes;
      ASSERT_TRUE(core.QueueWrite(kWorldLoadBalancer, "UpdateBackendSet", "NIC", clear_drains,
                                  base::RealClock().Now())
                      .ok());
    });
  };
  const std::string confirm = Question("web-0", "&confirm=1");
  write(absl::ZeroDuration());  // applied at once
  std::string answer;
  ASSERT_TRUE(world_.Await("a confirmation", [&] {
    answer = Peer(barrier_->port(), confirm).ReadAll();
    return answer.rfind("HTTP/1.1 202 ", 0) != 0;
  }));
  EXPECT_THAT(answer, HasSubstr("\"outcome\":\"Drained\""));
  EXPECT_TRUE(world_.IsDrained(web_, "web-0"));
  write(absl::Hours(1));
  EXPECT_THAT(Peer(barrier_->port(), confirm).ReadAll(), StartsWith("HTTP/1.1 202 "));
  EXPECT_TRUE(world_.IsDrained(web_, "web-0")) << "it is only in danger";
}

TEST_F(Barrier, APodThatNoSetHoldsIsNotHeldUp) {
  Start({.name = "web"});
  const WorldService bare =
      world_.AddService({.name = "bare", .backend_draining = "", .has_ingress = false});
  const std::string question = Question("bare-0");
  Peer peer(barrier_->port(), question);
  ASSERT_TRUE(AwaitWaiters(1));
  world_.DeletePod(bare, "bare-0");
  EXPECT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"NotRegistered\""));
}

TEST_F(Barrier, ARolloutGoesOnWhileFiveThousandWait) {
  constexpr size_t kCount = DrainBoard::kMaxWaiters - 1;
  if (!controller::MayOpenFiles(2 * kCount + 2000)) {
    GTEST_SKIP() << "not enough open files are allowed";
  }
  Start({.name = "web"});
  const std::string question = Question("web-2");
  std::list<Peer> peers;
  for (size_t i = 0; i < kCount; ++i) peers.emplace_back(barrier_->port(), question);
  for (const char* pod : {"web-0", "web-1"}) {
    Peer peer(barrier_->port(), Question(pod));
    world_.DeletePod(web_, pod);
    EXPECT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
    EXPECT_TRUE(world_.IsDrained(web_, pod));
  }
  world_.DeletePod(web_, "web-2");
  for (Peer& peer : peers) ASSERT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
}

}  // namespace
}  // namespace integration
