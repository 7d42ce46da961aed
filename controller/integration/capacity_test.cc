// At the limits of a load balancer, over real HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/clock.h"
#include "oci/backend_set_name.h"
#include "sim/controller_world.h"
#include "sim/kube_resources.h"
#include "sim/load_balancer_document.h"

namespace controller {
namespace {

using sim::ControllerWorld;
using sim::JsonTree;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldService;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kLabel[] = "oci-native-ingress.oraclecloud.com/published";
constexpr int kLimit = 4;

// A Deployment of as many Pods as the load balancer takes, all of them registered.
class Capacity : public testing::Test {
 protected:
  Capacity() {
    world_.settings().plan.max_backends_per_set = kLimit;
    world_.settings().capacity_action = CapacityAction::kWithdraw;
    world_.oci().With(
        [](sim::FakeLoadBalancer& core, auto&) { core.options().max_backends_per_set = kLimit; });
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
  }

  void ApplyAll(bool label_in_selector, bool label_in_deployment) {
    const std::string label = absl::StrCat(", ", kLabel, ": \"true\"");
    world_.Apply(absl::Substitute(R"(
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  annotations:
    oci-native-ingress.oraclecloud.com/backend-draining: "true"
    oci-native-ingress.oraclecloud.com/backend-drain-min: "0s"
spec:
  publishNotReadyAddresses: true
  selector: {app: web$0}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: $1
  rules: [{http: {paths: [{path: /, pathType: Prefix,
                           backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: $2
  selector: {matchLabels: {app: web$3}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web$4}, annotations: {sim/shutdown-seconds: "600"}}
    spec:
      terminationGracePeriodSeconds: 600
      containers: [{name: web, image: a}]
)",
                                  label_in_selector ? label : "", kWorldClass, kLimit,
                                  label_in_deployment ? label : "", label));
    ASSERT_TRUE(world_.Await("addresses of all Pods",
                             [&] { return Published().size() == size_t{kLimit}; }));
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      const std::vector<std::string> backends = Published();
      const absl::Status status =
          core.AddLoadBalancer(sim::MakeLoadBalancerJson(kWorldLoadBalancer, {{set_, backends}}),
                               base::RealClock().Now());
      ASSERT_TRUE(status.ok()) << status;
    });
  }

  // Backends of Pods with an address.
  std::vector<std::string> Published() {
    std::vector<std::string> backends;
    for (const JsonTree& pod : Pods()) {
      const std::string& ip = pod["status"]["podIP"].AsString();
      if (!ip.empty()) backends.push_back(absl::StrCat(ip, ":8080"));
    }
    return backends;
  }

  std::vector<JsonTree> Pods() {
    return world_.cluster().With([&](sim::FakeApiServer& server, auto&) {
      std::vector<JsonTree> pods;
      for (const auto& pod : server.store().List(sim::resources::Pods(), "shop")) {
        pods.push_back(*pod);
      }
      return pods;
    });
  }

  // The backend of the Pod that replaces another; empty while there is none.
  std::string NewBackend() {
    for (const std::string& backend : Published()) {
      if (first_.count(backend) == 0) return backend;
    }
    return "";
  }

  // Its replacement comes at once, and it stays for 600 s.
  std::string DeleteOnePod() {
    for (const std::string& backend : Published()) first_.insert(backend);
    const JsonTree pod = Pods().front();
    world_.DeletePod(service_, pod["metadata"]["name"].AsString());
    return pod["metadata"]["name"].AsString();
  }

  bool IsRegistered(const std::string& backend) {
    return !backend.empty() && world_.Backend(kWorldLoadBalancer, set_, backend).has_value();
  }

  JsonTree Pod(const std::string& name) {
    return world_.Find({&sim::resources::Pods(), "shop", name});
  }

  ControllerWorld world_;
  const WorldService service_ = {.ns = "shop", .name = "web"};
  const std::string set_ = service_.backend_set();
  std::set<std::string> first_;
};

TEST_F(Capacity, ADrainedBackendMakesRoomForAReplacementInOneWrite) {
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  const std::string gone = DeleteOnePod();
  ASSERT_TRUE(
      world_.Await("the replacement is registered", [&] { return IsRegistered(NewBackend()); }));
  const JsonTree pod = Pod(gone);
  EXPECT_FALSE(pod.is_null()) << "it still terminates";
  EXPECT_TRUE(pod["metadata"]["labels"][kLabel].is_null());
  EXPECT_FALSE(IsRegistered(absl::StrCat(pod["status"]["podIP"].AsString(), ":8080")));
  EXPECT_THAT(world_.AwaitEvent("BackendWithdrawn", "web")["note"].AsString(), HasSubstr(gone));
  for (const sim::WorldCall& write : world_.OciWrites()) {
    EXPECT_EQ(write.status, 204) << "no write is over the limit: " << write.body;
  }
  EXPECT_EQ(Pods().size(), kLimit + 1u) << "the label's loss makes no further Pod";
}

TEST_F(Capacity, WithoutTheLabelInTheSelectorNothingIsWithdrawnAndTheEventSaysWhatToDo) {
  ApplyAll(/*label_in_selector=*/false, /*label_in_deployment=*/false);
  world_.StartController();
  const std::string kept = DeleteOnePod();
  EXPECT_THAT(world_.AwaitEvent("WithdrawalRefused", "web")["note"].AsString(),
              HasSubstr("to the Service's selector"));
  EXPECT_FALSE(Pod(kept)["metadata"]["labels"][kLabel].is_null());
  EXPECT_FALSE(IsRegistered(NewBackend()));
}

TEST_F(Capacity, ALabelInTheWorkloadsSelectorIsNotTakenAway) {
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/true);
  world_.StartController();
  const std::string kept = DeleteOnePod();
  EXPECT_THAT(world_.AwaitEvent("WithdrawalRefused", "web")["note"].AsString(),
              HasSubstr("a ReplicaSet would replace"));
  EXPECT_FALSE(Pod(kept)["metadata"]["labels"][kLabel].is_null());
}

TEST_F(Capacity, ALabelInADisruptionBudgetIsNotTakenAway) {
  world_.Apply(absl::StrCat(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {)",
                            kLabel, ": \"true\"}}}\n"));
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  const std::string kept = DeleteOnePod();
  EXPECT_THAT(world_.AwaitEvent("WithdrawalRefused", "web")["note"].AsString(),
              HasSubstr("PodDisruptionBudget shop/web"));
  EXPECT_FALSE(Pod(kept)["metadata"]["labels"][kLabel].is_null());
}

TEST_F(Capacity, WithoutTheRightToPatchPodsItIsSaid) {
  world_.cluster().With([](sim::FakeApiServer& server, auto&) {
    server.Forbid({.verb = "patch", .resource = "pods"});
  });
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  DeleteOnePod();
  EXPECT_THAT(world_.AwaitEvent("WithdrawalRefused", "web")["note"].AsString(),
              HasSubstr("forbidden"));
}

TEST_F(Capacity, OnlyToWarnIsTheDefault) {
  world_.settings().capacity_action = Settings().capacity_action;
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  const std::string kept = DeleteOnePod();
  EXPECT_THAT(world_.AwaitEvent("WithdrawalRefused", "web")["note"].AsString(),
              HasSubstr("--capacity_action=withdraw"));
  EXPECT_FALSE(Pod(kept)["metadata"]["labels"][kLabel].is_null());
}

TEST_F(Capacity, ARolloutThatWillNotFitIsToldBeforeItHappensAndSoIsItsEnd) {
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  const JsonTree event = world_.AwaitEvent("RolloutWillExceedBackendLimit", "web");
  EXPECT_THAT(event["note"].AsString(), HasSubstr("of at most 4 backends of backend set"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("It fits with"));
  ASSERT_TRUE(world_.Await("on Service and Deployment", [&] {
    std::set<std::string> kinds;
    for (const JsonTree& each : world_.Events("RolloutWillExceedBackendLimit")) {
      kinds.insert(each["regarding"]["kind"].AsString());
    }
    return kinds == std::set<std::string>{"Deployment", "Service"};
  }));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  world_.cluster().With([](sim::FakeApiServer& server, auto&) {
    const auto result = server.objects().Modify(
        {sim::FindKubeKind("apps/v1", "Deployment"), "shop", "web"},
        {"kubectl", base::RealClock().Now()},
        [](JsonTree& tree) { tree.Child("spec").Set("replicas", int64_t{1}); });
    EXPECT_TRUE(result.ok());
  });
  world_.AwaitEvent("RolloutWillExceedBackendLimitEnded", "web");
}

TEST_F(Capacity, AnAutoscalerThatMayAskForTooManyIsTold) {
  world_.settings().plan.max_backends_per_set = 100;
  world_.Apply(R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {maxReplicas: 120, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
)");
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  EXPECT_THAT(world_.AwaitEvent("BackendSetLimitNear", "web")["note"].AsString(),
              HasSubstr("may ask for 120 Pods: lower maxReplicas to 100"));
}

TEST_F(Capacity, ALimitOfOcisOwnIsToldWithTheNumbersInBothItsForms) {
  for (const sim::LimitRefusal form :
       {sim::LimitRefusal::kAtOnce, sim::LimitRefusal::kFailedWorkRequest}) {
    ControllerWorld world;
    world.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      core.options().max_backends_per_set = 3;
      core.options().limit_refusal = form;
    });
    world.settings().plan.coalesce_window = sim::kAllInOneWindow;
    world.AddClass(kWorldClass, kWorldLoadBalancer);
    const WorldService web = world.AddService({.name = "web", .pods = 3});
    world.AddLoadBalancer(kWorldLoadBalancer, {web});
    world.StartController();
    world.AddPod(web, "web-new");
    world.DeletePod(web, "web-0");
    world.DeletePod(web, "web-1");
    for (const char* object : {"web", kWorldClass}) {
      const std::string note = world.AwaitEvent("BackendLimitExceeded", object)["note"].AsString();
      EXPECT_THAT(note, HasSubstr("exceeds the limit of 3"));
      EXPECT_THAT(note, HasSubstr("The set holds 3 (--max_backends_per_set=512)"));
    }
    EXPECT_TRUE(world.AwaitConfirmed(web, "web-0")) << "drains go on";
    EXPECT_TRUE(world.AwaitConfirmed(web, "web-1"));
  }
}

// Nobody has told the controller that the set takes four.
TEST_F(Capacity, AfterARefusalAtAnUnknownLimitAWithdrawalMakesRoomAtOnce) {
  world_.settings().plan.max_backends_per_set = 512;
  ApplyAll(/*label_in_selector=*/true, /*label_in_deployment=*/false);
  world_.StartController();
  DeleteOnePod();
  world_.AwaitEvent("BackendLimitExceeded", "web");
  EXPECT_TRUE(
      world_.Await("the replacement is registered", [&] { return IsRegistered(NewBackend()); }));
  const std::vector<sim::WorldCall> writes = world_.OciWrites();
  EXPECT_EQ(std::count_if(writes.begin(), writes.end(),
                          [](const sim::WorldCall& write) { return write.status == 400; }),
            1)
      << "the limit is learned by one refusal";
}

}  // namespace
}  // namespace controller
