// What the fake cluster refuses, and in which words.
#include "sim/kube_validation.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/fake_api_server.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1796000000);

// The status and message with which the manifest is answered.
std::string Answer(const std::string& yaml) {
  FakeApiServer server;
  const auto manifests = ParseManifests(yaml, "test");
  if (!manifests.ok()) return std::string(manifests.status().message());
  const KubeResult result = server.ApplyManifest(manifests->at(0), kNow);
  return result.ok() ? "201" : absl::StrCat(result.code, " ", result.error->message);
}

constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: x}]
)";

std::string DeploymentWith(const std::string& from, const std::string& to) {
  return absl::StrReplaceAll(kDeployment, {{from, to}});
}

TEST(Validation, DeploymentNeedsASelectorAndMatchingLabels) {
  EXPECT_EQ(Answer(kDeployment), "201");
  EXPECT_EQ(Answer(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers: [{name: c, image: x}]
)"),
            "422 Deployment.apps \"web\" is invalid: [spec.selector: Required value, "
            "spec.template.metadata.labels: Invalid value: null: `selector` does not match "
            "template `labels`]");
  EXPECT_EQ(Answer(DeploymentWith("labels: {app: web}", "labels: {app: other}")),
            "422 Deployment.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: "
            "{\"app\":\"other\"}: `selector` does not match template `labels`");
}

TEST(Validation, DeploymentMustBeAbleToMove) {
  EXPECT_EQ(Answer(DeploymentWith(
                "  selector:",
                "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}\n  selector:")),
            "422 Deployment.apps \"web\" is invalid: "
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
            "`maxSurge` is 0");
}

TEST(Validation, ContainersAreComplete) {
  EXPECT_EQ(Answer(DeploymentWith(", image: x", "")),
            "422 Deployment.apps \"web\" is invalid: spec.template.spec.containers[0].image: "
            "Required value");
  EXPECT_EQ(Answer(DeploymentWith(", image: x", ", image: x, readinessProbe: {periodSeconds: 1}")),
            "422 Deployment.apps \"web\" is invalid: "
            "spec.template.spec.containers[0].readinessProbe: Required value: must specify a "
            "handler type");
  EXPECT_EQ(Answer(DeploymentWith(", image: x",
                                  ", image: x, resources: {requests: {cpu: 1}, limits: {cpu: "
                                  "500m}}")),
            "422 Deployment.apps \"web\" is invalid: "
            "spec.template.spec.containers[0].resources.requests: Invalid value: 1: must be less "
            "than or equal to cpu limit of 500m");
  EXPECT_EQ(Answer(DeploymentWith(", image: x",
                                  ", image: x, lifecycle: {preStop: {sleep: {seconds: 31}}}")),
            "422 Deployment.apps \"web\" is invalid: "
            "spec.template.spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be "
            "non-negative and less than terminationGracePeriodSeconds (30)");
}

TEST(Validation, AnnotationThatIsNoStringFailsToDecode) {
  EXPECT_EQ(Answer(R"(
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations: {oci-native-ingress.oraclecloud.com/backend-draining: true}
spec: {ports: [{port: 80}]}
)"),
            "400 Service in version \"v1\" cannot be handled as a Service: json: cannot unmarshal "
            "bool into Go struct field ObjectMeta.metadata.annotations of type string");
}

TEST(Validation, ServiceNeedsPortsWithNames) {
  EXPECT_EQ(Answer("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {}}"),
            "422 Service \"s\" is invalid: spec.ports: Required value");
  EXPECT_EQ(Answer("{apiVersion: v1, kind: Service, metadata: {name: s}, "
                   "spec: {ports: [{port: 80}, {name: b, port: 81}]}}"),
            "422 Service \"s\" is invalid: spec.ports[0].name: Required value");
  EXPECT_EQ(Answer("{apiVersion: v1, kind: Service, metadata: {name: s}, "
                   "spec: {ports: [{port: 70000}]}}"),
            "422 Service \"s\" is invalid: [spec.ports[0].port: Invalid value: 70000: must be "
            "between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 70000: must "
            "be between 1 and 65535, inclusive]");
}

TEST(Validation, IngressNeedsAPathTypeAndAPort) {
  EXPECT_EQ(
      Answer(R"(
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: s, port: {}}}}]}}]}
)"),
      "422 Ingress.networking.k8s.io \"i\" is invalid: [spec.rules[0].http.paths[0].pathType: "
      "Required value: pathType must be specified, "
      "spec.rules[0].http.paths[0].backend: Required value: port name or number "
      "is required]");
}

TEST(Validation, EndpointAddressesMayNotBeLoopbackOrLinkLocal) {
  const auto slice = [](const std::string& type, const std::string& address) {
    return Answer(
        absl::StrCat("{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, "
                     "metadata: {name: s}, addressType: ",
                     type, ", endpoints: [{addresses: ['", address, "']}], ports: []}"));
  };
  EXPECT_EQ(slice("IPv4", "10.0.0.1"), "201");
  EXPECT_EQ(slice("IPv6", "fd00::1"), "201");
  EXPECT_EQ(slice("IPv4", "127.0.0.1"),
            "422 EndpointSlice.discovery.k8s.io \"s\" is invalid: endpoints[0].addresses[0]: "
            "Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, "
            "::1/128)");
  for (const auto& [type, address] : {std::pair<const char*, const char*>{"IPv4", "169.254.1.1"},
                                      {"IPv4", "0.0.0.0"},
                                      {"IPv4", "x"},
                                      {"IPv4", "fd00::1"},
                                      {"IPv6", "::1"},
                                      {"IPv6", "fe80::1"}}) {
    EXPECT_EQ(slice(type, address).substr(0, 3), "422") << address;
  }
}

TEST(Validation, EventIsBoundedAndLivesWithWhatItIsAbout) {
  const auto event = [](const std::string& ns, const std::string& regarding,
                        const std::string& more) {
    return Answer(absl::StrCat(
        "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: ", ns,
        "}, eventTime: '2026-11-30T03:00:00.000000Z', reportingController: c, "
        "reportingInstance: i, action: A, reason: R, type: Normal, regarding: ",
        regarding, more, "}"));
  };
  const std::string service = "{kind: Service, name: s, namespace: shop}";
  EXPECT_EQ(event("shop", service, ""), "201");
  EXPECT_EQ(event("default", "{kind: IngressClass, name: oci}", ""), "201");
  EXPECT_EQ(event("shop", "{kind: IngressClass, name: oci}", ""),
            "422 Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not "
            "match event.namespace");
  EXPECT_EQ(event("shop", service, ", note: " + std::string(1024, 'x')), "201");
  EXPECT_EQ(event("shop", service, ", note: " + std::string(1025, 'x')),
            "422 Event \"e\" is invalid: message: Invalid value: \"\": can have at most 1024 "
            "characters");
  EXPECT_EQ(event("shop", service, ", series: {count: 1, lastObservedTime: x}"),
            "422 Event \"e\" is invalid: series.count: Invalid value: \"\": should be at least 2");
}

TEST(Validation, KindAndVersionMustFit) {
  EXPECT_EQ(Answer("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: d}}"),
            "404 no matches for kind \"Deployment\" in version \"apps/v1beta1\"");
  FakeApiServer server;
  const auto post = [&](const std::string& body) {
    return server
        .Handle({.method = "POST",
                 .target = "/api/v1/namespaces/default/configmaps",
                 .headers = {},
                 .body = body},
                kNow)
        .response.status;
  };
  EXPECT_EQ(post(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"), 400);
  EXPECT_EQ(post(R"({"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}})"), 400);
  EXPECT_EQ(post(R"({"metadata":{"name":"a","namespace":"other"}})"), 400);
  EXPECT_EQ(post(R"({"metadata":{}})"), 422);
  EXPECT_EQ(post(R"({"metadata":{"name":"Upper"}})"), 422);
  EXPECT_EQ(post(R"({"metadata":{"name":"a","resourceVersion":"1"}})"), 500);
  EXPECT_EQ(post(R"({"metadata":{"name":"a"},"data":{"k":1}})"), 400);
  EXPECT_EQ(post(R"({"metadata":{"name":"a"},"data":{"k":")" + std::string(1100000, 'x') + "\"}}"),
            422);
  EXPECT_EQ(post(R"({"metadata":{"name":"a"},"data":{"k":"1"}})"), 201);
}

TEST(Validation, NamespaceMustExist) {
  FakeApiServer server;
  EXPECT_EQ(server
                .Handle({.method = "POST",
                         .target = "/api/v1/namespaces/none/configmaps",
                         .headers = {},
                         .body = R"({"metadata":{"name":"a"}})"},
                        kNow)
                .response.status,
            404);
}

}  // namespace
}  // namespace sim
