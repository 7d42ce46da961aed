// The rights that deploy/kustomize/ grants are those that the controller uses: the rules
// against the calls that the fake API server recorded of the program itself, in both
// directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "annotations/table.h"
#include "base/clock.h"
#include "kube/yaml_view.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/kube_resources.h"
#include "sim/load_balancer_document.h"
#include "sim/program.h"
#include "sim/yaml_manifests.h"

namespace {

using sim::JsonTree;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using ::testing::IsEmpty;

constexpr char kNamespace[] = "oci-backend-drain";
constexpr char kFolder[] = "deploy/kustomize/";
// Backends that a set takes where one is to be full.
constexpr int kLimit = 4;

JsonTree Manifest(const std::string& file) {
  const auto text = sim::ReadFile(absl::StrCat(kFolder, file));
  if (!text.ok()) {
    ADD_FAILURE() << text.status();
    return {};
  }
  const auto manifests = sim::ParseManifests(*text, file);
  if (!manifests.ok() || manifests->size() != 1) {
    ADD_FAILURE() << file << ": " << manifests.status();
    return {};
  }
  return manifests->front();
}

// What one call does or one right allows. Of a right an empty `ns` or `name` is any.
struct Access {
  std::string verb;
  std::string group = {};
  std::string resource = {};  // with "/status" and the like
  std::string ns = {};
  std::string name = {};

  std::string ToString() const {
    return absl::StrCat(verb, " ", resource, group.empty() ? "" : ".", group,
                        name.empty() ? "" : " ", name, ns.empty() ? "" : " in ", ns);
  }
  bool Allows(const Access& call) const {
    return verb == call.verb && group == call.group && resource == call.resource &&
           (ns.empty() || ns == call.ns) && (name.empty() || name == call.name);
  }
};

std::vector<std::string> Texts(const JsonTree& list) {
  std::vector<std::string> texts;
  for (const JsonTree& item : list.items()) texts.push_back(item.AsString());
  return texts;
}

// Each right that the rules of a Role or ClusterRole grant, one by one.
std::vector<Access> RightsOf(const std::string& file) {
  const JsonTree role = Manifest(file);
  std::vector<Access> rights;
  for (const JsonTree& rule : role["rules"].items()) {
    std::vector<std::string> names = Texts(rule["resourceNames"]);
    if (names.empty()) names.emplace_back();
    for (const std::string& group : Texts(rule["apiGroups"])) {
      for (const std::string& resource : Texts(rule["resources"])) {
        for (const std::string& verb : Texts(rule["verbs"])) {
          for (const std::string& name : names) {
            rights.push_back(
                {verb, group, resource, role["metadata"]["namespace"].AsString(), name});
          }
        }
      }
    }
  }
  EXPECT_FALSE(rights.empty()) << file;
  return rights;
}

// A list or watch of one object by its name is authorized by the name.
Access AccessOf(const sim::WorldCall& call) {
  const sim::KubeRequestInfo info =
      sim::ParseKubeRequest({.method = call.method, .target = call.target});
  if (info.resource == nullptr) return {.verb = info.verb, .resource = info.path};
  Access access = {info.verb, std::string(info.resource->group), std::string(info.resource->plural),
                   info.ns, info.name};
  if (!info.subresource.empty()) absl::StrAppend(&access.resource, "/", info.subresource);
  absl::string_view selected = info.Parameter("fieldSelector");
  if (absl::ConsumePrefix(&selected, "metadata.name=")) access.name = std::string(selected);
  return access;
}

// Of the self-test: what the roles of a new cluster allow to every authenticated user,
// system:public-info-viewer and system:basic-user.
bool IsAllowedByDefault(const Access& access) {
  return access.resource == "/version" ||
         access.resource == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
}

// The flags that an overlay adds to the container's arguments.
std::vector<std::string> FlagsOf(const std::string& overlay) {
  const std::string file = absl::StrCat(kFolder, "overlays/", overlay, "/flag.yaml");
  const auto patch = kube::ParseYaml(sim::ReadFile(file).value_or(""));
  std::vector<std::string> flags;
  if (patch.ok()) {
    for (const kube::YamlView& step : patch->Elements()) {
      flags.push_back(step["value"].Text().value_or(""));
    }
  }
  EXPECT_FALSE(flags.empty()) << file << ": " << patch.status();
  return flags;
}

sim::ControllerWorldOptions InItsNamespace() {
  sim::ControllerWorldOptions options;
  options.settings.ns = kNamespace;
  options.load_balancer.health_check_interval = absl::Milliseconds(50);
  return options;
}

class Rights : public testing::Test {
 protected:
  void SetUp() override {
    const auto ns = sim::ReadFile(absl::StrCat(kFolder, "base/namespace.yaml"));
    ASSERT_TRUE(ns.ok()) << ns.status();
    world_.Apply(*ns);
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
  }

  void StartController(const std::vector<std::string>& more_flags) {
    std::vector<std::string> command = {"cmd/oci-drain-controller"};
    for (const std::string& flag : world_.ProgramFlags()) command.push_back(flag);
    for (const char* flag : {"--health_port=0", "--barrier_port=0", "--health_address=127.0.0.1",
                             "--work_request_poll=20ms", "--active_poll=100ms",
                             "--coalesce_window=1ms", "--oci_qps=1000", "--oci_burst=1000"}) {
      command.emplace_back(flag);
    }
    command.insert(command.end(), more_flags.begin(), more_flags.end());
    auto started = sim::ChildProcess::Start(command, log_);
    ASSERT_TRUE(started.ok()) << started.status();
    controller_ = *std::move(started);
    ASSERT_TRUE(world_.Await("it looks at the load balancer", [&] {
      const std::vector<sim::WorldCall> calls = world_.Calls();
      return std::any_of(calls.begin(), calls.end(), [](const sim::WorldCall& call) {
        return call.to == sim::WorldCall::To::kOci;
      });
    })) << sim::ReadFile(log_).value_or("");
  }

  std::vector<Access> Calls() {
    std::vector<Access> calls;
    for (const sim::WorldCall& call : world_.Calls()) {
      if (call.to == sim::WorldCall::To::kKube) calls.push_back(AccessOf(call));
    }
    std::erase_if(calls, IsAllowedByDefault);
    return calls;
  }

  // The rights that no call has used so far; one for all namespaces must have been used
  // in another than the controller's own.
  std::string Unused(const std::vector<Access>& rights) {
    const std::vector<Access> calls = Calls();
    std::string unused;
    for (const Access& right : rights) {
      const bool used = std::any_of(calls.begin(), calls.end(), [&](const Access& call) {
        return right.Allows(call) && (!right.ns.empty() || call.ns != kNamespace);
      });
      if (!used) absl::StrAppend(&unused, right.ToString(), "\n");
    }
    return unused;
  }

  void ExpectAllAllowed(const std::vector<Access>& rights) {
    std::set<std::string> forbidden;
    for (const Access& call : Calls()) {
      const bool allowed = std::any_of(rights.begin(), rights.end(),
                                       [&](const Access& right) { return right.Allows(call); });
      if (!allowed) forbidden.insert(call.ToString());
    }
    EXPECT_THAT(forbidden, IsEmpty());
  }

  // With the rights of the base.
  static std::vector<Access> And(std::vector<Access> rights) {
    for (const char* file : {"base/cluster_role.yaml", "base/role.yaml"}) {
      for (Access& right : RightsOf(file)) rights.push_back(std::move(right));
    }
    return rights;
  }

  std::vector<JsonTree> Pods(const sim::WorldService& service) {
    return world_.cluster().With([&](sim::FakeApiServer& server, auto&) {
      std::vector<JsonTree> pods;
      for (const auto& pod : server.store().List(sim::resources::Pods(), service.ns)) {
        pods.push_back(*pod);
      }
      return pods;
    });
  }

  // Of Pods with an address.
  std::vector<std::string> Backends(const sim::WorldService& service) {
    std::vector<std::string> backends;
    for (const JsonTree& pod : Pods(service)) {
      const std::string& ip = pod["status"]["podIP"].AsString();
      if (!ip.empty()) backends.push_back(absl::StrCat(ip, ":", sim::kWorldTargetPort));
    }
    return backends;
  }

  bool AwaitCondition(const sim::WorldService& service, const std::string& pod,
                      absl::string_view type) {
    return world_.Await(absl::StrCat(type, " of ", pod), [&] {
      const JsonTree found = world_.Find({&sim::resources::Pods(), service.ns, pod});
      const auto& conditions = found["status"]["conditions"].items();
      return std::any_of(conditions.begin(), conditions.end(), [&](const JsonTree& condition) {
        return condition["type"].AsString() == type && condition["status"].AsString() == "True";
      });
    });
  }

  const std::string log_ = absl::StrCat(testing::TempDir(), "/controller.log");
  sim::ControllerWorld world_{InItsNamespace()};
  std::unique_ptr<sim::ChildProcess> controller_;
};

TEST_F(Rights, OfTheBaseAreThoseThatDrainsTake) {
  const std::vector<Access> rights = And({});
  const sim::WorldService web = world_.AddService({.name = "web", .pods = 4});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web});
  // As it would write for more than one Pod at once: with the membership.
  StartController({"--drain_write=set"});
  world_.DeletePod(web, "web-0");
  world_.AwaitEvent("BackendDrained", "web");
  // Of a Pod that serves no longer, and is not deleted, it asks whether it has failed.
  world_.cluster().With([&](sim::FakeApiServer&, sim::Controllers& controllers) {
    const absl::Status status = controllers.kubelet().ForceReadiness(web.ns, "web-1", false);
    EXPECT_TRUE(status.ok()) << status;
  });
  // What is told again is counted on its Event: an annotation is wrong time and again.
  const std::string annotation = "oci-native-ingress.oraclecloud.com/backend-drain-min";
  int turns = 0;
  EXPECT_TRUE(world_.Await("every right is used",
                           [&] {
                             const bool is_wrong = ++turns % 2 == 1;
                             world_.Annotate(
                                 world_.ServiceRef(web), annotation,
                                 is_wrong ? std::optional<std::string>("soon") : std::nullopt);
                             return Unused(rights).empty();
                           }))
      << "never used:\n"
      << Unused(rights) << sim::ReadFile(log_).value_or("");
  ExpectAllAllowed(rights);
}

TEST_F(Rights, ForPodConditionsAreThoseThatTheyTake) {
  const std::vector<Access> rights = RightsOf("rights/pod-conditions/cluster_role.yaml");
  const sim::WorldService web = world_.AddService({.name = "web", .pods = 2});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web});
  StartController(FlagsOf("pod-conditions"));
  std::string gated = sim::PodYaml(web, "web-new");
  const std::string spec = "spec:\n";
  gated.insert(gated.find(spec) + spec.size(),
               absl::StrCat("  readinessGates: [{conditionType: ",
                            std::string(annotations::kReadyCondition), "}]\n"));
  world_.Apply(gated);
  ASSERT_TRUE(AwaitCondition(web, "web-new", annotations::kReadyCondition));
  world_.DeletePod(web, "web-0");
  ASSERT_TRUE(AwaitCondition(web, "web-0", annotations::kDrainedCondition));
  EXPECT_EQ(Unused(rights), "");
  ExpectAllAllowed(And(rights));
}

// A Deployment of as many Pods as the load balancer takes.
constexpr char kFullSet[] = R"(
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
  selector: {app: web, oci-native-ingress.oraclecloud.com/published: "true"}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: $0
  rules: [{http: {paths: [{path: /, pathType: Prefix,
                           backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: $1
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata:
      labels: {app: web, oci-native-ingress.oraclecloud.com/published: "true"}
      annotations: {sim/shutdown-seconds: "600"}
    spec:
      terminationGracePeriodSeconds: 600
      containers: [{name: web, image: a}]
)";

TEST_F(Rights, ForWithdrawalAreThoseThatItTakes) {
  const std::vector<Access> rights = RightsOf("rights/withdrawal/cluster_role.yaml");
  const sim::WorldService web = {.ns = "shop", .name = "web"};
  world_.Apply(absl::Substitute(kFullSet, kWorldClass, kLimit));
  ASSERT_TRUE(world_.Await("addresses", [&] { return Backends(web).size() == size_t{kLimit}; }));
  world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
    core.options().max_backends_per_set = kLimit;
    const absl::Status status = core.AddLoadBalancer(
        sim::MakeLoadBalancerJson(kWorldLoadBalancer, {{web.backend_set(), Backends(web)}}),
        base::RealClock().Now());
    EXPECT_TRUE(status.ok()) << status;
  });
  std::vector<std::string> flags = FlagsOf("withdrawal");
  flags.push_back(absl::StrCat("--max_backends_per_set=", kLimit));
  StartController(flags);
  world_.DeletePod(web, Pods(web).front()["metadata"]["name"].AsString());
  world_.AwaitEvent("BackendWithdrawn", "web");
  EXPECT_EQ(Unused(rights), "");
  ExpectAllAllowed(And(rights));
}

}  // namespace
