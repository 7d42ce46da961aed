// The world of tests in which one load balancer is in trouble and another is not.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_INTEGRATION_TWO_LOAD_BALANCERS_FOR_TEST_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_INTEGRATION_TWO_LOAD_BALANCERS_FOR_TEST_H_

#include <gtest/gtest.h>

#include "sim/controller_world.h"

namespace integration {

inline constexpr char kOtherLoadBalancer[] = "ocid1.loadbalancer.oc1.iad.bbbb";

// "shop/web" on kWorldLoadBalancer, which is to have trouble, and "other/api" on
// kOtherLoadBalancer, which is to go on.
class TwoLoadBalancers : public ::testing::Test {
 protected:
  void SetUpCluster() {
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddClass("other", kOtherLoadBalancer);
    web_ = world_.AddService({.name = "web"});
    api_ = world_.AddService({.ns = "other", .name = "api", .ingress_class = "other"});
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
    world_.AddLoadBalancer(kOtherLoadBalancer, {api_});
  }

  // Returns when the controller has looked at both.
  void Start() {
    SetUpCluster();
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
    ASSERT_TRUE(world_.AwaitLooks(2, kOtherLoadBalancer));
  }

  sim::ControllerWorld world_;
  sim::WorldService web_;
  sim::WorldService api_;
};

}  // namespace integration

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_INTEGRATION_TWO_LOAD_BALANCERS_FOR_TEST_H_
