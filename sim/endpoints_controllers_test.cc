#include "sim/endpoints_controllers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  publishNotReadyAddresses: PUBLISH
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}]
)";

constexpr char kPod[] = R"(
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  namespace: shop
  labels: {app: web}
  annotations: {sim/shutdown-seconds: "20"}
spec:
  containers: [{name: c, image: x, ports: [{name: http, containerPort: PORT}]}]
)";

constexpr char kSlicesUrl[] = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";
constexpr char kEndpointsUrl[] = "/api/v1/namespaces/shop/endpoints/web";

std::string Service(bool publish) {
  return absl::StrReplaceAll(kService, {{"PUBLISH", publish ? "true" : "false"}});
}

std::string Pod(const std::string& name, int port = 8080) {
  return absl::StrReplaceAll(kPod, {{"NAME", name}, {"PORT", absl::StrCat(port)}});
}

// "ready serving terminating" of the only endpoint.
std::string ConditionsOfOnly(KubeTestWorld& world) {
  const JsonTree slices = world.Get(kSlicesUrl)["items"];
  EXPECT_EQ(slices.items().size(), 1u);
  if (slices.items().size() != 1 || slices.items()[0]["endpoints"].items().size() != 1) return "?";
  const JsonTree conditions = slices.items()[0]["endpoints"].items()[0]["conditions"];
  std::string text;
  for (const char* name : {"ready", "serving", "terminating"}) {
    if (conditions[name].AsBool()) absl::StrAppend(&text, name, " ");
  }
  return text;
}

TEST(EndpointSlices, TerminatingEndpointsStayAndSayHowTheyAre) {
  for (const bool publish : {false, true}) {
    KubeTestWorld world;
    world.Apply(Service(publish));
    world.Apply(Pod("a"));
    world.RunFor(absl::Seconds(2));
    EXPECT_EQ(ConditionsOfOnly(world), publish ? "ready " : "");
    world.RunFor(absl::Seconds(10));
    EXPECT_EQ(ConditionsOfOnly(world), "ready serving ");
    world.Send("DELETE", "/api/v1/namespaces/shop/pods/a");
    world.RunFor(absl::Seconds(1));
    EXPECT_EQ(ConditionsOfOnly(world),
              publish ? "ready serving terminating " : "serving terminating ");
    // Gone with the process, before the object.
    world.RunFor(absl::Seconds(19));
    const JsonTree slices = world.Get(kSlicesUrl)["items"];
    EXPECT_TRUE(slices.items().empty() || slices.items()[0]["endpoints"].is_null());
  }
}

TEST(Endpoints, TerminatingAddressesStayOnlyWhenNotReadyOnesArePublished) {
  for (const bool publish : {false, true}) {
    KubeTestWorld world;
    world.Apply(Service(publish));
    world.Apply(Pod("a"));
    world.RunFor(absl::Seconds(2));
    JsonTree subset = world.Get(kEndpointsUrl)["subsets"].items()[0];
    EXPECT_EQ(subset["addresses"].items().size(), publish ? 1u : 0u);
    EXPECT_EQ(subset["notReadyAddresses"].items().size(), publish ? 0u : 1u);
    world.RunFor(absl::Seconds(10));
    subset = world.Get(kEndpointsUrl)["subsets"].items()[0];
    EXPECT_EQ(subset["addresses"].items().size(), 1u);
    world.Send("DELETE", "/api/v1/namespaces/shop/pods/a");
    world.RunFor(absl::Seconds(1));
    EXPECT_EQ(world.Get(kEndpointsUrl)["subsets"].items().size(), publish ? 1u : 0u);
  }
}

TEST(EndpointSlices, SplitAtOneHundredEndpoints) {
  KubeTestWorld world;
  world.Apply(Service(true));
  world.Apply(R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 120
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, ports: [{name: http, containerPort: 8080}]}]}
)");
  world.RunFor(absl::Seconds(10));
  std::multiset<size_t> sizes;
  for (const JsonTree& slice : world.Get(kSlicesUrl)["items"].items()) {
    sizes.insert(slice["endpoints"].items().size());
  }
  EXPECT_EQ(sizes, (std::multiset<size_t>{20, 100}));
  EXPECT_EQ(world.Get(kEndpointsUrl)["subsets"].items()[0]["addresses"].items().size(), 120u);
}

TEST(EndpointSlices, PodsWithOtherPortNumbersHaveTheirOwnSlice) {
  KubeTestWorld world;
  world.Apply(Service(true));
  world.Apply(Pod("a", 8080));
  world.Apply(Pod("b", 9090));
  world.RunFor(absl::Seconds(10));
  std::set<int64_t> ports;
  for (const JsonTree& slice : world.Get(kSlicesUrl)["items"].items()) {
    EXPECT_EQ(slice["endpoints"].items().size(), 1u);
    ports.insert(slice["ports"].items()[0]["port"].AsInt());
  }
  EXPECT_EQ(ports, (std::set<int64_t>{8080, 9090}));
  EXPECT_EQ(world.Get(kEndpointsUrl)["subsets"].items().size(), 2u);
}

TEST(EndpointSlices, ServiceWithoutEndpointsHasAnEmptySlice) {
  KubeTestWorld world;
  world.Apply(Service(true));
  world.RunFor(absl::Seconds(1));
  const JsonTree slices = world.Get(kSlicesUrl)["items"];
  ASSERT_EQ(slices.items().size(), 1u);
  EXPECT_TRUE(slices.items()[0]["endpoints"].is_null());
  EXPECT_FALSE(world.Get(kEndpointsUrl).Has("subsets"));
}

TEST(EndpointSlices, EachAddressFamilyHasItsSlices) {
  ControllersOptions options;
  options.kubelet.dual_stack = true;
  KubeTestWorld world(options);
  world.Apply(
      absl::StrReplaceAll(Service(true), {{"spec:\n", "spec:\n  ipFamilies: [IPv4, IPv6]\n"}}));
  world.Apply(Pod("a"));
  world.RunFor(absl::Seconds(10));
  std::set<std::string> addresses;
  for (const JsonTree& slice : world.Get(kSlicesUrl)["items"].items()) {
    for (const JsonTree& endpoint : slice["endpoints"].items()) {
      addresses.insert(slice["addressType"].AsString() + " " +
                       endpoint["addresses"].items()[0].AsString());
    }
  }
  EXPECT_EQ(addresses, (std::set<std::string>{"IPv4 10.244.1.2", "IPv6 fd00:10:244::1"}));
}

TEST(EndpointSlices, RunBehindThePodsWhenToldTo) {
  ControllersOptions options;
  options.endpoints.slices_lag_min = options.endpoints.slices_lag_max = absl::Seconds(2);
  KubeTestWorld world(options);
  world.Apply(Service(true));
  world.Apply(Pod("a"));
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", "/api/v1/namespaces/shop/pods/a");
  world.RunFor(absl::Seconds(1.5));
  EXPECT_EQ(ConditionsOfOnly(world), "ready serving ");
  world.RunFor(absl::Seconds(1));
  EXPECT_EQ(ConditionsOfOnly(world), "ready serving terminating ");
}

TEST(Endpoints, AddressesAboveTheMostAreTruncated) {
  ControllersOptions options;
  EXPECT_EQ(options.endpoints.max_addresses, 1000u);
  options.endpoints.max_addresses = 20;
  KubeTestWorld world(options);
  world.Apply(Service(true));
  world.Apply(R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 21
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, ports: [{name: http, containerPort: 8080}]}]}
)");
  world.RunFor(absl::Seconds(10));
  const JsonTree endpoints = world.Get(kEndpointsUrl);
  EXPECT_EQ(endpoints["subsets"].items()[0]["addresses"].items().size(), 20u);
  EXPECT_EQ(
      endpoints["metadata"]["annotations"]["endpoints.kubernetes.io/over-capacity"].AsString(),
      "truncated");
}

}  // namespace
}  // namespace sim
