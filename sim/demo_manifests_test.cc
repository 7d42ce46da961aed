// The manifests of the demo are accepted by the fake cluster and roll out.
#include <gtest/gtest.h>

#include <string>

#include "sim/kube_fields_of.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

constexpr char kDeployment[] = "/apis/apps/v1/namespaces/demo/deployments/web";

TEST(DemoManifests, AreAcceptedAndRollOut) {
  KubeTestWorld world;
  world.ApplyFiles("testdata/demo");
  world.ApplyFiles("testdata/demo/neighbour");
  world.RunFor(absl::Seconds(10));
  EXPECT_EQ(world.Get(kDeployment)["status"]["availableReplicas"].AsInt(), 10);
  EXPECT_EQ(world.Pods("demo").size(), 14u);

  const absl::Time start = world.now;
  world.Send("PATCH", kDeployment,
             R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})",
             "application/merge-patch+json");
  world.RunFor(absl::Minutes(2));
  EXPECT_EQ(world.Get(kDeployment)["status"]["updatedReplicas"].AsInt(), 10);
  // 28 s of preStop and 15 s of shutdown fit into 45 s of grace.
  absl::Time deleted;
  int ended = 0;
  for (const PodEvent& event : world.controllers.kubelet().log()) {
    if (event.time < start) continue;
    if (event.kind == PodEvent::Kind::kDeleted && deleted == absl::Time()) deleted = event.time;
    if (event.kind == PodEvent::Kind::kProcessEnded && ++ended == 1) {
      EXPECT_EQ(event.time - deleted, absl::Seconds(43));
    }
  }
  EXPECT_EQ(ended, 10);
}

TEST(DemoManifests, ServiceOptsInAndNeighbourDoesNot) {
  KubeTestWorld world;
  world.ApplyFiles("testdata/demo");
  world.ApplyFiles("testdata/demo/neighbour");
  const std::string services = "/api/v1/namespaces/demo/services/";
  const std::string key = "oci-native-ingress.oraclecloud.com/backend-draining";
  const JsonTree web = world.Get(services + "web-ingress");
  EXPECT_EQ(web["metadata"]["annotations"][key].AsString(), "true");
  EXPECT_TRUE(web["spec"]["publishNotReadyAddresses"].AsBool());
  EXPECT_FALSE(world.Get(services + "neighbour")["metadata"]["annotations"].Has(key));
}

}  // namespace
}  // namespace sim
