// The readiness gate of a whole controller: a Pod is Ready when the load balancer
// routes to it.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "annotations/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"
#include "sim/kube_resources.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::ControllerWorldOptions;
using sim::Health;
using sim::JsonTree;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::WorldService;

ControllerWorldOptions WithGate() {
  ControllerWorldOptions options;
  options.settings.pod_conditions = {.drained = true, .gate = true};
  options.settings.plan.gates = options.settings.plan.acknowledge_all = true;
  options.load_balancer.health_check_interval = absl::Milliseconds(50);
  return options;
}

class Gate : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService({.name = "web", .pods = 1});
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  void AddGatedPod(const std::string& name) {
    std::string yaml = sim::PodYaml(web_, name);
    const std::string spec = "spec:\n";
    yaml.insert(yaml.find(spec) + spec.size(),
                absl::StrCat("  readinessGates: [{conditionType: ",
                             std::string(annotations::kReadyCondition), "}]\n"));
    world_.Apply(yaml);
  }

  std::string StatusOf(const std::string& pod, absl::string_view type) {
    const JsonTree found = world_.Find({&sim::resources::Pods(), web_.ns, pod});
    for (const JsonTree& condition : found["status"]["conditions"].items()) {
      if (condition["type"].AsString() == type) return condition["status"].AsString();
    }
    return "";
  }

  bool AwaitStatus(const std::string& pod, absl::string_view type, const std::string& status) {
    return world_.Await(absl::StrCat(type, " of ", pod),
                        [&] { return StatusOf(pod, type) == status; });
  }

  ControllerWorld world_{WithGate()};
  WorldService web_;
};

TEST_F(Gate, ANewPodIsRegisteredByUsAndReadyOnceItIsHealthyThere) {
  AddGatedPod("web-new");
  ASSERT_TRUE(AwaitStatus("web-new", annotations::kReadyCondition, "True"));
  const auto backend =
      world_.Backend(kWorldLoadBalancer, web_.backend_set(), world_.BackendOf(web_, "web-new"));
  ASSERT_TRUE(backend.has_value()) << "ready, and not in the set";
  EXPECT_FALSE(backend->drain);
  EXPECT_TRUE(AwaitStatus("web-new", "Ready", "True"));
}

TEST_F(Gate, APodThatTheLoadBalancerDoesNotFindWellStaysUnready) {
  AddGatedPod("web-new");
  ASSERT_TRUE(
      world_.Await("an address", [&] { return !world_.BackendOf(web_, "web-new").empty(); }));
  const std::string backend = world_.BackendOf(web_, "web-new");
  const auto fix = [&](std::optional<Health> health) {
    world_.oci().With([&](sim::FakeLoadBalancer& fake, sim::FakeLoadBalancerHttp&) {
      fake.FixHealth(kWorldLoadBalancer, web_.backend_set(), backend, health);
    });
  };
  fix(Health::kCritical);
  ASSERT_TRUE(AwaitStatus("web-new", annotations::kReadyCondition, "False"));
  ASSERT_TRUE(world_.Await("registration", [&] {
    return world_.Backend(kWorldLoadBalancer, web_.backend_set(), backend).has_value();
  }));
  for (const Health health : {Health::kCritical, Health::kUnknown, Health::kWarning}) {
    fix(health);
    ASSERT_TRUE(world_.AwaitLooks(3));
    EXPECT_EQ(StatusOf("web-new", annotations::kReadyCondition), "False");
    EXPECT_EQ(StatusOf("web-new", "Ready"), "False");
  }
  fix(std::nullopt);
  EXPECT_TRUE(AwaitStatus("web-new", annotations::kReadyCondition, "True"));
}

TEST_F(Gate, ThirtyPathsToOnePortAreOneConditionAndOneHealthRead) {
  std::string paths;
  for (int i = 0; i < 30; ++i) {
    absl::StrAppend(&paths, "      - path: /p", i, "\n        pathType: Prefix\n",
                    "        backend: {service: {name: web, port: {number: ", web_.port, "}}}\n");
  }
  world_.Apply(absl::StrCat("apiVersion: networking.k8s.io/v1\nkind: Ingress\n",
                            "metadata: {name: thirty, namespace: ", web_.ns, "}\n",
                            "spec:\n  ingressClassName: ", kWorldClass, "\n",
                            "  rules:\n  - http:\n      paths:\n", paths));
  AddGatedPod("web-new");
  ASSERT_TRUE(AwaitStatus("web-new", annotations::kReadyCondition, "True"));
  int conditions = 0;
  const JsonTree pod = world_.Find({&sim::resources::Pods(), web_.ns, "web-new"});
  for (const JsonTree& condition : pod["status"]["conditions"].items()) {
    if (condition["type"].AsString() == annotations::kReadyCondition) ++conditions;
  }
  EXPECT_EQ(conditions, 1);
  // Each time it is asked for, the backend's health is read once, and the set's.
  std::string last;
  for (const sim::WorldCall& call : world_.Calls()) {
    if (call.to != sim::WorldCall::To::kOci || !absl::EndsWith(call.target, "/health")) continue;
    EXPECT_NE(call.target, last);
    last = call.target;
  }
  EXPECT_NE(last, "");
}

TEST_F(Gate, AnEndingPodIsTrueToBeDrainedOnceItIs) {
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(AwaitStatus("web-0", annotations::kDrainedCondition, "True"));
  EXPECT_TRUE(world_.IsDrained(web_, "web-0"));
}

constexpr char kGatedDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: $0, namespace: $1}
spec:
  replicas: 1
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec:
      readinessGates: [{conditionType: $3}]
      containers: [{name: web, image: a}]
)";

TEST_F(Gate, AGateThatNoMappedServiceServesIsTold) {
  const auto apply = [&](const char* name, const std::string& label) {
    world_.Apply(absl::Substitute(kGatedDeployment, name, web_.ns, label,
                                  std::string(annotations::kReadyCondition)));
  };
  apply("served", "web");
  apply("unserved", "unserved");
  const JsonTree event = world_.AwaitEvent("GateHasNoBackendSet", "unserved");
  EXPECT_EQ(event["regarding"]["kind"].AsString(), "Deployment");
  EXPECT_EQ(event["type"].AsString(), "Warning");
  EXPECT_THAT(event["note"].AsString(), testing::HasSubstr("no Service that is mapped"));
  EXPECT_EQ(world_.Events("GateHasNoBackendSet").size(), 1u) << "the other one is served";
}

}  // namespace
}  // namespace integration
