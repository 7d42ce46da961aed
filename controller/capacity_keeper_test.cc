#include "controller/capacity_keeper.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "sim/in_memory_kube_api.h"
#include "sim/in_memory_load_balancer_api.h"
#include "sim/virtual_clock.h"

namespace controller {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);

class CapacityKeeperTest : public testing::Test {
 protected:
  // A set of Pods of which the first `held` are in it and all `published` are known.
  static void AddSet(const std::string& name, int subnet, int held, int published,
                     drain::Input& input, oci::LoadBalancer& load_balancer) {
    drain::SetInput set;
    set.name = oci::BackendSetName(name);
    set.service = {"v1", "Service", {"shop", name}, name};
    set.opted_in = set.publishes_terminating = true;
    set.target_port = 8080;
    for (int i = 0; i < published; ++i) {
      drain::Endpoint endpoint;
      endpoint.ip = absl::StrCat("10.0.", subnet, ".", i + 1);
      endpoint.port = 8080;
      endpoint.backend = oci::MakeBackendName(endpoint.ip, 8080);
      endpoint.pod = {"shop", absl::StrCat(name, "-", i)};
      endpoint.uid = endpoint.cached_uid = absl::StrCat("uid-", name, "-", i);
      set.endpoints.push_back(endpoint);
      if (i >= held) continue;
      oci::Backend backend;
      backend.name = endpoint.backend;
      backend.ip_address = endpoint.ip;
      backend.port = 8080;
      load_balancer.backend_sets[set.name].backends.push_back(backend);
    }
    input.sets.push_back(set);
  }

  static drain::Input Photograph(const oci::LoadBalancer& load_balancer, drain::Input input) {
    input.now = kNow;
    input.read.emplace();
    input.read->load_balancer = base::Shared<oci::LoadBalancer>(load_balancer);
    input.read->at = kNow;
    return input;
  }

  sim::VirtualClock clock_{kNow};
  sim::FakeApiServer server_;
  sim::FakeLoadBalancer load_balancer_;
  sim::InMemoryKubeApi kube_{server_, clock_};
  sim::InMemoryLoadBalancerApi oci_{load_balancer_, clock_, "test"};
  CallBudget budget_{clock_, 10, 20};
  kube::ClusterStore store_{clock_};
  kube::EventRecorder recorder_{base::Random(1)};
  Reporter reporter_{recorder_, clock_};
  Settings settings_;
  CapacityKeeper keeper_{{store_, reporter_}, {kube_, oci_, clock_, budget_}, settings_};
  LbState state_;
};

// Core Endpoints, which a write is made from, may be ahead of the watch.
TEST_F(CapacityKeeperTest, ASetOfWhichNothingWaitsMayTakeWhatIsLeft) {
  drain::Input input;
  input.options.max_backends_per_load_balancer = 20;
  oci::LoadBalancer load_balancer;
  AddSet("bs_a", 1, 6, 7, input, load_balancer);
  AddSet("bs_b", 2, 6, 6, input, load_balancer);
  input = Photograph(load_balancer, std::move(input));
  keeper_.Bound(input, state_);
  EXPECT_EQ(input.sets[0].max_additions, 8) << "one waits by the watch, eight slots are free";
  EXPECT_EQ(input.sets[1].max_additions, 7) << "one is the other set's";
}

TEST_F(CapacityKeeperTest, ASetThatWaitsIsBoundToItsShare) {
  drain::Input input;
  input.options.max_backends_per_load_balancer = 14;
  oci::LoadBalancer load_balancer;
  AddSet("bs_a", 1, 6, 8, input, load_balancer);
  AddSet("bs_b", 2, 6, 8, input, load_balancer);
  input = Photograph(load_balancer, std::move(input));
  keeper_.Bound(input, state_);
  EXPECT_EQ(input.sets[0].max_additions, 1);
  EXPECT_EQ(input.sets[1].max_additions, 1);
}

TEST_F(CapacityKeeperTest, WhatOciHasRefusedIsBelievedUntilSomethingLeaves) {
  drain::Input input;
  oci::LoadBalancer load_balancer;
  AddSet("bs_a", 1, 4, 6, input, load_balancer);
  AddSet("bs_b", 2, 3, 3, input, load_balancer);
  const oci::BackendSetName set("bs_a");
  input = Photograph(load_balancer, std::move(input));
  EXPECT_TRUE(CapacityKeeper::NoteRefusal(input, set, kNow + absl::Minutes(10), state_));
  EXPECT_FALSE(CapacityKeeper::NoteRefusal(input, set, kNow + absl::Minutes(10), state_))
      << "it was bound already, so that this is about something else";
  keeper_.Bound(input, state_);
  EXPECT_EQ(input.sets[0].refused_beyond, 4);
  EXPECT_EQ(input.sets[0].max_additions, 0);
  EXPECT_EQ(input.sets[1].refused_beyond, std::nullopt);

  load_balancer.backend_sets[oci::BackendSetName("bs_b")].backends.pop_back();
  input = Photograph(load_balancer, std::move(input));
  keeper_.Bound(input, state_);
  EXPECT_EQ(input.sets[0].refused_beyond, 5) << "the slot of the other set may be what it lacked";

  input.now = kNow + absl::Minutes(10);
  keeper_.Bound(input, state_);
  EXPECT_EQ(input.sets[0].refused_beyond, std::nullopt);
}

}  // namespace
}  // namespace controller
