#include "sim/kubelet.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_test_world.h"
#include "sim/kubelet_status.h"

namespace sim {
namespace {

constexpr char kPod[] = R"(
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  labels: {app: web}
  annotations: {sim/shutdown-seconds: "5"}
spec:
  terminationGracePeriodSeconds: 60
  containers:
  - name: c
    image: x
    ports: [{name: http, containerPort: 8080}]
    lifecycle: {preStop: {sleep: {seconds: 10}}}
)";

constexpr char kPodUrl[] = "/api/v1/namespaces/shop/pods/web";

// From the deletion to the end of the process.
absl::Duration TimeToEnd(const std::string& yaml, const std::string& delete_options = "") {
  KubeTestWorld world;
  world.Apply(yaml);
  world.RunFor(absl::Seconds(10));
  const absl::Time deleted = world.now;
  EXPECT_EQ(world.Send("DELETE", kPodUrl, delete_options).status, 200);
  world.RunFor(absl::Minutes(3));
  for (const PodEvent& event : world.controllers.kubelet().log()) {
    if (event.kind == PodEvent::Kind::kProcessEnded) return event.time - deleted;
  }
  return absl::InfiniteDuration();
}

TEST(Kubelet, StartsAndProbesAPod) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.controllers.Step(world.now);
  EXPECT_EQ(world.Get(kPodUrl)["status"]["phase"].AsString(), "Pending");
  EXPECT_FALSE(world.Get(kPodUrl)["status"].Has("podIP"));
  world.RunFor(absl::Seconds(1));
  EXPECT_EQ(world.Get(kPodUrl)["status"]["phase"].AsString(), "Running");
  EXPECT_EQ(world.Get(kPodUrl)["status"]["podIP"].AsString(), "10.244.1.2");
  EXPECT_FALSE(IsPodReady(world.Get(kPodUrl)));
  world.RunFor(absl::Seconds(2));
  EXPECT_TRUE(IsPodReady(world.Get(kPodUrl)));
}

TEST(Kubelet, ProcessEndsAfterPreStopAndShutdownButWithinGrace) {
  EXPECT_EQ(TimeToEnd(kPod), absl::Seconds(15));
  EXPECT_EQ(TimeToEnd(kPod, R"({"gracePeriodSeconds":12})"), absl::Seconds(12));
  EXPECT_EQ(
      TimeToEnd(absl::StrReplaceAll(
          kPod, {{"{sleep: {seconds: 10}}", "{exec: {command: [sh, -c, 'sleep 20; true']}}"}})),
      absl::Seconds(25));
  EXPECT_EQ(TimeToEnd(absl::StrReplaceAll(
                kPod, {{"lifecycle: {preStop: {sleep: {seconds: 10}}}", "env: []"}})),
            absl::Seconds(5));
}

TEST(Kubelet, GraceCanBeShortened) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl);
  world.RunFor(absl::Seconds(2));
  world.Send("DELETE", kPodUrl, R"({"gracePeriodSeconds":3})");
  EXPECT_EQ(world.Get(kPodUrl)["metadata"]["deletionGracePeriodSeconds"].AsInt(), 3);
  world.RunFor(absl::Seconds(2.5));
  EXPECT_EQ(world.Send("GET", kPodUrl).status, 200);
  world.RunFor(absl::Seconds(1));
  EXPECT_EQ(world.Send("GET", kPodUrl).status, 404);
}

TEST(Kubelet, EndedPodIsTerminalUntilItsObjectIsRemoved) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl);
  world.RunFor(absl::Seconds(15));
  const JsonTree pod = world.Get(kPodUrl);
  EXPECT_EQ(pod["status"]["phase"].AsString(), "Succeeded");
  EXPECT_FALSE(IsPodReady(pod));
  world.RunFor(absl::Seconds(1));
  EXPECT_EQ(world.Send("GET", kPodUrl).status, 404);
}

TEST(Kubelet, KnowsWhenAProcessListened) {
  KubeTestWorld world;
  const absl::Time start = world.now;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl);
  world.RunFor(absl::Seconds(30));
  const Kubelet& kubelet = world.controllers.kubelet();
  EXPECT_FALSE(kubelet.ProcessRunning("10.244.1.2", 8080, start + absl::Seconds(0.5)));
  EXPECT_TRUE(kubelet.ProcessRunning("10.244.1.2", 8080, start + absl::Seconds(1)));
  EXPECT_TRUE(kubelet.ProcessRunning("10.244.1.2", 8080, start + absl::Seconds(24)));
  EXPECT_FALSE(kubelet.ProcessRunning("10.244.1.2", 8080, start + absl::Seconds(25)));
  EXPECT_FALSE(kubelet.ProcessRunning("10.244.1.2", 9090, start + absl::Seconds(5)));
  EXPECT_FALSE(kubelet.ProcessRunning("10.244.1.3", 8080, start + absl::Seconds(5)));
}

TEST(Kubelet, ReadyOnlyWhenTheGateIsTrue) {
  KubeTestWorld world;
  world.Apply(absl::StrReplaceAll(
      kPod, {{"spec:\n", "spec:\n  readinessGates: [{conditionType: example.com/gate}]\n"}}));
  world.RunFor(absl::Seconds(10));
  EXPECT_TRUE(IsConditionTrue(world.Get(kPodUrl), "ContainersReady"));
  EXPECT_FALSE(IsPodReady(world.Get(kPodUrl)));
  const http::Response response =
      world.Send("PATCH", absl::StrCat(kPodUrl, "/status?fieldManager=gate"),
                 R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"status":)"
                 R"({"conditions":[{"type":"example.com/gate","status":"True"}]}})",
                 "application/apply-patch+yaml");
  EXPECT_EQ(response.status, 200) << response.body;
  world.RunFor(absl::ZeroDuration());
  EXPECT_TRUE(IsPodReady(world.Get(kPodUrl)));
}

TEST(Kubelet, CrashedProcessComesBackOnItsAddress) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  ASSERT_TRUE(world.controllers.kubelet().Crash("shop", "web", world.now).ok());
  world.RunFor(absl::Seconds(1));
  EXPECT_FALSE(IsPodReady(world.Get(kPodUrl)));
  EXPECT_FALSE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
  world.RunFor(absl::Seconds(20));
  EXPECT_TRUE(IsPodReady(world.Get(kPodUrl)));
  EXPECT_TRUE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
  EXPECT_EQ(world.controllers.kubelet().Crash("shop", "none", world.now).code(),
            absl::StatusCode::kNotFound);
}

TEST(Kubelet, ReadinessFlapsWhenForced) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  for (const bool ready : {false, true, false}) {
    ASSERT_TRUE(world.controllers.kubelet().ForceReadiness("shop", "web", ready).ok());
    world.RunFor(absl::Seconds(1));
    EXPECT_EQ(IsPodReady(world.Get(kPodUrl)), ready);
  }
  ASSERT_TRUE(world.controllers.kubelet().ForceReadiness("shop", "web", std::nullopt).ok());
  world.RunFor(absl::Seconds(1));
  EXPECT_TRUE(IsPodReady(world.Get(kPodUrl)));
}

TEST(Kubelet, ReadinessFailsFromSigtermWhenTheApplicationSaysSo) {
  KubeTestWorld world;
  world.Apply(absl::StrReplaceAll(
      kPod,
      {{R"(sim/shutdown-seconds: "5")", R"(sim/shutdown-seconds: "5", sim/unready-at: sigterm)"}}));
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl);
  world.RunFor(absl::Seconds(9));
  EXPECT_TRUE(IsPodReady(world.Get(kPodUrl)));
  world.RunFor(absl::Seconds(1));
  EXPECT_FALSE(IsPodReady(world.Get(kPodUrl)));
}

TEST(Kubelet, NodeShutdownLeavesAFailedPodWithoutDeletionTimestamp) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.controllers.kubelet().ShutDownNode("node-1", absl::Seconds(12), world.now);
  world.RunFor(absl::Seconds(1));
  JsonTree pod = world.Get(kPodUrl);
  EXPECT_TRUE(IsConditionTrue(pod, "DisruptionTarget"));
  EXPECT_FALSE(IsPodReady(pod));
  EXPECT_EQ(pod["status"]["phase"].AsString(), "Running");
  EXPECT_TRUE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
  world.RunFor(absl::Seconds(11));
  pod = world.Get(kPodUrl);
  EXPECT_EQ(pod["status"]["phase"].AsString(), "Failed");
  EXPECT_FALSE(IsTerminating(pod));
  EXPECT_FALSE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
}

TEST(Kubelet, ForcedDeletionRemovesTheObjectBeforeTheProcess) {
  KubeTestWorld world;
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(world.Send("GET", kPodUrl).status, 404);
  world.RunFor(absl::Seconds(0.5));
  EXPECT_TRUE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
  world.RunFor(absl::Seconds(1));
  EXPECT_FALSE(world.controllers.kubelet().ProcessRunning("10.244.1.2", 8080, world.now));
}

// The address of the Pod that is created `delay` after the deletion of another
// whose process ends at once and whose object stays for 10 s.
std::string AddressOfNext(IpReuse reuse, absl::Duration delay) {
  ControllersOptions options;
  options.kubelet.ip_reuse = reuse;
  options.kubelet.removal = absl::Seconds(10);
  KubeTestWorld world(options);
  world.Apply(kPod);
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl, R"({"gracePeriodSeconds":1})");
  world.RunFor(delay);
  world.Apply(absl::StrReplaceAll(kPod, {{"name: web\n", "name: next\n"}}));
  world.RunFor(absl::Seconds(5));
  return world.Get("/api/v1/namespaces/shop/pods/next")["status"]["podIP"].AsString();
}

TEST(Kubelet, AddressesAreReusedWhenToldTo) {
  EXPECT_EQ(AddressOfNext(IpReuse::kNever, absl::Minutes(1)), "10.244.1.3");
  EXPECT_EQ(AddressOfNext(IpReuse::kAfterRemoval, absl::Minutes(1)), "10.244.1.2");
  EXPECT_EQ(AddressOfNext(IpReuse::kAfterRemoval, absl::Seconds(3)), "10.244.1.3");
  EXPECT_EQ(AddressOfNext(IpReuse::kAfterProcessEnd, absl::Seconds(3)), "10.244.1.2");
}

TEST(Kubelet, PodOnTheHostNetworkHasTheNodesAddress) {
  KubeTestWorld world;
  world.Apply(absl::StrReplaceAll(kPod, {{"spec:\n", "spec:\n  hostNetwork: true\n"}}));
  world.RunFor(absl::Seconds(5));
  EXPECT_EQ(world.Get(kPodUrl)["status"]["podIP"].AsString(), "10.0.0.1");
}

TEST(Kubelet, FinalizerKeepsTheObjectUntilItIsTakenAway) {
  KubeTestWorld world;
  world.Apply(
      absl::StrReplaceAll(kPod, {{"  labels:", "  finalizers: [example.com/hold]\n  labels:"}}));
  world.RunFor(absl::Seconds(10));
  world.Send("DELETE", kPodUrl);
  world.RunFor(absl::Minutes(2));
  EXPECT_EQ(world.Get(kPodUrl)["metadata"]["deletionGracePeriodSeconds"].AsInt(), 0);
  world.Send("PATCH", kPodUrl, R"({"metadata":{"finalizers":null}})",
             "application/merge-patch+json");
  EXPECT_EQ(world.Send("GET", kPodUrl).status, 404);
}

}  // namespace
}  // namespace sim
