// A Service without the annotation is never touched: proved by every request that
// the load balancer's API received while such Services were rolled out.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"
#include "sim/load_balancer_document.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::JsonTree;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldCall;
using sim::WorldService;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kReplicas = 4;

sim::ControllerWorldOptions Options() {
  sim::ControllerWorldOptions options;
  options.cluster.controllers.kubelet.shutdown = absl::Milliseconds(100);
  options.cluster.controllers.kubelet.removal = absl::Milliseconds(50);
  return options;
}

class OptIn : public ::testing::Test {
 protected:
  // A Service whose Pods belong to a Deployment.
  WorldService AddDeployed(WorldService service) {
    service.pods = 0;
    world_.AddService(service);
    world_.Apply(absl::Substitute(
        "apiVersion: apps/v1\n"
        "kind: Deployment\n"
        "metadata: {namespace: $0, name: $1}\n"
        "spec:\n"
        "  replicas: $2\n"
        "  selector: {matchLabels: {app: $1}}\n"
        "  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n"
        "  template:\n"
        "    metadata: {labels: {app: $1}}\n"
        "    spec:\n"
        "      containers: [{name: c, image: x, ports: [{name: http, containerPort: 8080}]}]\n",
        service.ns, service.name, kReplicas));
    world_.Await("all Pods are ready", [&] { return IsRolledOut(service); });
    return service;
  }

  JsonTree DeploymentOf(const WorldService& service) { return world_.Find(DeploymentRef(service)); }

  static sim::KubeObjectRef DeploymentRef(const WorldService& service) {
    return {&sim::resources::Deployments(), service.ns, service.name};
  }

  std::vector<JsonTree> PodsOf(const WorldService& service) {
    return world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
      std::vector<JsonTree> pods;
      for (const auto& pod : server.store().List(sim::resources::Pods(), service.ns)) {
        if ((*pod)["metadata"]["labels"]["app"].AsString() == service.name) pods.push_back(*pod);
      }
      return pods;
    });
  }

  bool IsRolledOut(const WorldService& service) {
    const JsonTree deployment = DeploymentOf(service);
    const JsonTree& status = deployment["status"];
    return status["observedGeneration"].AsInt() == deployment["metadata"]["generation"].AsInt() &&
           status["updatedReplicas"].AsInt() == kReplicas &&
           status["availableReplicas"].AsInt() == kReplicas && PodsOf(service).size() == kReplicas;
  }

  void RollOut(const WorldService& service) {
    world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
      server.objects().Modify(
          DeploymentRef(service), {"kubectl", base::RealClock().Now()}, [](JsonTree& deployment) {
            JsonTree& metadata = deployment.Child("spec").Child("template").Child("metadata");
            metadata.Child("annotations").Set("restartedAt", "now");
          });
    });
    world_.Await("the rollout is over", [&] { return IsRolledOut(service); });
  }

  // A set of the load balancer's with the addresses of its Pods.
  void AddLoadBalancer(const std::vector<WorldService>& services) {
    std::map<std::string, std::vector<std::string>> sets;
    for (const WorldService& service : services) {
      for (const JsonTree& pod : PodsOf(service)) {
        sets[service.backend_set()].push_back(
            absl::StrCat(pod["status"]["podIP"].AsString(), ":8080"));
      }
    }
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      ASSERT_TRUE(core.AddLoadBalancer(sim::MakeLoadBalancerJson(kWorldLoadBalancer, sets),
                                       base::RealClock().Now())
                      .ok());
    });
  }

  std::string SetJson(const WorldService& service) {
    return world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      return core.GetBackendSet(kWorldLoadBalancer, service.backend_set(), base::RealClock().Now())
          .body;
    });
  }

  // Of one Service: rolls it out and compares all that went to OCI.
  void ExpectUntouched(const WorldService& service) {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    AddDeployed(service);
    AddLoadBalancer({service});
    const std::string before = SetJson(service);
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
    RollOut(service);
    ASSERT_TRUE(world_.AwaitLooks(5));
    int requests = 0;
    for (const WorldCall& call : world_.Calls()) {
      if (call.to == WorldCall::To::kOci) {
        ++requests;
        EXPECT_EQ(call.method, "GET") << call.target;
        EXPECT_THAT(call.target,
                    AnyOf(EndsWith(kWorldLoadBalancer), HasSubstr("/workRequests?limit=")));
        EXPECT_THAT(call.body, IsEmpty());
      } else if (call.method != "GET") {
        // The only objects that are written are Events.
        EXPECT_THAT(call.target, StartsWith("/apis/events.k8s.io/v1/namespaces/"));
      }
    }
    EXPECT_GE(requests, 7);
    EXPECT_EQ(SetJson(service), before);
  }

  ControllerWorld world_{Options()};
};

TEST_F(OptIn, AServiceWithoutTheAnnotationIsNeverTouched) {
  ExpectUntouched({.name = "plain", .backend_draining = ""});
}

TEST_F(OptIn, AServiceThatSaysFalseIsNeverTouched) {
  ExpectUntouched({.name = "plain", .backend_draining = "false"});
}

TEST_F(OptIn, AServiceWithAnotherValueIsNeverTouchedAndToldSo) {
  ExpectUntouched({.name = "plain", .backend_draining = "True"});
  const JsonTree event = world_.AwaitEvent("InvalidAnnotation", "plain");
  EXPECT_EQ(event["type"].AsString(), "Warning");
  const std::string& note = event["note"].AsString();
  EXPECT_THAT(note, HasSubstr("oci-native-ingress.oraclecloud.com/backend-draining"));
  EXPECT_THAT(note, HasSubstr("\"True\""));
  EXPECT_THAT(note, HasSubstr("\"true\" or \"false\""));
}

TEST_F(OptIn, AServiceThatHidesTerminatingPodsIsNeverTouchedAndToldSo) {
  ExpectUntouched({.name = "plain", .publishes_not_ready = false});
  world_.AwaitEvent("ServiceNotPublishingTerminatingPods", "plain");
}

TEST_F(OptIn, OnASharedLoadBalancerOnlySetsThatOptedInAreWritten) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  const WorldService web = AddDeployed({.name = "web"});
  const WorldService plain = AddDeployed({.name = "plain", .backend_draining = ""});
  AddLoadBalancer({web, plain});
  const std::string before = SetJson(plain);
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLooks(2));
  RollOut(web);
  RollOut(plain);
  ASSERT_TRUE(world_.AwaitLooks(5));
  const std::vector<WorldCall> writes = world_.OciWrites();
  EXPECT_THAT(writes, Not(IsEmpty()));
  for (const WorldCall& write : writes) {
    EXPECT_THAT(write.target, HasSubstr(absl::StrCat("/backendSets/", web.backend_set())));
    EXPECT_THAT(write.target, Not(HasSubstr(plain.backend_set())));
  }
  EXPECT_EQ(SetJson(plain), before);
}

TEST_F(OptIn, CarryAllBringsANeighboursMembershipButNoFlags) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  world_.Annotate(world_.ClassRef(), "oci-native-ingress.oraclecloud.com/backend-drain-carry",
                  "all");
  const WorldService web = AddDeployed({.name = "web"});
  const WorldService plain = AddDeployed({.name = "plain", .backend_draining = ""});
  AddLoadBalancer({web, plain});
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLooks(2));
  RollOut(web);
  RollOut(plain);
  ASSERT_TRUE(world_.Await("the neighbour's set holds its Pods and no others", [&] {
    const JsonTree set = JsonTree::Parse(SetJson(plain), "set").value();
    if (set["backends"].items().size() != kReplicas) return false;
    for (const JsonTree& pod : PodsOf(plain)) {
      const std::string name = absl::StrCat(pod["status"]["podIP"].AsString(), ":8080");
      if (!world_.Backend(kWorldLoadBalancer, plain.backend_set(), name).has_value()) return false;
    }
    return true;
  }));
  for (const WorldCall& write : world_.OciWrites()) {
    if (!absl::StrContains(write.target, plain.backend_set())) continue;
    EXPECT_THAT(write.body, Not(HasSubstr("\"drain\":true")));
  }
}

}  // namespace
}  // namespace integration
