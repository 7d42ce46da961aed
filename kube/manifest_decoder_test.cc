#include "kube/manifest_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(AddManifests, ReadsWhatSaysHowManyBackendsThereWillBe) {
  Manifests manifests;
  const absl::Status status = AddManifests(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 40
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web, "oci-native-ingress.oraclecloud.com/published": "true"}}
    spec: {terminationGracePeriodSeconds: 60}
---
kind: List
items:
- kind: StatefulSet
  metadata: {name: db}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {selector: {app: web}, ports: [{port: 80}]}
- kind: ConfigMap
  metadata: {name: ignored}
---
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {maxReplicas: 60, scaleTargetRef: {kind: Deployment, name: web}}
---
kind: DaemonSet
metadata: {name: agent, namespace: shop}
---
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
)",
                                           manifests);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_THAT(manifests.workloads, SizeIs(2));
  const ManifestWorkload& web = manifests.workloads[0];
  EXPECT_EQ(web.workload.kind, "Deployment");
  EXPECT_EQ(web.workload.key, (ObjectKey{"shop", "web"}));
  EXPECT_EQ(web.workload.max_surge, 10);
  EXPECT_EQ(web.workload.grace, absl::Seconds(60));
  EXPECT_THAT(web.pod_labels,
              ElementsAre(Pair("app", "web"),
                          Pair("oci-native-ingress.oraclecloud.com/published", "true")));
  EXPECT_EQ(manifests.workloads[1].workload.key, (ObjectKey{"default", "db"}));
  EXPECT_THAT(manifests.services, SizeIs(1));
  EXPECT_THAT(manifests.ingresses, SizeIs(1));
  ASSERT_THAT(manifests.autoscalers, SizeIs(1));
  EXPECT_EQ(manifests.autoscalers[0].max_replicas, 60);
  EXPECT_EQ(manifests.autoscalers[0].target_name, "web");
  EXPECT_THAT(manifests.unforeseen, ElementsAre("DaemonSet shop/agent"));
}

TEST(AddManifests, AnAutoscalerWithoutTargetScalesNothing) {
  Manifests manifests;
  ASSERT_TRUE(AddManifests("{kind: HorizontalPodAutoscaler, metadata: {name: a}}", manifests).ok());
  EXPECT_EQ(manifests.autoscalers[0].target_name, "");
  EXPECT_EQ(manifests.autoscalers[0].max_replicas, 0);
}

TEST(AddManifests, NamesObjectLineAndField) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"kind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: many}",
       "Deployment shop/web (line 1): spec.replicas: expected an integer, got a string"},
      {"a: 1\n---\nkind: [", "line "},
      {"---\napiVersion: v1", "line 2: no manifest: it has no kind"},
      {"kind: Deployment\nmetadata: {}", "Deployment  (line 1): metadata.name: "},
      {"{kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {labels: {a: 1}}}}}",
       "spec.template.metadata.labels.a: expected a string, got a number"},
      {"just text", "no manifest"},
  };
  for (const auto& each : kCases) {
    Manifests manifests;
    const absl::Status status = AddManifests(each.text, manifests);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << each.text;
    EXPECT_THAT(status.message(), HasSubstr(each.message));
  }
  Manifests none;
  EXPECT_TRUE(AddManifests("", none).ok());
  EXPECT_THAT(none.workloads, IsEmpty());
}

}  // namespace
}  // namespace kube
