// What the fake's controllers write has the shape of what a real
// kube-controller-manager was recorded to write.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/kube_recorded.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: fx}
spec:
  publishNotReadyAddresses: true
  selector: {app: shop}
  ports: [{name: http, port: 80, targetPort: http}]
)";

std::string Pod(int index, const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: shop-", index,
                      ", namespace: fx, labels: {app: shop}}, spec: {terminationGracePeriodSeconds:"
                      " 60, containers: [{name: c, image: x, ports: [{name: http, containerPort: "
                      "8080}]}]",
                      more, "}}");
}

// The endpoints' conditions as recorded and as written now.
std::vector<std::string> Conditions(const JsonTree& slices) {
  std::vector<std::string> out;
  for (const JsonTree& slice : slices["items"].items()) {
    for (const JsonTree& endpoint : slice["endpoints"].items()) {
      out.push_back(absl::StrCat(endpoint["targetRef"]["name"].AsString(), " ",
                                 endpoint["conditions"].Dump()));
    }
  }
  return out;
}

class RecordedControllersTest : public testing::Test {
 protected:
  // shop-0 ready, shop-1 ready and being deleted, shop-2 not ready, as recorded.
  void MakeShop() {
    world_.Apply(kService);
    world_.Apply(Pod(0));
    world_.Apply(Pod(1));
    world_.Apply(Pod(2, ", readinessGates: [{conditionType: example.com/never}]"));
    world_.RunFor(absl::Seconds(10));
  }

  void DeleteOne() { world_.Send("DELETE", "/api/v1/namespaces/fx/pods/shop-1"); }

  KubeTestWorld world_;
};

TEST_F(RecordedControllersTest, EndpointSlicesAndEndpointsOfATerminatingPod) {
  MakeShop();
  DeleteOne();
  world_.controllers.Step(world_.now);
  JsonTree recorded = RecordedAnswer("endpointslices-list");
  JsonTree actual = world_.Get("/apis/discovery.k8s.io/v1/namespaces/fx/endpointslices");
  EXPECT_EQ(DifferencesOfShape(recorded, actual), "");
  EXPECT_EQ(Conditions(actual), Conditions(recorded));

  recorded = RecordedAnswer("endpoints-get");
  actual = world_.Get("/api/v1/namespaces/fx/endpoints/shop");
  EXPECT_EQ(DifferencesOfShape(recorded, actual), "");
  EXPECT_EQ(actual["subsets"].items()[0]["addresses"].items().size(),
            recorded["subsets"].items()[0]["addresses"].items().size());

  world_.RunFor(absl::Minutes(2));
  recorded = RecordedAnswer("endpointslices-list-after");
  actual = world_.Get("/apis/discovery.k8s.io/v1/namespaces/fx/endpointslices");
  EXPECT_EQ(DifferencesOfShape(recorded, actual), "");
  EXPECT_EQ(Conditions(actual), Conditions(recorded));
}

TEST_F(RecordedControllersTest, WatchOfEndpointSlicesAcrossADeletion) {
  MakeShop();
  const KubeAnswer answer = world_.server.Handle(
      {.method = "GET",
       .target = absl::StrCat("/apis/discovery.k8s.io/v1/namespaces/fx/endpointslices?watch=1&"
                              "resourceVersion=",
                              world_.server.store().resource_version()),
       .headers = {},
       .body = ""},
      world_.now);
  DeleteOne();
  world_.RunFor(absl::Minutes(2));
  const std::string bytes = world_.server.TakeWatch(*answer.watch).bytes;
  const std::vector<std::string> lines = absl::StrSplit(bytes, '\n', absl::SkipEmpty());
  const JsonTree recorded = RecordedAnswer("endpointslices-watch");
  // Between the two the process ends, which the recording has not.
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(DifferencesOfShape(recorded.items()[0], *JsonTree::Parse(lines.front(), "event")), "");
  EXPECT_EQ(DifferencesOfShape(recorded.items()[1], *JsonTree::Parse(lines.back(), "event")), "");
}

// Without what the recorded client wrote: kubectl's annotation and field sets.
JsonTree WithoutClient(JsonTree list) {
  for (JsonTree& item : list.Child("items").MutableItems()) {
    JsonTree& metadata = item.Child("metadata");
    metadata.Erase("managedFields");
    if (metadata["annotations"].is_object()) {
      metadata.Child("annotations").Erase("kubectl.kubernetes.io/last-applied-configuration");
    }
    if (metadata["annotations"].members().empty()) metadata.Erase("annotations");
  }
  // Templates' annotations are the user's; the finalizers are the ingress controller's.
  return list;
}

TEST_F(RecordedControllersTest, DeploymentAndReplicaSetsAfterARollout) {
  world_.Apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 0}}
  template:
    metadata: {annotations: {v: "1"}, labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 60
      containers: [{name: c, image: x, ports: [{containerPort: 8080}]}]
)");
  world_.RunFor(absl::Seconds(10));
  world_.Send("PATCH", "/apis/apps/v1/namespaces/default/deployments/web",
              R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})",
              "application/merge-patch+json");
  world_.RunFor(absl::Minutes(2));
  for (const auto& [recording, target] :
       {std::pair<const char*, const char*>{"deployment-list",
                                            "/apis/apps/v1/namespaces/default/deployments"},
        {"replicaset-list", "/apis/apps/v1/namespaces/default/replicasets"}}) {
    EXPECT_EQ(DifferencesOfShape(WithoutClient(RecordedAnswer(recording)),
                                 WithoutClient(world_.Get(target))),
              "");
  }
}

TEST_F(RecordedControllersTest, IngressAndItsClass) {
  // As recorded, with what the ingress controller adds.
  for (const char* recording : {"ingressclass-list", "ingress-list"}) {
    const JsonTree list = RecordedAnswer(recording);
    JsonTree manifest = list["items"].items()[0];
    const std::string kind = list["kind"].AsString();
    manifest.Set("kind", kind.substr(0, kind.size() - 4));
    manifest.Set("apiVersion", list["apiVersion"]);
    manifest.Child("metadata").Erase("resourceVersion");
    const KubeResult result = world_.server.ApplyManifest(manifest, world_.now);
    ASSERT_TRUE(result.ok()) << result.error->message;
  }
  const http::Response status =
      world_.Send("PATCH", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/web/status",
                  R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.10"}]}}})",
                  "application/merge-patch+json");
  EXPECT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(DifferencesOfShape(WithoutClient(RecordedAnswer("ingress-list")),
                               WithoutClient(world_.Get("/apis/networking.k8s.io/v1/ingresses"))),
            "");
  EXPECT_EQ(
      DifferencesOfShape(WithoutClient(RecordedAnswer("ingressclass-list")),
                         WithoutClient(world_.Get("/apis/networking.k8s.io/v1/ingressclasses"))),
      "");
}

}  // namespace
}  // namespace sim
