#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/decode_for_test.h"
#include "kube/decoder.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(DecodeService, ReadsPortsAsTheApiServerDefaultsThem) {
  const Service service = DecodeOne<Service>(Resource::kServices, R"({"metadata":{"name":"a"},
      "spec":{"ports":[{"port":80},{"port":81,"targetPort":0},{"port":82,"targetPort":8082},
                       {"port":83,"targetPort":"web"}]}})");
  ASSERT_THAT(service.ports, SizeIs(4));
  EXPECT_EQ(service.ports[0].target_port, 80);
  EXPECT_EQ(service.ports[1].target_port, 81);
  EXPECT_EQ(service.ports[2].target_port, 8082);
  EXPECT_EQ(service.ports[3].target_port, 0);
  EXPECT_EQ(service.ports[3].target_port_name, "web");
  EXPECT_FALSE(service.publish_not_ready_addresses);
}

TEST(DecodeService, RefusesPortsOutOfRange) {
  for (const char* port : {"0", "65536", "-1", "80.5", "\"80\"", "9223372036854775808"}) {
    const BadObject bad = DecodeBad(
        Resource::kServices,
        absl::StrCat(R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":)", port, "}]}}"));
    EXPECT_THAT(bad.why.message(), HasSubstr("spec.ports[0].port: ")) << port;
  }
}

TEST(DecodeIngress, ReadsDefaultBackendNamedPortsAndSkipsResources) {
  const Ingress ingress = DecodeOne<Ingress>(Resource::kIngresses, R"({"metadata":{"name":"a",
      "deletionTimestamp":"2026-11-30T03:05:49Z"},"spec":{
      "defaultBackend":{"service":{"name":"d","port":{"name":"http"}}},
      "rules":[{"host":"x"},{"http":null},{"http":{"paths":[
        {"backend":{"resource":{"kind":"Bucket","name":"b"}}},
        {"backend":{"service":{"name":"s","port":{"number":8080}}}}]}}]}})");
  EXPECT_EQ(ingress.class_name, std::nullopt);
  EXPECT_EQ(ingress.default_backend, (IngressBackend{"d", 0, "http"}));
  EXPECT_THAT(ingress.paths, ElementsAre(IngressBackend{"s", 8080, ""}));
  EXPECT_TRUE(ingress.deleting);
}

TEST(ContentHash, IgnoresStatusAndMetadataButNotSpecAnnotationsAndDeletion) {
  const auto hash = [](absl::string_view metadata, absl::string_view rest) {
    return DecodeOne<Ingress>(Resource::kIngresses,
                              absl::StrCat(R"({"metadata":{"name":"a")", metadata, "}", rest, "}"))
        .content_hash;
  };
  const uint64_t plain = hash("", R"(,"spec":{"ingressClassName":"x"})");
  EXPECT_EQ(plain, hash("", R"(,"spec":{"ingressClassName":"x"},"status":{"loadBalancer":{}})"));
  EXPECT_EQ(plain, hash(R"(,"resourceVersion":"9","annotations":{"other/x":"y"})",
                        R"(,"spec":{"ingressClassName":"x"})"));
  EXPECT_NE(plain, hash("", R"(,"spec":{"ingressClassName":"y"})"));
  EXPECT_NE(plain, hash(R"(,"annotations":{"oci-native-ingress.oraclecloud.com/policy":"y"})",
                        R"(,"spec":{"ingressClassName":"x"})"));
  EXPECT_NE(plain, hash(R"(,"deletionTimestamp":"2026-11-30T03:05:49Z")",
                        R"(,"spec":{"ingressClassName":"x"})"));
}

TEST(DecodeSlice, ReadsAbsentConditionsAsTheApiDefinesThem) {
  const EndpointSlice slice =
      DecodeOne<EndpointSlice>(Resource::kEndpointSlices, R"({"metadata":{"name":"a"},
      "addressType":"IPv6","ports":null,"endpoints":[{"addresses":["fd00::1"]},
        {"addresses":["fd00::2"],"conditions":{"ready":false}},
        {"addresses":["fd00::3"],"conditions":{"ready":null,"serving":false,"terminating":null},
         "targetRef":null}]})");
  EXPECT_EQ(slice.service, "");
  EXPECT_THAT(slice.ports, IsEmpty());
  ASSERT_THAT(slice.endpoints, SizeIs(3));
  EXPECT_TRUE(slice.endpoints[0].ready);
  EXPECT_TRUE(slice.endpoints[0].serving);
  EXPECT_FALSE(slice.endpoints[0].terminating);
  EXPECT_EQ(slice.endpoints[0].target_kind, "");
  EXPECT_FALSE(slice.endpoints[1].serving) << "absent serving equals ready";
  EXPECT_TRUE(slice.endpoints[2].ready);
  EXPECT_FALSE(slice.endpoints[2].serving);
}

TEST(DecodeSlice, ReadsPortsWithoutNameOrNumber) {
  const EndpointSlice slice = DecodeOne<EndpointSlice>(
      Resource::kEndpointSlices,
      R"({"metadata":{"name":"a"},"ports":[{"port":null},{"name":"x","port":1}],"endpoints":null})");
  ASSERT_THAT(slice.ports, SizeIs(2));
  EXPECT_EQ(slice.ports[0].port, 0);
  EXPECT_EQ(slice.ports[0].name, "");
  EXPECT_EQ(slice.ports[1].port, 1);
}

TEST(DecodeSlice, RefusesEndpointsOfTheWrongType) {
  const BadObject bad =
      DecodeBad(Resource::kEndpointSlices,
                R"({"metadata":{"name":"a"},"endpoints":[{"addresses":["x"]},{"addresses":[7]}]})");
  EXPECT_EQ(bad.why.message(),
            "endpointslices a: endpoints[1].addresses[0]: expected a string, got a number");
}

struct LimitsCase {
  const char* strategy;
  int replicas;
  int max_unavailable;
  int max_surge;
};

TEST(DecodeDeployment, ResolvesLimitsAsKubernetesDoes) {
  const LimitsCase cases[] = {
      {"{}", 10, 2, 3},
      {R"({"rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})", 1, 0, 1},
      {R"({"rollingUpdate":{"maxUnavailable":0,"maxSurge":0}})", 10, 1, 0},
      {R"({"rollingUpdate":{"maxUnavailable":"0%","maxSurge":"0%"}})", 10, 1, 0},
      {R"({"rollingUpdate":{"maxUnavailable":"1%","maxSurge":0}})", 10, 1, 0},
      {R"({"rollingUpdate":{"maxUnavailable":20,"maxSurge":"150%"}})", 4, 4, 6},
      {R"({"rollingUpdate":{"maxUnavailable":2,"maxSurge":3}})", 0, 0, 3},
      {R"({"type":"Recreate"})", 4, 0, 0},
  };
  for (const LimitsCase& each : cases) {
    const Workload deployment =
        DecodeOne<Workload>(Resource::kDeployments,
                            absl::StrCat(R"({"metadata":{"name":"a"},"spec":{"replicas":)",
                                         each.replicas, R"(,"strategy":)", each.strategy, "}}"));
    EXPECT_EQ(deployment.max_unavailable, each.max_unavailable) << each.strategy;
    EXPECT_EQ(deployment.max_surge, each.max_surge) << each.strategy;
    EXPECT_EQ(deployment.recreate, absl::StrContains(each.strategy, "Recreate"));
  }
}

TEST(DecodeDeployment, RefusesLimitsThatAreNeitherNumberNorPercentage) {
  for (const char* limit : {"\"25\"", "\"%\"", "\"-5%\"", "\"1e3%\"", "-1", "1.5", "true",
                            "\"99999999999%\"", "4294967296"}) {
    const BadObject bad = DecodeBad(
        Resource::kDeployments,
        absl::StrCat(R"({"metadata":{"name":"a"},"spec":{"strategy":{"rollingUpdate":{"maxSurge":)",
                     limit, "}}}}"));
    EXPECT_THAT(bad.why.message(), HasSubstr("spec.strategy.rollingUpdate.maxSurge: ")) << limit;
  }
}

TEST(DecodeStatefulSet, AllowsOneUnavailablePodUnlessToldMore) {
  const auto decode = [](absl::string_view strategy) {
    return DecodeOne<Workload>(
        Resource::kStatefulSets,
        absl::StrCat(R"({"metadata":{"name":"a"},"spec":{"replicas":10,"updateStrategy":)",
                     strategy, "}}"));
  };
  EXPECT_EQ(decode("null").kind, "StatefulSet");
  EXPECT_EQ(decode("null").max_unavailable, 1);
  EXPECT_EQ(decode(R"({"type":"OnDelete"})").max_unavailable, 1);
  EXPECT_EQ(decode(R"({"rollingUpdate":{"maxUnavailable":"5%"}})").max_unavailable, 1);
  EXPECT_EQ(decode(R"({"rollingUpdate":{"maxUnavailable":"35%"}})").max_unavailable, 3);
  EXPECT_EQ(decode(R"({"rollingUpdate":{"maxUnavailable":4}})").max_surge, 0);
}

TEST(DecodeWorkload, ReadsWhatARolloutDependsOn) {
  const auto deployment =
      DecodeOne<Workload>(Resource::kDeployments,
                          R"({"metadata":{"name":"a"},"spec":{"replicas":7,"minReadySeconds":12,
          "strategy":{"rollingUpdate":{"maxUnavailable":"30%","maxSurge":2}},
          "template":{"spec":{"terminationGracePeriodSeconds":75,
                              "readinessGates":[{"conditionType":"example.com/gate"}]}}}})");
  EXPECT_EQ(deployment.written_max_unavailable, IntOrPercent::Percent(30));
  EXPECT_EQ(deployment.written_max_surge, IntOrPercent::Count(2));
  EXPECT_EQ(deployment.grace, absl::Seconds(75));
  EXPECT_EQ(deployment.min_ready, absl::Seconds(12));
  EXPECT_THAT(deployment.readiness_gates, ElementsAre("example.com/gate"));
  const auto set =
      DecodeOne<Workload>(Resource::kStatefulSets,
                          R"({"metadata":{"name":"a"},"spec":{"updateStrategy":{"type":"OnDelete",
          "rollingUpdate":{"partition":3}}}})");
  EXPECT_TRUE(set.on_delete);
  EXPECT_EQ(set.partition, 3);
  EXPECT_EQ(set.grace, absl::Seconds(30));
}

TEST(DecodePod, ReadsWhatMetadataCannotShow) {
  const Recorded recorded = ReadRecorded("pod-status-apply");
  absl::StatusOr<PodDetails> pod = DecodePod(recorded.body);
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_EQ(pod->key, (ObjectKey{"fx", "shop-0"}));
  EXPECT_EQ(pod->uid, "38e5535f-43c6-4d8e-947b-e614d52332c4");
  EXPECT_THAT(pod->readiness_gates,
              ElementsAre("oci-native-ingress.oraclecloud.com/load-balancer-ready"));
  EXPECT_FALSE(pod->disruption_target);

  pod = DecodePod(R"({"metadata":{"name":"p"},"status":{"phase":"Failed","podIP":"10.0.0.1",
      "conditions":[{"type":"DisruptionTarget","status":"True"}]}})");
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_EQ(pod->phase, "Failed");
  EXPECT_THAT(pod->pod_ips, ElementsAre("10.0.0.1"));
  EXPECT_TRUE(pod->disruption_target);

  pod = DecodePod(R"({"metadata":{"name":"p"}})");
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_THAT(pod->pod_ips, IsEmpty()) << "a Pod without IP";
}

TEST(DecodePod, NamesTheObjectAndTheField) {
  EXPECT_EQ(DecodePod(R"({"metadata":{"name":"p","namespace":"n"},"status":{"phase":1}})").status(),
            absl::InvalidArgumentError("pod n/p: status.phase: expected a string, got a number"));
}

TEST(DecodeEndpoints, ReadsRecordedAddressesWithTheirPods) {
  const absl::StatusOr<Endpoints> endpoints = DecodeEndpoints(ReadRecorded("endpoints-get").body);
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_EQ(endpoints->key, (ObjectKey{"fx", "shop"}));
  EXPECT_FALSE(endpoints->truncated);
  ASSERT_THAT(endpoints->subsets, SizeIs(1));
  ASSERT_THAT(endpoints->subsets[0].addresses, SizeIs(3));
  EXPECT_EQ(endpoints->subsets[0].addresses[1].ip, "10.244.9.2");
  EXPECT_EQ(endpoints->subsets[0].addresses[1].target_kind, "Pod");
  EXPECT_EQ(endpoints->subsets[0].addresses[1].target_uid, "2dd81367-34df-4367-9456-a0594481a6fe");
  ASSERT_THAT(endpoints->subsets[0].ports, SizeIs(1));
  EXPECT_EQ(endpoints->subsets[0].ports[0].port, 8080);
}

TEST(DecodeEndpoints, ReadsNotReadyAddressesTruncationAndNoSubsets) {
  absl::StatusOr<Endpoints> endpoints = DecodeEndpoints(R"({"metadata":{"name":"e","annotations":{
      "endpoints.kubernetes.io/over-capacity":"truncated"}},"subsets":[{"addresses":null,
      "notReadyAddresses":[{"ip":"10.0.0.1"}],"ports":[{"port":1}]}]})");
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_TRUE(endpoints->truncated);
  EXPECT_THAT(endpoints->subsets[0].addresses, SizeIs(1));
  endpoints = DecodeEndpoints(R"({"metadata":{"name":"e"},"subsets":null})");
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_THAT(endpoints->subsets, IsEmpty());
}

TEST(DecodeLease, ReadsARecordedOne) {
  const absl::StatusOr<Lease> lease = DecodeLease(ReadRecorded("lease-update").body);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->key, (ObjectKey{"fx", "oci-drain"}));
  EXPECT_EQ(lease->resource_version, "889");
  EXPECT_EQ(lease->holder, "a");
  EXPECT_EQ(lease->duration, absl::Seconds(15));
  EXPECT_EQ(absl::FormatTime(lease->renewed, absl::UTCTimeZone()), "2026-11-30T03:00:02+00:00");
  EXPECT_EQ(lease->transitions, 0);
}

TEST(DecodeLease, NeedsNothing) {
  const absl::StatusOr<Lease> lease = DecodeLease(R"({"metadata":{"name":"l"}})");
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, absl::ZeroDuration());
  EXPECT_EQ(lease->renewed, absl::InfiniteFuture());
  EXPECT_FALSE(DecodeLease(R"({"metadata":{"name":"l"},"spec":{"leaseTransitions":-1}})").ok());
}

TEST(DecodeConfigMap, ReadsDataAndVersion) {
  const absl::StatusOr<ConfigMap> config_map = DecodeConfigMap(
      R"({"metadata":{"name":"c","namespace":"n","resourceVersion":"5"},"data":{"a":"b"}})");
  ASSERT_TRUE(config_map.ok()) << config_map.status();
  EXPECT_EQ(config_map->key, (ObjectKey{"n", "c"}));
  EXPECT_EQ(config_map->resource_version, "5");
  EXPECT_THAT(config_map->data, ElementsAre(Pair("a", "b")));
  EXPECT_FALSE(DecodeConfigMap(R"({"metadata":{"name":"c"},"data":{"a":1}})").ok());
}

}  // namespace
}  // namespace kube
