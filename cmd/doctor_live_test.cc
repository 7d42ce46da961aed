// oci-drain doctor, and the self-test of a controller that starts, as processes beside a
// cluster and a load balancer, over real HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "controller/rights.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/kube_log.h"
#include "sim/load_balancer_document.h"
#include "sim/program.h"

namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DoctorLive : public testing::Test {
 protected:
  void MakeWorld(sim::ControllerWorldOptions options = {}) {
    world_ = std::make_unique<sim::ControllerWorld>(std::move(options));
    web_ = world_->AddService({.name = "web", .pods = 2});
  }

  void AddLoadBalancer(const std::vector<sim::WorldService>& services) {
    world_->AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_->AddLoadBalancer(sim::kWorldLoadBalancer, services);
  }

  cmd::Ran Doctor(const std::string& flags = "") {
    return cmd::RunProgram(absl::StrCat("cmd/oci-drain doctor ", flags, " ",
                                        absl::StrJoin(world_->ProgramFlags(), " ")));
  }

  // What the table says, and no more.
  void GrantTheTable(const controller::Settings& settings, bool elects) {
    std::vector<sim::KubeAccessRule> rules;
    for (const controller::Right& right : controller::RightsFor(settings, elects)) {
      const std::string resource =
          absl::StrCat(right.resource, right.subresource.empty() ? "" : "/", right.subresource);
      std::set<std::string> namespaces;
      switch (right.scope) {
        case controller::RightScope::kCluster:
          namespaces = {""};
          break;
        case controller::RightScope::kServiceNamespaces:
          namespaces = {"shop"};
          break;
        case controller::RightScope::kEventNamespaces:
          namespaces = {"shop", "default"};
          break;
        case controller::RightScope::kOwnNamespace:
          namespaces = {sim::kWorldNamespace};
          break;
      }
      for (const std::string& ns : namespaces) {
        rules.push_back({std::string(right.verb), resource, ns});
      }
    }
    world_->cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
      server.Restrict("admin", std::move(rules));
    });
  }

  void Forbid(const sim::KubeAccessRule& rule) {
    world_->cluster().With(
        [&](sim::FakeApiServer& server, sim::Controllers&) { server.Forbid(rule); });
  }

  void EditSet(
      const sim::WorldService& service,
      const std::function<void(rapidjson::Value&, rapidjson::Document::AllocatorType&)>& change) {
    world_->oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
      const absl::Status edited = core.EditNow(
          sim::kWorldLoadBalancer,
          [&](rapidjson::Document& lb) {
            change(*sim::FindBackendSet(lb, service.backend_set()), lb.GetAllocator());
            return sim::ApiError();
          },
          base::RealClock().Now());
      ASSERT_TRUE(edited.ok()) << edited;
    });
  }

  void StartController(const std::vector<std::string>& flags = {}) {
    log_ = absl::StrCat(testing::TempDir(), "/controller.log");
    std::vector<std::string> command = {"cmd/oci-drain-controller"};
    for (const std::string& flag : world_->ProgramFlags()) command.push_back(flag);
    for (const char* flag : {"--health_port=0", "--barrier_port=0", "--health_address=127.0.0.1",
                             "--work_request_poll=20ms", "--active_poll=100ms"}) {
      command.emplace_back(flag);
    }
    command.insert(command.end(), flags.begin(), flags.end());
    auto started = sim::ChildProcess::Start(command, log_);
    ASSERT_TRUE(started.ok()) << started.status();
    controller_ = *std::move(started);
  }

  bool AwaitLog(const std::string& text) {
    return world_->Await(absl::StrCat("the log says ", text),
                         [&] { return absl::StrContains(sim::ReadFile(log_).value_or(""), text); });
  }

  std::unique_ptr<sim::ControllerWorld> world_;
  sim::WorldService web_;
  std::string log_;
  std::unique_ptr<sim::ChildProcess> controller_;
};

TEST_F(DoctorLive, WhereAllIsWellEachLineSaysOk) {
  MakeWorld();
  AddLoadBalancer({web_});
  const cmd::Ran ran = Doctor();
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(
      ran.output,
      AllOf(ContainsRegex("ok       Kubernetes: v1.36.2 at http://127.0.0.1:[0-9]+ "),
            HasSubstr("ok       clock of Kubernetes: agrees"),
            HasSubstr("ok       OCI region: us-ashburn-1, http://127.0.0.1:"),
            HasSubstr("ok       OCI identity (--auth=config): user ocid1.user.oc1..example, key "),
            ContainsRegex("ok       rights: all [0-9]+ that were asked for are granted"),
            HasSubstr("readable and ACTIVE, 1 sets, 2 backends"),
            HasSubstr("ok       Service shop/web: its Pods can be drained"),
            HasSubstr("ok       clock of OCI: agrees"), HasSubstr("8 ok, 0 warnings, 0 problems")));
  EXPECT_THAT(ran.output, Not(HasSubstr("\033")));
  EXPECT_THAT(world_->OciWrites(), IsEmpty());
  for (const sim::WorldCall& call : world_->Calls()) {
    if (call.to != sim::WorldCall::To::kKube || call.method == "GET") continue;
    EXPECT_EQ(call.target, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  }
}

TEST_F(DoctorLive, WhatKeepsServicesFromDrainingIsNamed) {
  MakeWorld();
  const auto hidden =
      world_->AddService({.name = "hidden", .pods = 1, .publishes_not_ready = false});
  const auto tcp = world_->AddService({.name = "tcp", .pods = 1});
  const auto nodes = world_->AddService({.name = "nodes", .pods = 1});
  const auto lost = world_->AddService({.name = "lost", .pods = 1});
  // Their sets have one name.
  const auto one = world_->AddService({.name = "svc1", .port = 80, .pods = 1});
  const auto two = world_->AddService({.name = "svc", .port = 180, .pods = 1});
  world_->AddService({.name = "alone", .pods = 1, .has_ingress = false});
  ASSERT_EQ(one.backend_set(), two.backend_set());
  AddLoadBalancer({web_, hidden, tcp, nodes, one});
  EditSet(tcp, [](rapidjson::Value& set, auto& allocator) {
    set["healthChecker"]["protocol"].SetString("TCP", allocator);
  });
  EditSet(nodes, [](rapidjson::Value& set, auto& allocator) {
    rapidjson::Value& backend = set["backends"][0];
    backend["ipAddress"].SetString("10.0.0.9", allocator);
    backend["port"].SetInt(31'000);
    backend["name"].SetString("10.0.0.9:31000", allocator);
  });
  const cmd::Ran ran = Doctor();
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(
      ran.output,
      AllOf(HasSubstr("problem  Service shop/hidden: Not drained: the Service does not publish"),
            HasSubstr("warning  Service shop/tcp: The TCP health check of "),
            ContainsRegex("problem  Service shop/nodes: Not drained: .* are nodes, not Pods"),
            HasSubstr("problem  Service shop/lost: Not drained: there is no backend set"),
            HasSubstr("problem  Service shop/svc1: Not drained: several Services map to"),
            HasSubstr("problem  Service shop/svc: Not drained: several Services map to"),
            HasSubstr("problem  Service shop/alone: it opted in, and no Ingress"),
            HasSubstr("ok       Service shop/web: ")));
}

TEST_F(DoctorLive, AGraceShorterThanTheMeasuredDrainIsAProblem) {
  sim::ControllerWorldOptions options;
  options.load_balancer.min_service_time = absl::Milliseconds(1500);
  options.load_balancer.max_service_time = absl::Milliseconds(1500);
  MakeWorld(options);
  world_->Apply(R"(
apiVersion: v1
kind: Service
metadata:
  name: quick
  namespace: shop
  annotations: {oci-native-ingress.oraclecloud.com/backend-draining: "true"}
spec:
  publishNotReadyAddresses: true
  selector: {app: quick}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: quick, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: quick}}
  template:
    metadata: {labels: {app: quick}}
    spec:
      terminationGracePeriodSeconds: 3
      containers: [{name: c, image: a}]
)");
  sim::WorldService quick{.name = "quick", .pods = 0};
  world_->Apply(sim::IngressYaml(quick));
  AddLoadBalancer({web_, quick});
  // A write whose work request the load balancer remembers.
  world_->oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
    const absl::Status queued = core.QueueWrite(
        sim::kWorldLoadBalancer, "UpdateBackendSet", "rival",
        [](rapidjson::Document&) { return sim::ApiError(); }, base::RealClock().Now());
    ASSERT_TRUE(queued.ok()) << queued;
  });
  world_->Await("the work request has ended, and the Pod is published", [&] {
    const bool idle = world_->oci().With([](sim::FakeLoadBalancer& core, auto&) {
      core.Advance(base::RealClock().Now());
      return core.Idle();
    });
    return idle && world_->cluster().With([](sim::FakeApiServer& server, auto&) {
      for (const auto& slice : server.store().List(sim::resources::EndpointSlices(), "shop")) {
        if (absl::StartsWith((*slice)["metadata"]["name"].AsString(), "quick") &&
            !(*slice)["endpoints"].items().empty()) {
          return true;
        }
      }
      return false;
    });
  });
  const cmd::Ran ran = Doctor();
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output,
              ContainsRegex("problem  Service shop/quick: Pods of Deployment shop/quick have 3s to "
                            "end, and a drain takes up to [0-9]+s as measured"));
}

TEST_F(DoctorLive, JsonIsOneObjectOnOneLine) {
  MakeWorld();
  AddLoadBalancer({web_});
  Forbid({.verb = "patch", .resource = "pods/status"});
  EXPECT_EQ(Doctor("--output=json").status, 0) << "a right that is not used is not asked for";
  const cmd::Ran ran = Doctor("--output=json --pod_conditions=gate");
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1);
  const auto json = base::ParseJson(ran.output, "doctor");
  ASSERT_TRUE(json.ok()) << ran.output;
  EXPECT_EQ((*json)["problems"].GetInt(), 1);
  bool told = false;
  for (const rapidjson::Value& finding : (*json)["findings"].GetArray()) {
    if (finding["level"] != "problem") continue;
    told = true;
    EXPECT_EQ(finding["check"], "RightMissing");
    EXPECT_THAT(finding["text"].GetString(), HasSubstr("patch of pods/status in shop"));
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(Doctor("--output=yaml").status, 2);
}

TEST_F(DoctorLive, AMissingListIsToldAndNotWaitedFor) {
  MakeWorld();
  AddLoadBalancer({web_});
  Forbid({.verb = "list", .resource = "endpointslices"});
  const cmd::Ran ran = Doctor(absl::StrCat("--load_balancer=", sim::kWorldLoadBalancer));
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("may not list of endpointslices in API group discovery.k8s.io in all "
                              "namespaces: no load balancer is drained"),
                    HasSubstr("problem  Services: not looked at: the rights above are missing"),
                    HasSubstr("readable and ACTIVE")));
}

TEST_F(DoctorLive, ServersThatCannotBeReachedAreProblemsAndNoError) {
  MakeWorld();
  AddLoadBalancer({web_});
  const std::string folder = testing::TempDir();
  ASSERT_TRUE(
      sim::WriteFile(folder + "/nowhere", sim::MakeKubeconfig({.server = "http://127.0.0.1:1"}))
          .ok());
  const cmd::Ran no_cluster = cmd::RunProgram(absl::StrCat(
      "cmd/oci-drain doctor --sync_within=1s ", absl::StrJoin(world_->ProgramFlags(), " "),
      " --kubeconfig=", folder, "/nowhere"));
  EXPECT_EQ(no_cluster.status, 4) << no_cluster.output;
  EXPECT_THAT(no_cluster.output,
              AllOf(ContainsRegex("problem  Kubernetes: http://127.0.0.1:1 .*refused"),
                    HasSubstr("check the network's way there"), HasSubstr("ok       OCI identity"),
                    HasSubstr("problem  Services: not looked at")));
  const cmd::Ran no_oci = Doctor("--oci_profile=NOBODY");
  EXPECT_EQ(no_oci.status, 4) << no_oci.output;
  EXPECT_THAT(no_oci.output,
              AllOf(HasSubstr("problem  OCI identity (--auth=config): no credentials: "),
                    HasSubstr("NOBODY"), HasSubstr("ok       Kubernetes: "),
                    HasSubstr("ok       rights: ")));
  world_->oci().With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
    core.RemoveLoadBalancer(sim::kWorldLoadBalancer);
  });
  const cmd::Ran gone = Doctor();
  EXPECT_EQ(gone.status, 4) << gone.output;
  EXPECT_THAT(gone.output, ContainsRegex("problem  load balancer .*NotAuthorizedOrNotFound.*rights "
                                         "are missing"));
}

TEST_F(DoctorLive, ClocksThatDifferAreFoundByTheDateHeaders) {
  sim::ControllerWorldOptions options;
  options.cluster.clock_ahead = absl::Hours(1);
  MakeWorld(options);
  AddLoadBalancer({web_});
  world_->oci().With([](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
    http.SetClockAhead(absl::Hours(-1));
  });
  const cmd::Ran ran = Doctor();
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output,
              AllOf(ContainsRegex("problem  clock of Kubernetes: this machine's clock is at least "
                                  "5[0-9]m[0-9]*s? behind the server's"),
                    ContainsRegex("problem  clock of OCI: this machine's clock is at least "
                                  "(59m59s|1h) ahead of the server's")))
      << ran.output;
}

// The table is enough for a controller to drain, and holds every call that one makes.
TEST_F(DoctorLive, TheTableOfRightsIsWhatAControllerUses) {
  MakeWorld();
  AddLoadBalancer({web_});
  controller::Settings settings;
  settings.ns = sim::kWorldNamespace;
  settings.pod_conditions = {true, true};
  settings.capacity_action = controller::CapacityAction::kWithdraw;
  GrantTheTable(settings, /*elects=*/true);
  StartController({"--pod_conditions=both", "--capacity_action=withdraw"});
  ASSERT_TRUE(AwaitLog("self-test: ok       Service shop/web: its Pods can be drained"));
  ASSERT_TRUE(AwaitLog("self-test: ok       rights: "));
  world_->DeletePod(web_, "web-0");
  ASSERT_TRUE(world_->AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_->Await("the Event is written",
                            [&] { return !world_->Events("BackendDrained").empty(); }));
  std::set<std::tuple<std::string, std::string, std::string>> table;
  for (const controller::Right& right : controller::Rights()) {
    table.emplace(right.verb, right.resource, right.subresource);
  }
  for (const sim::WorldCall& call : world_->Calls()) {
    if (call.to != sim::WorldCall::To::kKube) continue;
    EXPECT_NE(call.status, 403) << call.method << " " << call.target;
    const sim::KubeRequestInfo info =
        sim::ParseKubeRequest({.method = call.method, .target = call.target});
    if (info.resource == nullptr) continue;
    EXPECT_TRUE(table.contains({info.verb, std::string(info.resource->plural), info.subresource}))
        << call.method << " " << call.target;
  }
}

TEST_F(DoctorLive, AControllerLogsWhatItsSelfTestFindsAndDrainsAllTheSame) {
  MakeWorld();
  AddLoadBalancer({web_});
  Forbid({.verb = "create", .resource = "events"});
  StartController({"--leader_elect=false"});
  world_->DeletePod(web_, "web-0");
  ASSERT_TRUE(world_->AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(AwaitLog("self-test: warning  rights: may not create of events"));
  ASSERT_TRUE(AwaitLog("self-test: ok       Service shop/web"));
  ASSERT_TRUE(AwaitLog(" 1 warning, 0 problems"));
  controller_->Signal(SIGTERM);
  ASSERT_TRUE(world_->Await("the controller has ended", [&] { return !controller_->running(); }));
  EXPECT_EQ(controller_->Ending(), "exit status 0");
}

TEST_F(DoctorLive, ASelfTestThatHangsHoldsUpNeitherDrainsNorTheEnd) {
  MakeWorld();
  AddLoadBalancer({web_});
  world_->cluster().With([](sim::FakeApiServer& server, sim::Controllers&) {
    server.faults().Add({.only_if =
                             [](const sim::KubeRequestInfo& info) {
                               return absl::StrContains(info.path, "selfsubjectaccessreviews");
                             },
                         .times = -1,
                         .kind = sim::KubeFault::Kind::kDelay,
                         .delay = absl::Minutes(10)});
  });
  StartController({"--leader_elect=false"});
  ASSERT_TRUE(AwaitLog("self-test: ok       Kubernetes"));
  world_->DeletePod(web_, "web-0");
  ASSERT_TRUE(world_->AwaitConfirmed(web_, "web-0"));
  controller_->Signal(SIGTERM);
  ASSERT_TRUE(world_->Await("the controller has ended", [&] { return !controller_->running(); }));
  EXPECT_EQ(controller_->Ending(), "exit status 0");
}

}  // namespace
