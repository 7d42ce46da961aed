// What a drain is from end to end: over real HTTP, by the whole controller.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// One Service on one load balancer, and a controller that has read it.
class Drain : public ::testing::Test {
 protected:
  void Start() {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService({.name = "web"});
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    Run();
  }

  void Run() {
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  // The Pod goes, and Pod "web-reborn" has its address.
  static void GiveAddressOn(ControllerWorld& world, const WorldService& service,
                            const std::string& pod) {
    const std::string backend = world.BackendOf(service, pod);
    const std::string ip = backend.substr(0, backend.find(':'));
    world.KillPod(service, pod);
    ASSERT_TRUE(world.Await("the process has ended", [&] {
      return world.cluster().With([&](sim::FakeApiServer&, sim::Controllers& controllers) {
        return !controllers.kubelet().ProcessRunning(ip, 8080, base::RealClock().Now());
      });
    }));
    world.AddPod(service, "web-reborn");
    ASSERT_EQ(world.BackendOf(service, "web-reborn"), backend);
  }

  static sim::ControllerWorldOptions Options() {
    sim::ControllerWorldOptions options;
    options.cluster.controllers.kubelet.ip_reuse = sim::IpReuse::kAfterRemoval;
    return options;
  }

  // The backend of that name in a set's body.
  static const JsonTree& BackendIn(const JsonTree& set, const std::string& name) {
    static const JsonTree* const none = new JsonTree;
    for (const JsonTree& backend : set["backends"].items()) {
      const std::string key =
          absl::StrCat(backend["ipAddress"].AsString(), ":", backend["port"].AsInt());
      if (key == name) return backend;
    }
    return *none;
  }

  static JsonTree Parse(const std::string& text) { return JsonTree::Parse(text, "body").value(); }

  ControllerWorld world_{Options()};
  WorldService web_;
};

TEST_F(Drain, GoesOutAsUpdateBackendOnTheEtagOfTheLastRead) {
  Start();
  const std::string etag = world_.oci().With(
      [](sim::FakeLoadBalancer& core, auto&) { return core.Etag(kWorldLoadBalancer); });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  const std::vector<WorldCall> writes = world_.OciWrites();
  ASSERT_THAT(writes, SizeIs(1));
  EXPECT_THAT(writes[0].target,
              EndsWith(absl::StrCat("/backendSets/", web_.backend_set(), "/backends/",
                                    world_.BackendOf(web_, "web-1"))));
  EXPECT_EQ(writes[0].if_match, etag);
  EXPECT_THAT(writes[0].retry_token, SizeIs(32));
  const JsonTree body = Parse(writes[0].body);
  EXPECT_TRUE(body["drain"].AsBool());
  EXPECT_EQ(body["weight"].AsInt(), 1);
  EXPECT_FALSE(world_.IsDrained(web_, "web-0"));
  EXPECT_FALSE(world_.IsDrained(web_, "web-2"));
}

TEST_F(Drain, IsInTheLedgerBeforeItIsWrittenAndConfirmedAfterAReadShowsIt) {
  Start();
  world_.DeletePod(web_, "web-1");
  const std::string backend = world_.BackendOf(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  // Of all calls those of this drain.
  std::vector<std::string> story;
  for (const WorldCall& call : world_.Calls()) {
    if (call.is_ledger_write() && absl::StrContains(call.body, backend)) {
      story.push_back(absl::StrContains(call.body, "confirmed") ? "confirm" : "ledger");
    } else if (call.is_oci_write()) {
      story.push_back("write");
    } else if (absl::StrContains(call.target, "/loadBalancerWorkRequests/")) {
      story.push_back("poll");
    } else if (call.to == WorldCall::To::kOci && !story.empty()) {
      story.push_back(absl::StrContains(call.target, "workRequests") ? "list" : "read");
    }
  }
  ASSERT_GE(story.size(), 6u);
  EXPECT_THAT(std::vector<std::string>(story.begin(), story.begin() + 2),
              ElementsAre("ledger", "write"));
  // Looks may come between, and only the one after the work request's end counts.
  const auto poll = std::find(story.begin(), story.end(), "poll");
  const auto confirm = std::find(story.begin(), story.end(), "confirm");
  ASSERT_LT(poll, confirm);
  // What has moved the ETag since the read before, the work request itself perhaps, is
  // listed, too.
  const auto last = *(confirm - 1) == "list" ? confirm - 1 : confirm;
  EXPECT_THAT(std::vector<std::string>(last - 2, last), ElementsAre("list", "read"));
}

TEST_F(Drain, StartsWithoutAWordAboutWhatIsNotListedYet) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  web_ = world_.AddService({.name = "web"});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
  world_.cluster().With([](sim::FakeApiServer& server, sim::Controllers&) {
    server.faults().Add(sim::KubeFault{.verb = "list",
                                       .resource = "services",
                                       .kind = sim::KubeFault::Kind::kDelay,
                                       .delay = absl::Milliseconds(500)});
  });
  Run();
  for (const std::string& line : world_.Log()) EXPECT_THAT(line, Not(HasSubstr("event Warning")));
}

TEST_F(Drain, IsToldInEventsOnTheService) {
  Start();
  world_.DeletePod(web_, "web-1");
  const JsonTree draining = world_.AwaitEvent("BackendDraining", "web");
  const JsonTree drained = world_.AwaitEvent("BackendDrained", "web");
  for (const JsonTree* event : {&draining, &drained}) {
    EXPECT_EQ((*event)["type"].AsString(), "Normal");
    EXPECT_EQ((*event)["regarding"]["kind"].AsString(), "Service");
    EXPECT_EQ((*event)["regarding"]["namespace"].AsString(), "shop");
    EXPECT_EQ((*event)["regarding"]["uid"].AsString(),
              world_.Find(world_.ServiceRef(web_))["metadata"]["uid"].AsString());
    const std::string& note = (*event)["note"].AsString();
    EXPECT_THAT(note, HasSubstr("Pod web-1"));
    EXPECT_THAT(note, HasSubstr(world_.BackendOf(web_, "web-1")));
    EXPECT_THAT(note, HasSubstr(web_.backend_set()));
    EXPECT_THAT(note, HasSubstr(kWorldLoadBalancer));
  }
}

TEST_F(Drain, OfTwoPodsIsOneWholeSetWriteThatCarriesTheMembership) {
  world_.settings().plan.coalesce_window = sim::kAllInOneWindow;
  Start();
  world_.AddPod(web_, "web-new");
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-0"));
  const std::vector<WorldCall> writes = world_.OciWrites();
  ASSERT_THAT(writes, SizeIs(1));
  EXPECT_THAT(writes[0].target, EndsWith(absl::StrCat("/backendSets/", web_.backend_set())));
  const JsonTree body = Parse(writes[0].body);
  EXPECT_THAT(body["backends"].items(), SizeIs(4));
  for (const auto& [pod, drained] :
       {std::pair("web-0", true), {"web-1", true}, {"web-2", false}, {"web-new", false}}) {
    const JsonTree& backend = BackendIn(body, world_.BackendOf(web_, pod));
    ASSERT_TRUE(backend.is_object()) << pod;
    EXPECT_EQ(backend["drain"].AsBool(), drained) << pod;
  }
}

TEST_F(Drain, KeepsWhatItDoesNotKnowAndWhatItDoesNotMean) {
  world_.settings().plan.write_mode = drain::WriteMode::kBackendSet;
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  web_ = world_.AddService({.name = "web"});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
  constexpr char kExtras[] = R"({
    "policy": "ROUND_ROBIN",
    "backendMaxConnections": 4000,
    "sslConfiguration": {"verifyDepth": 3, "verifyPeerCertificate": true,
                         "trustedCertificateAuthorityIds": ["ocid1.ca.x"],
                         "certificateIds": [], "certificateName": "old", "protocols": ["TLSv1.2"],
                         "cipherSuiteName": "suite", "serverOrderPreference": "ENABLED",
                         "hasSessionResumption": true},
    "lbCookieSessionPersistenceConfiguration": {"cookieName": "c", "disableFallback": true,
                         "domain": "d", "path": "/p", "maxAgeInSeconds": 60,
                         "isSecure": true, "isHttpOnly": true},
    "futureField": {"nested": [1, 2.5, "three"]}})";
  const JsonTree extras = Parse(kExtras);
  world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
    const absl::Status status = core.EditNow(
        kWorldLoadBalancer,
        [&](rapidjson::Document& lb) {
          rapidjson::Value& set = *sim::FindBackendSet(lb, web_.backend_set());
          rapidjson::Document added(&lb.GetAllocator());
          added.Parse(kExtras);
          for (auto& member : added.GetObject()) {
            set.RemoveMember(member.name);
            set.AddMember(member.name, member.value, lb.GetAllocator());
          }
          rapidjson::Value& backend = set["backends"][2];
          backend["weight"] = 7;
          backend.AddMember("maxConnections", 300, lb.GetAllocator());
          return sim::ApiError();
        },
        base::RealClock().Now());
    ASSERT_TRUE(status.ok()) << status;
  });
  const auto state = [&] {
    return world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      return Parse(core.GetLoadBalancer(kWorldLoadBalancer, base::RealClock().Now()).body);
    });
  };
  JsonTree expected = state();
  Run();
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-0"));
  ASSERT_THAT(world_.OciWrites(), SizeIs(1));
  EXPECT_THAT(world_.OciWrites()[0].target, EndsWith(web_.backend_set()));
  expected.Child("backendSets")
      .Child(web_.backend_set())
      .Child("backends")
      .MutableItems()[0]
      .Set("drain", true);
  const JsonTree set = state()["backendSets"][web_.backend_set()];
  EXPECT_EQ(set, expected["backendSets"][web_.backend_set()])
      << set.Dump() << "\nbut expected\n"
      << expected["backendSets"][web_.backend_set()].Dump();
  for (const auto& [name, value] : extras.members()) EXPECT_EQ(set[name], value) << name;
}

TEST_F(Drain, ReachesTheDefaultBackendsSet) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  web_ = world_.AddService({.name = "web", .is_default_backend = true});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
  Run();
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites()[0].target, HasSubstr("/backendSets/default_ingress/"));
}

TEST_F(Drain, ReachesASetThatOnlyTheMapFileNamesWithFlagsAlone) {
  web_ = world_.AddService({.name = "web", .has_ingress = false});
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
  world_.settings().plan.coalesce_window = sim::kAllInOneWindow;
  world_.settings().lb_map = {{{"shop", "web"},
                               80,
                               oci::Ocid(kWorldLoadBalancer),
                               oci::BackendSetName(web_.backend_set())}};
  Run();
  world_.AddPod(web_, "web-new");
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  ASSERT_TRUE(world_.AwaitLooks(3));
  EXPECT_EQ(
      world_.Backend(kWorldLoadBalancer, web_.backend_set(), world_.BackendOf(web_, "web-new")),
      std::nullopt);
}

TEST_F(Drain, LeavesASetAloneThatTwoServicesShareAndSaysSoOnBoth) {
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  // Both names make bs_800a26eae26c08c.
  const WorldService a = world_.AddService({.ns = "default", .name = "svc1", .port = 80});
  const WorldService b = world_.AddService({.ns = "default", .name = "svc", .port = 180});
  const WorldService healthy = world_.AddService({.name = "web"});
  ASSERT_EQ(a.backend_set(), b.backend_set());
  world_.AddLoadBalancer(kWorldLoadBalancer, {a, b, healthy});
  Run();
  world_.DeletePod(a, "svc1-0");
  world_.DeletePod(healthy, "web-0");
  ASSERT_TRUE(world_.AwaitConfirmed(healthy, "web-0"));
  EXPECT_EQ(world_.AwaitEvent("BackendSetContested", "svc1")["type"].AsString(), "Warning");
  EXPECT_EQ(world_.AwaitEvent("BackendSetContested", "svc")["type"].AsString(), "Warning");
  for (const WorldCall& write : world_.OciWrites()) {
    EXPECT_THAT(write.target, Not(HasSubstr(a.backend_set())));
  }
}

TEST_F(Drain, OfADryRunIsPlannedAndToldAndNeverWritten) {
  world_.settings().dry_run = true;
  Start();
  world_.DeletePod(web_, "web-1");
  const JsonTree event = world_.AwaitEvent("BackendDraining", "web");
  EXPECT_THAT(event["note"].AsString(), HasSubstr("dry run"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr(world_.BackendOf(web_, "web-1")));
  ASSERT_TRUE(world_.AwaitLooks(5));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  for (const WorldCall& call : world_.Calls()) EXPECT_FALSE(call.is_ledger_write()) << call.target;
  EXPECT_THAT(world_.Events("BackendDraining"), SizeIs(1));
}

TEST_F(Drain, StopsWithinOnePassWhilePausedAndGoesOnAfterwards) {
  constexpr char kPaused[] = "oci-native-ingress.oraclecloud.com/backend-drain-paused";
  Start();
  world_.Annotate(world_.ClassRef(), kPaused, "true");
  // A paused load balancer is not even looked at: a pass for it shows in no call.
  const WorldService other =
      world_.AddService({.ns = "other", .name = "api", .ingress_class = "second"});
  world_.AddClass("second", "ocid1.loadbalancer.oc1.iad.bbbb");
  world_.AddLoadBalancer("ocid1.loadbalancer.oc1.iad.bbbb", {other});
  ASSERT_TRUE(world_.AwaitLooks(2, "ocid1.loadbalancer.oc1.iad.bbbb"));
  world_.DeletePod(web_, "web-1");
  world_.DeletePod(other, "api-1");
  ASSERT_TRUE(world_.AwaitConfirmed(other, "api-1", "ocid1.loadbalancer.oc1.iad.bbbb"));
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), IsEmpty());
  world_.Annotate(world_.ClassRef(), kPaused, std::nullopt);
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(Drain, OfAnOperatorIsRespectedWhileItsPodLives) {
  Start();
  world_.EditBackend(web_, "web-1", [](rapidjson::Value& backend) { backend["drain"] = true; });
  ASSERT_TRUE(world_.Await("the ledger knows the operator's drain", [&] {
    return absl::StrContains(world_.Ledger(), world_.BackendOf(web_, "web-1"));
  }));
  world_.DeletePod(web_, "web-2");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-2"));
  ASSERT_TRUE(world_.AwaitLooks(3));
  EXPECT_TRUE(world_.IsDrained(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
}

TEST_F(Drain, IsTakenBackWhenTheAddressBelongsToALivePodAgain) {
  // The set is never rid of the address in between.
  world_.settings().plan.carry_membership = false;
  Start();
  const std::string address = world_.BackendOf(web_, "web-1");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  GiveAddressOn(world_, web_, "web-1");
  EXPECT_TRUE(world_.Await("the live Pod's backend is routable", [&] {
    const auto backend = world_.Backend(kWorldLoadBalancer, web_.backend_set(), address);
    return backend.has_value() && !backend->drain;
  }));
}

TEST_F(Drain, IsTakenBackByReleaseWhereItIsOursAndItsPodLives) {
  Start();
  // An operator's, and one of ours whose Service then opts out.
  world_.EditBackend(web_, "web-2", [](rapidjson::Value& backend) { backend["drain"] = true; });
  ASSERT_TRUE(world_.Await("the ledger knows the operator's drain", [&] {
    return absl::StrContains(world_.Ledger(), world_.BackendOf(web_, "web-2"));
  }));
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  world_.StopController();
  // While nobody looks, a live Pod gets the address of one that we drained.
  const std::string address = world_.BackendOf(web_, "web-1");
  GiveAddressOn(world_, web_, "web-1");

  world_.settings().plan.release = true;
  world_.StartController(controller::Mode::kWatch);
  ASSERT_TRUE(world_.controller().WaitForSync(absl::Seconds(60)).ok());
  controller::Reconciler& reconciler = world_.controller().reconciler();
  const oci::Ocid load_balancer(kWorldLoadBalancer);
  ASSERT_TRUE(world_.Await("it is released", [&] {
    reconciler.Pass(load_balancer);
    return reconciler.AtRest(load_balancer);
  }));
  EXPECT_FALSE(world_.Backend(kWorldLoadBalancer, web_.backend_set(), address)->drain);
  EXPECT_TRUE(world_.IsDrained(web_, "web-0")) << "its Pod is terminating";
  EXPECT_TRUE(world_.IsDrained(web_, "web-2")) << "it is an operator's";
}

}  // namespace
}  // namespace integration
