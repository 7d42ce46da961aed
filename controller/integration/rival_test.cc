// Beside the ingress controller, which writes whole sets with drain=false.
#include "sim/rival.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "sim/controller_world.h"
#include "sim/kube_rival_world.h"
#include "sim/load_balancer_document.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldService;

class Beside : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService({.name = "web"});
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  // One pass of a rival that has just started: it reads afresh, and writes if the
  // addresses differ.
  int64_t RunRivalOnce() {
    auto kube = http::MakeCpprestTransport({.base_url = world_.cluster().url()}).value();
    sim::KubeRivalWorld cluster(*kube);
    const auto oci = world_.oci().TrustedTransport("nic");
    const absl::Time now = base::RealClock().Now();
    sim::Rival rival({}, cluster, *oci, now);
    rival.Step(now);
    return rival.counts().writes_accepted;
  }

  int64_t WritesOf(const std::string& client) {
    return world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      int64_t count = 0;
      for (const sim::WriteRecord& write : core.writes()) count += write.client == client ? 1 : 0;
      return count;
    });
  }

  ControllerWorld world_;
  WorldService web_;
};

TEST_F(Beside, ADrainThatTheRivalClearedIsSetAgain) {
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  // What only a foreign write adds makes the rival write the whole set.
  world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
    const absl::Status status = core.EditNow(
        kWorldLoadBalancer,
        [&](rapidjson::Document& lb) {
          rapidjson::Value& backends = (*sim::FindBackendSet(lb, web_.backend_set()))["backends"];
          rapidjson::Value stray(backends[0], lb.GetAllocator());
          stray["name"].SetString("10.9.9.9:8080", lb.GetAllocator());
          stray["ipAddress"].SetString("10.9.9.9", lb.GetAllocator());
          backends.PushBack(stray, lb.GetAllocator());
          return sim::ApiError();
        },
        base::RealClock().Now());
    ASSERT_TRUE(status.ok()) << status;
  });
  const int64_t before = WritesOf("controller");
  ASSERT_EQ(RunRivalOnce(), 1);
  ASSERT_TRUE(world_.Await("we write again", [&] { return WritesOf("controller") > before; }));
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_FALSE(world_.IsDrained(web_, "web-0"));
}

TEST_F(Beside, AfterACarriedMembershipTheRivalHasNothingToWrite) {
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  world_.AddPod(web_, "web-new");
  ASSERT_TRUE(world_.Await("the new Pod is registered", [&] {
    return world_.Backend(kWorldLoadBalancer, web_.backend_set(), world_.BackendOf(web_, "web-new"))
        .has_value();
  }));
  EXPECT_EQ(RunRivalOnce(), 0);
  EXPECT_TRUE(world_.IsDrained(web_, "web-0"));
}

}  // namespace
}  // namespace integration
