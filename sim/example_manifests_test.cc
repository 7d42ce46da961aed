// The examples are accepted by the fake cluster's validation, which answers as the
// recorded API server does, and fit together.
#include <gtest/gtest.h>

#include <string>

#include "absl/time/time.h"
#include "annotations/annotations.h"
#include "annotations/table.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

constexpr char kDeployment[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kService[] = "/api/v1/namespaces/shop/services/web-ingress";

TEST(Examples, AreAcceptedAndTheirPodsWaitForTheGateAlone) {
  KubeTestWorld world;
  world.ApplyFiles("testdata/examples");
  world.RunFor(absl::Minutes(2));
  EXPECT_EQ(world.Get(kDeployment)["status"]["replicas"].AsInt(), 3);
  EXPECT_EQ(world.Get(kDeployment)["status"]["readyReplicas"].AsInt(), 0);
  for (const JsonTree& pod : world.Pods("shop")) {
    const std::string path =
        "/api/v1/namespaces/shop/pods/" + pod["metadata"]["name"].AsString() + "/status";
    const std::string type(annotations::kReadyCondition);
    world.Send("PATCH", path + "?fieldManager=test",
               R"({"apiVersion":"v1","kind":"Pod","status":{"conditions":[{"type":")" + type +
                   R"(","status":"True","reason":"Registered"}]}})",
               "application/apply-patch+yaml");
  }
  world.RunFor(absl::Seconds(10));
  EXPECT_EQ(world.Get(kDeployment)["status"]["readyReplicas"].AsInt(), 3);
}

TEST(Examples, TheWaitAndTheShutdownFitIntoTheGracePeriod) {
  KubeTestWorld world;
  world.ApplyFiles("testdata/examples");
  const JsonTree service = world.Get(kService);
  kube::Annotations found;
  for (const auto& [name, value] : service["metadata"]["annotations"].members()) {
    found[name] = value.AsString();
  }
  const auto parsed = annotations::ParseServiceAnnotations(found);
  EXPECT_TRUE(parsed.bad.empty());
  EXPECT_TRUE(parsed.values.backend_draining);
  EXPECT_TRUE(service["spec"]["publishNotReadyAddresses"].AsBool());

  const JsonTree pod = world.Get(kDeployment)["spec"]["template"]["spec"];
  absl::Duration wait;
  for (const JsonTree& word :
       pod["containers"].items()[0]["lifecycle"]["preStop"]["exec"]["command"].items()) {
    const std::string& text = word.AsString();
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const auto duration = annotations::ParseDuration(text.substr(equals + 1));
    ASSERT_TRUE(duration.has_value()) << text;
    wait += *duration;
  }
  EXPECT_GT(wait, absl::ZeroDuration());
  EXPECT_LE(wait + parsed.values.shutdown,
            absl::Seconds(pod["terminationGracePeriodSeconds"].AsInt()));
}

}  // namespace
}  // namespace sim
