// Bad input from either side: one line or event that names the object and the
// reason, nothing written on a guess, and the other objects go on.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "controller/integration/two_load_balancers_for_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/certificates.h"
#include "sim/controller_world.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::JsonTree;
using sim::KubeFault;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::RequestFault;
using sim::RequestRecord;
using sim::WorldCall;
using sim::WorldService;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class BadInput : public TwoLoadBalancers {
 protected:
  void OciFault(RequestFault fault) {
    world_.oci().With(
        [&](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Add(std::move(fault)); });
  }

  void KubeFaultFor(KubeFault fault) {
    world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
      server.faults().Add(std::move(fault));
    });
  }

  void Inject(const std::string& resource, const std::string& bytes) {
    world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
      server.watches().Inject(resource, bytes);
    });
  }

  void ExpectTheOtherGoesOn(const std::string& pod = "api-1") {
    world_.DeletePod(api_, pod);
    EXPECT_TRUE(world_.AwaitConfirmed(api_, pod, kOtherLoadBalancer));
  }

  // A log line is for people: whatever came, it is short.
  void ExpectShortLines() {
    for (const std::string& line : world_.Log()) EXPECT_LE(line.size(), 2000u) << line;
  }

  static bool IsReadOfTheFirst(const RequestRecord& record) {
    return absl::EndsWith(record.request.target, kWorldLoadBalancer);
  }

  // A Service whose slices are made by hand, and its backend.
  WorldService AddHandMade(const std::string& endpoint) {
    const WorldService odd{.name = "odd", .pods = 0};
    world_.Apply(
        "apiVersion: v1\n"
        "kind: Service\n"
        "metadata:\n"
        "  namespace: shop\n"
        "  name: odd\n"
        "  annotations: {oci-native-ingress.oraclecloud.com/backend-draining: \"true\"}\n"
        "spec: {publishNotReadyAddresses: true, ports: [{name: http, port: 80, targetPort: "
        "8080}]}\n"
        "---\n"
        "apiVersion: networking.k8s.io/v1\n"
        "kind: Ingress\n"
        "metadata: {namespace: shop, name: odd}\n"
        "spec:\n"
        "  ingressClassName: oci\n"
        "  rules: [{http: {paths: [{path: /odd, pathType: Prefix, backend: {service: {name: odd, "
        "port: {number: 80}}}}]}}]\n");
    world_.Apply(absl::Substitute(
        "apiVersion: discovery.k8s.io/v1\n"
        "kind: EndpointSlice\n"
        "metadata: {namespace: shop, name: odd-1, labels: {kubernetes.io/service-name: odd}}\n"
        "addressType: IPv4\n"
        "ports: [{name: http, port: 8080, protocol: TCP}]\n"
        "endpoints: [$0]\n",
        endpoint));
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      ASSERT_TRUE(
          core.AddLoadBalancer(sim::MakeLoadBalancerJson(
                                   kWorldLoadBalancer,
                                   {{odd.backend_set(), {"10.0.0.99:8080"}},
                                    {web_.backend_set(), {world_.BackendOf(web_, "web-1")}}}),
                               base::RealClock().Now())
              .ok());
    });
    return odd;
  }
};

TEST_F(BadInput, TruncatedJsonFromOci) {
  Start();
  RequestFault cut;
  cut.matches = IsReadOfTheFirst;
  cut.damage = sim::Damage::kTruncateJson;
  cut.times = 3;
  OciFault(cut);
  ASSERT_TRUE(world_.AwaitLog({kWorldLoadBalancer, "JSON"}));
  world_.DeletePod(web_, "web-1");
  ExpectTheOtherGoesOn();
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, JsonOfAnotherShapeFromOci) {
  SetUpCluster();
  RequestFault odd;
  odd.matches = IsReadOfTheFirst;
  odd.times = 1'000'000;
  odd.answer =
      http::Response{.status = 200,
                     .headers = {{"etag", "x"}},
                     .body = absl::StrCat(R"({"id":")", kWorldLoadBalancer,
                                          R"(","lifecycleState":"ACTIVE","backendSets":[1,2]})")};
  OciFault(odd);
  world_.StartController();
  world_.DeletePod(web_, "web-1");
  const JsonTree event = world_.AwaitEvent("LoadBalancerNotReadable", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr(kWorldLoadBalancer));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("backendSets"));
  ExpectTheOtherGoesOn();
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), IsEmpty());
}

TEST_F(BadInput, ALargePageInPlaceOfAnAnswerFromOci) {
  Start();
  RequestFault page;
  page.matches = IsReadOfTheFirst;
  page.times = 2;
  page.answer = sim::HtmlError(502, 200'000);
  OciFault(page);
  ASSERT_TRUE(world_.AwaitLog({kWorldLoadBalancer, "HTTP 502"}));
  ExpectTheOtherGoesOn();
  ExpectShortLines();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, TruncatedJsonFromKubernetes) {
  SetUpCluster();
  KubeFaultFor({.verb = "list", .resource = "services", .status = 200, .body = "{\"kind\":\"Se"});
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLog({"watch of services", "JSON"}));
  ASSERT_TRUE(world_.AwaitLooks(2));
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, AListThatIsNoListFromKubernetes) {
  SetUpCluster();
  KubeFaultFor({.verb = "list", .resource = "pods", .ns = "shop", .status = 200, .body = "{}"});
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLog({"watch of pods in namespace shop"}));
  ExpectTheOtherGoesOn();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, ALargePageInPlaceOfAnAnswerFromKubernetes) {
  SetUpCluster();
  KubeFaultFor({.verb = "list",
                .resource = "pods",
                .ns = "shop",
                .status = 503,
                .body = std::string(200'000, '<')});
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLog({"watch of pods in namespace shop", "HTTP 503", "200000 bytes"}));
  ExpectTheOtherGoesOn();
  ExpectShortLines();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, GarbageInAWatchIsFollowedByAList) {
  Start();
  Inject("pods", "HTTP/1.1 500 oops\n");
  ASSERT_TRUE(world_.AwaitLog({"watch of pods"}));
  world_.DeletePod(web_, "web-1");
  ExpectTheOtherGoesOn();
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, AWatchLineOfTwoMegabytesIsRead) {
  Start();
  world_.Annotate(world_.ServiceRef(web_), "example.com/notes", std::string(250'000, 'x'));
  const JsonTree service = world_.Find(world_.ServiceRef(web_));
  JsonTree object = service;
  object.Set("kind", "Service");
  object.Set("apiVersion", "v1");
  object.Child("metadata")
      .Child("annotations")
      .Set("example.com/notes", std::string(2'000'000, 'y'));
  Inject("services",
         JsonTree(JsonTree::Object{{"type", "MODIFIED"}, {"object", object}}).Dump() + "\n");
  world_.DeletePod(web_, "web-1");
  ExpectTheOtherGoesOn();
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
  ExpectShortLines();
}

TEST_F(BadInput, AWatchLineThatNeverEndsIsGivenUpAndListedAnew) {
  Start();
  Inject("services", std::string(9 << 20, 'x'));
  ASSERT_TRUE(world_.AwaitLog({"watch of services", "line"}));
  world_.DeletePod(web_, "web-1");
  ExpectTheOtherGoesOn();
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
  ExpectShortLines();
}

TEST_F(BadInput, AnAnnotationOfTheWrongTypeLeavesThatServiceAsItWas) {
  Start();
  JsonTree object = world_.Find(world_.ServiceRef(web_));
  object.Set("kind", "Service");
  object.Set("apiVersion", "v1");
  object.Child("metadata")
      .Child("annotations")
      .Set("oci-native-ingress.oraclecloud.com/backend-draining", true);
  Inject("services",
         JsonTree(JsonTree::Object{{"type", "MODIFIED"}, {"object", object}}).Dump() + "\n");
  ASSERT_TRUE(world_.AwaitLog({"services", "shop/web", "backend-draining"}));
  ExpectTheOtherGoesOn();
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1")) << "its last good state opted in";
}

TEST_F(BadInput, AServiceThatCameWithTheWrongTypeIsNotTouched) {
  SetUpCluster();
  JsonTree object = world_.Find(world_.ServiceRef(web_));
  object.Child("metadata")
      .Child("annotations")
      .Set("oci-native-ingress.oraclecloud.com/backend-draining", true);
  const JsonTree good = world_.Find(world_.ServiceRef(api_));
  const JsonTree list = JsonTree::Object{
      {"kind", "ServiceList"},
      {"apiVersion", "v1"},
      {"metadata", JsonTree::Object{{"resourceVersion", good["metadata"]["resourceVersion"]}}},
      {"items", JsonTree::Array{object, good}}};
  KubeFaultFor({.verb = "list", .resource = "services", .status = 200, .body = list.Dump()});
  // The watch from there would bring the good one.
  KubeFaultFor({.verb = "watch", .resource = "services", .times = -1, .status = 503});
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLog({"services", "shop/web", "backend-draining"}));
  world_.DeletePod(web_, "web-1");
  ExpectTheOtherGoesOn();
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), IsEmpty());
}

TEST_F(BadInput, ABackendSetThatIsMissing) {
  Start();
  const WorldService late = world_.AddService({.name = "late"});
  const JsonTree event = world_.AwaitEvent("BackendSetMissing", "late");
  EXPECT_THAT(event["note"].AsString(), HasSubstr(late.backend_set()));
  world_.DeletePod(late, "late-1");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  for (const WorldCall& write : world_.OciWrites()) {
    EXPECT_THAT(write.target, Not(HasSubstr(late.backend_set())));
  }
  // It comes late, and is then drained like any other.
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_, late});
  EXPECT_TRUE(world_.AwaitDrained(late, "late-1"));
}

TEST_F(BadInput, AServiceThatIsMissing) {
  Start();
  world_.Apply(
      "apiVersion: networking.k8s.io/v1\n"
      "kind: Ingress\n"
      "metadata: {namespace: shop, name: lost}\n"
      "spec:\n"
      "  ingressClassName: oci\n"
      "  rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: nowhere, "
      "port: {number: 80}}}}]}}]\n");
  const JsonTree event = world_.AwaitEvent("NotMapped", "lost");
  EXPECT_THAT(event["note"].AsString(), HasSubstr("shop/nowhere"));
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(BadInput, AnEndpointWithoutTargetRef) {
  SetUpCluster();
  const WorldService odd =
      AddHandMade("{addresses: [10.0.0.99], conditions: {serving: false, terminating: true}}");
  world_.StartController();
  const JsonTree event = world_.AwaitEvent("EndpointWithoutPod", "odd");
  EXPECT_EQ(event["type"].AsString(), "Warning");
  EXPECT_THAT(event["note"].AsString(), HasSubstr("10.0.0.99:8080"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("targetRef"));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  ExpectTheOtherGoesOn();
  for (const WorldCall& write : world_.OciWrites()) {
    EXPECT_THAT(write.target, Not(HasSubstr(odd.backend_set())));
  }
}

TEST_F(BadInput, APodWithoutAddressInPlaceOfTheOneThatTheSliceNames) {
  SetUpCluster();
  KubeFaultFor({.verb = "get",
                .resource = "pods",
                .name = "ghost",
                .times = -1,
                .status = 200,
                .body = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"ghost",)"
                        R"("namespace":"shop","uid":"new","resourceVersion":"9"},"spec":{},)"
                        R"("status":{"phase":"Pending"}})"});
  const WorldService odd = AddHandMade(
      "{addresses: [10.0.0.99], targetRef: {kind: Pod, namespace: shop, name: ghost, uid: old}}");
  world_.StartController();
  ASSERT_TRUE(world_.AwaitLog({"shop/ghost", "no address"}));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  ExpectTheOtherGoesOn();
  ASSERT_TRUE(world_.AwaitLooks(5));
  for (const WorldCall& write : world_.OciWrites()) {
    EXPECT_THAT(write.target, Not(HasSubstr(odd.backend_set())));
  }
  const std::vector<std::string> log = world_.Log();
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const std::string& line) {
                            return absl::StartsWith(line, "backend 10.0.0.99:8080");
                          }),
            1)
      << "said once, not at each look";
}

TEST_F(BadInput, APodThatWaitsForItsAddressHoldsNobodyUp) {
  Start();
  world_.cluster().With([&](sim::FakeApiServer& server, sim::Controllers&) {
    const auto pod = sim::JsonTree::Parse(
        R"({"metadata":{"name":"pending","namespace":"shop","labels":{"app":"web"},)"
        R"("finalizers":["example.com/hold"]},"spec":{"schedulerName":"nobody",)"
        R"("containers":[{"name":"c","image":"x"}]}})",
        "pod");
    server.objects().Create(sim::resources::Pods(), "shop", *pod,
                            {"kubectl", base::RealClock().Now()});
    server.objects().Delete({&sim::resources::Pods(), "shop", "pending"}, {},
                            base::RealClock().Now());
  });
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
}

// A certificate that does not match, on either side.

struct Authority {
  sim::CertificateAndKey ca = sim::MakeCertificate({.is_authority = true});
  sim::ServerTls For(const std::string& name) const {
    const sim::CertificateAndKey own = sim::MakeCertificate({.names = {name}}, &ca);
    return {own.certificate_pem, own.key_pem};
  }
};

void ExpectRefusal(sim::ControllerWorldOptions options, const std::vector<std::string>& words) {
  ControllerWorld world(std::move(options));
  world.AddClass(kWorldClass, kWorldLoadBalancer);
  const WorldService web = world.AddService({.name = "web"});
  world.AddLoadBalancer(kWorldLoadBalancer, {web});
  world.StartController();
  EXPECT_TRUE(world.AwaitLog(words));
  world.DeletePod(web, "web-1");
  world.StopController();
  EXPECT_THAT(world.OciWrites(), IsEmpty());
}

TEST(BadCertificate, OfOciForAnotherName) {
  const Authority authority;
  sim::ControllerWorldOptions options;
  options.load_balancer_tls = authority.For("iaas.example.com");
  options.load_balancer_ca_pem = authority.ca.certificate_pem;
  ExpectRefusal(options, {kWorldLoadBalancer, "TLS", "127.0.0.1", "certificate"});
}

TEST(BadCertificate, OfOciFromAnotherAuthority) {
  const Authority authority;
  const Authority trusted;
  sim::ControllerWorldOptions options;
  options.load_balancer_tls = authority.For("127.0.0.1");
  options.load_balancer_ca_pem = trusted.ca.certificate_pem;
  ExpectRefusal(options, {kWorldLoadBalancer, "TLS", "certificate"});
}

TEST(BadCertificate, OfKubernetesForAnotherName) {
  const Authority authority;
  sim::ControllerWorldOptions options;
  options.cluster.socket.tls = authority.For("kubernetes.default.svc");
  options.cluster_ca_pem = authority.ca.certificate_pem;
  ExpectRefusal(options, {"watch of ingressclasses", "TLS", "127.0.0.1", "certificate"});
}

TEST(BadCertificate, OfKubernetesFromAnotherAuthority) {
  const Authority authority;
  const Authority trusted;
  sim::ControllerWorldOptions options;
  options.cluster.socket.tls = authority.For("127.0.0.1");
  options.cluster_ca_pem = trusted.ca.certificate_pem;
  ExpectRefusal(options, {"watch of services", "TLS", "certificate"});
}

TEST(BadCertificate, NoneOfItKeepsAGoodOneFromWorking) {
  const Authority oci;
  const Authority kube;
  sim::ControllerWorldOptions options;
  options.load_balancer_tls = oci.For("127.0.0.1");
  options.load_balancer_ca_pem = oci.ca.certificate_pem;
  options.cluster.socket.tls = kube.For("127.0.0.1");
  options.cluster_ca_pem = kube.ca.certificate_pem;
  ControllerWorld world(std::move(options));
  world.AddClass(kWorldClass, kWorldLoadBalancer);
  const WorldService web = world.AddService({.name = "web"});
  world.AddLoadBalancer(kWorldLoadBalancer, {web});
  world.StartController();
  ASSERT_TRUE(world.AwaitLooks(2));
  world.DeletePod(web, "web-1");
  EXPECT_TRUE(world.AwaitConfirmed(web, "web-1"));
}

}  // namespace
}  // namespace integration
