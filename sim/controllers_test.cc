#include "sim/controllers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 0}}
  template:
    metadata:
      labels: {app: web}
      annotations: {sim/shutdown-seconds: "5"}
    spec:
      terminationGracePeriodSeconds: 45
      containers:
      - name: c
        image: x
        ports: [{name: http, containerPort: 8080}]
        lifecycle: {preStop: {exec: {command: [sleep, "20"]}}}
)";

constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  publishNotReadyAddresses: true
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}]
)";

constexpr char kDeploymentUrl[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kSlicesUrl[] = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";
constexpr char kMerge[] = "application/merge-patch+json";

std::string NewTemplate(const std::string& version) {
  return R"({"spec":{"template":{"metadata":{"annotations":{"v":")" + version + R"("}}}}})";
}

// What happened, as "seconds kind count".
std::vector<std::string> Timeline(const std::vector<PodEvent>& log, absl::Time start) {
  std::vector<std::string> out;
  std::map<std::pair<int64_t, std::string>, int> counts;
  for (const PodEvent& event : log) {
    if (event.time < start) continue;
    counts[{absl::ToInt64Milliseconds(event.time - start),
            std::string(PodEventName(event.kind))}]++;
  }
  for (const auto& [key, count] : counts) {
    out.push_back(absl::StrCat(key.first / 1000.0, " ", key.second, " ", count));
  }
  return out;
}

TEST(Controllers, RollOutOfTenWithSurgeOfThreeGoesInWavesOfThree) {
  KubeTestWorld world;
  world.Apply(kDeployment);
  world.RunFor(absl::Minutes(1));
  ASSERT_EQ(world.Get(kDeploymentUrl)["status"]["availableReplicas"].AsInt(), 10);

  const absl::Time start = world.now;
  EXPECT_EQ(world.Send("PATCH", kDeploymentUrl, NewTemplate("2"), kMerge).status, 200);
  world.RunFor(absl::Minutes(1));
  EXPECT_EQ(
      Timeline(world.controllers.kubelet().log(), start),
      (std::vector<std::string>{
          "0 created 3", "1 running 3", "3 created 3", "3 deleted 3", "3 ready 3", "4 running 3",
          "6 created 3", "6 deleted 3", "6 ready 3", "7 running 3", "9 created 1", "9 deleted 3",
          "9 ready 3", "10 running 1", "12 deleted 1", "12 ready 1",
          // 20 s of preStop and 5 s of shutdown after each deletion.
          "28 not ready 3", "28 process ended 3", "28.5 removed 3", "31 not ready 3",
          "31 process ended 3", "31.5 removed 3", "34 not ready 3", "34 process ended 3",
          "34.5 removed 3", "37 not ready 1", "37 process ended 1", "37.5 removed 1"}));
  const JsonTree status = world.Get(kDeploymentUrl)["status"];
  EXPECT_EQ(status["updatedReplicas"].AsInt(), 10);
  EXPECT_EQ(status["availableReplicas"].AsInt(), 10);
  EXPECT_EQ(status["terminatingReplicas"].AsInt(), 0);
  EXPECT_EQ(world.Pods("shop").size(), 10u);
}

TEST(Controllers, NeverFewerReadyPodsThanReplicasMinusMaxUnavailable) {
  KubeTestWorld world;
  world.Apply(absl::StrReplaceAll(
      kDeployment, {{"maxSurge: 3, maxUnavailable: 0", "maxSurge: 1, maxUnavailable: 2"}}));
  world.RunFor(absl::Minutes(1));
  world.Send("PATCH", kDeploymentUrl, NewTemplate("2"), kMerge);
  int64_t fewest = 10;
  int64_t most = 0;
  const bool done = world.RunUntil(world.now + absl::Minutes(10), [&] {
    int64_t available = 0;
    int64_t active = 0;
    for (const JsonTree& pod : world.Pods("shop")) {
      active += IsPodActive(pod) ? 1 : 0;
      available += IsPodActive(pod) && IsPodReady(pod) ? 1 : 0;
    }
    fewest = std::min(fewest, available);
    most = std::max(most, active);
    const JsonTree status = world.Get(kDeploymentUrl)["status"];
    return status["updatedReplicas"].AsInt() == 10 && status["availableReplicas"].AsInt() == 10 &&
           status["terminatingReplicas"].AsInt() == 0;
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(fewest, 8);
  EXPECT_EQ(most, 11);
}

TEST(Controllers, DeploymentScalesUpAndDown) {
  KubeTestWorld world;
  world.Apply(kDeployment);
  world.RunFor(absl::Minutes(1));
  for (const int replicas : {4, 12, 0, 3}) {
    world.Send("PATCH", kDeploymentUrl, absl::StrCat(R"({"spec":{"replicas":)", replicas, "}}"),
               kMerge);
    world.RunFor(absl::Minutes(1));
    EXPECT_EQ(world.Pods("shop").size(), static_cast<size_t>(replicas));
  }
}

TEST(Controllers, RecreateEndsTheOldBeforeTheNewBegin) {
  KubeTestWorld world;
  world.Apply(absl::StrReplaceAll(kDeployment,
                                  {{"strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 0}}",
                                    "strategy: {type: Recreate}"},
                                   {"replicas: 10", "replicas: 2"}}));
  world.RunFor(absl::Minutes(1));
  const absl::Time start = world.now;
  world.Send("PATCH", kDeploymentUrl, NewTemplate("2"), kMerge);
  world.RunFor(absl::Minutes(1));
  EXPECT_EQ(Timeline(world.controllers.kubelet().log(), start),
            (std::vector<std::string>{"0 deleted 2", "25 created 2", "25 not ready 2",
                                      "25 process ended 2", "25.5 removed 2", "26 running 2",
                                      "28 ready 2"}));
}

TEST(Controllers, PodsAreOwnedUniqueAndRecreatedWhenDeleted) {
  KubeTestWorld world;
  world.Apply(kDeployment);
  world.RunFor(absl::Minutes(1));
  std::set<std::string> ips;
  for (const JsonTree& pod : world.Pods("shop")) {
    EXPECT_EQ(ControllerOf(pod)["kind"].AsString(), "ReplicaSet");
    ips.insert(pod["status"]["podIP"].AsString());
  }
  EXPECT_EQ(ips.size(), 10u);
  const std::string name = NameOf(world.Pods("shop")[0]);
  world.Send("DELETE", "/api/v1/namespaces/shop/pods/" + name);
  world.RunFor(absl::Minutes(1));
  EXPECT_EQ(world.Pods("shop").size(), 10u);
  EXPECT_EQ(world.Send("GET", "/api/v1/namespaces/shop/pods/" + name).status, 404);
}

TEST(Controllers, RemovingADeploymentRemovesWhatItOwns) {
  KubeTestWorld world;
  world.Apply(kDeployment);
  world.Apply(kService);
  world.RunFor(absl::Minutes(1));
  EXPECT_EQ(world.Send("DELETE", kDeploymentUrl).status, 200);
  EXPECT_EQ(world.Send("DELETE", "/api/v1/namespaces/shop/services/web").status, 200);
  world.RunFor(absl::Minutes(1));
  EXPECT_TRUE(world.Pods("shop").empty());
  EXPECT_TRUE(world.Get("/apis/apps/v1/namespaces/shop/replicasets")["items"].items().empty());
  EXPECT_TRUE(world.Get(kSlicesUrl)["items"].items().empty());
  EXPECT_EQ(world.Send("GET", "/api/v1/namespaces/shop/endpoints/web").status, 404);
}

TEST(Controllers, MinReadySecondsDelayTheNextWave) {
  KubeTestWorld world;
  world.Apply(
      absl::StrReplaceAll(kDeployment, {{"replicas: 10", "replicas: 2\n  minReadySeconds: 7"}}));
  world.RunFor(absl::Minutes(1));
  const absl::Time start = world.now;
  world.Send("PATCH", kDeploymentUrl, NewTemplate("2"), kMerge);
  world.RunFor(absl::Minutes(1));
  const std::vector<std::string> timeline = Timeline(world.controllers.kubelet().log(), start);
  EXPECT_EQ(timeline[2], "3 ready 2");
  EXPECT_EQ(timeline[3], "10 deleted 2");
}

TEST(Controllers, TheSameSeedGivesTheSameObjects) {
  std::string bodies[2];
  for (std::string& body : bodies) {
    KubeTestWorld world;
    world.Apply(kDeployment);
    world.Apply(kService);
    world.RunFor(absl::Seconds(10));
    world.Send("PATCH", kDeploymentUrl, NewTemplate("2"), kMerge);
    world.RunFor(absl::Seconds(10));
    body = world.Send("GET", "/api/v1/pods").body + world.Send("GET", kSlicesUrl).body;
  }
  EXPECT_EQ(bodies[0], bodies[1]);
}

constexpr char kStatefulSet[] = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: x, ports: [{containerPort: 5432}]}]
)";

TEST(Controllers, StatefulSetStartsInOrderAndUpdatesFromTheHighest) {
  KubeTestWorld world;
  world.Apply(kStatefulSet);
  world.RunFor(absl::Minutes(1));
  const absl::Time start = world.now;
  std::vector<std::string> ready;
  for (const PodEvent& event : world.controllers.kubelet().log()) {
    if (event.kind == PodEvent::Kind::kReady) ready.push_back(event.name);
  }
  EXPECT_EQ(ready, (std::vector<std::string>{"db-0", "db-1", "db-2"}));

  world.Send("PATCH", "/apis/apps/v1/namespaces/shop/statefulsets/db", NewTemplate("2"), kMerge);
  world.RunFor(absl::Minutes(1));
  std::vector<std::string> deleted;
  for (const PodEvent& event : world.controllers.kubelet().log()) {
    if (event.time >= start && event.kind == PodEvent::Kind::kDeleted) {
      deleted.push_back(event.name);
    }
  }
  EXPECT_EQ(deleted, (std::vector<std::string>{"db-2", "db-1", "db-0"}));
  EXPECT_EQ(world.Pods("shop").size(), 3u);
}

}  // namespace
}  // namespace sim
