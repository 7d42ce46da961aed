#include "kube/decoder.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/decode_for_test.h"
#include "kube/metadata_decoder.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

ListPage DecodeRecordedPage(Resource resource, const std::string& name) {
  absl::StatusOr<ListPage> page = DecodeListPage(resource, ReadRecorded(name).body);
  EXPECT_TRUE(page.ok()) << page.status();
  return page.ok() ? *std::move(page) : ListPage();
}

TEST(DecodeListPage, ReadsARecordedService) {
  const ListPage page = DecodeRecordedPage(Resource::kServices, "service-list");
  EXPECT_EQ(page.resource_version, "884");
  EXPECT_EQ(page.continue_token, "");
  ASSERT_THAT(page.objects, SizeIs(1));
  const Service& service = std::get<Service>(page.objects[0]);
  EXPECT_EQ(service.key, (ObjectKey{"fx", "shop"}));
  EXPECT_EQ(service.uid, "19fca740-edc7-4c4e-9fbc-7ac4b6982a2f");
  EXPECT_THAT(service.annotations,
              ElementsAre(Pair("oci-native-ingress.oraclecloud.com/backend-draining", "true")));
  ASSERT_THAT(service.ports, SizeIs(1));
  EXPECT_EQ(service.ports[0].name, "http");
  EXPECT_EQ(service.ports[0].port, 80);
  EXPECT_EQ(service.ports[0].target_port, 0);
  EXPECT_EQ(service.ports[0].target_port_name, "http");
  EXPECT_THAT(service.selector, ElementsAre(Pair("app", "shop")));
  EXPECT_TRUE(service.publish_not_ready_addresses);
}

TEST(DecodeListPage, ReadsRecordedIngressesAndClasses) {
  const ListPage ingresses = DecodeRecordedPage(Resource::kIngresses, "ingress-list");
  ASSERT_THAT(ingresses.objects, SizeIs(1));
  const Ingress& ingress = std::get<Ingress>(ingresses.objects[0]);
  EXPECT_EQ(ingress.key, (ObjectKey{"default", "web"}));
  EXPECT_EQ(ingress.class_name, "oci");
  EXPECT_EQ(ingress.default_backend, std::nullopt);
  EXPECT_THAT(ingress.paths, ElementsAre(IngressBackend{"web", 80, ""}));
  EXPECT_FALSE(ingress.deleting);

  const ListPage classes = DecodeRecordedPage(Resource::kIngressClasses, "ingressclass-list");
  ASSERT_THAT(classes.objects, SizeIs(1));
  const IngressClass& ingress_class = std::get<IngressClass>(classes.objects[0]);
  EXPECT_EQ(ingress_class.name, "oci");
  EXPECT_EQ(ingress_class.controller, "oci.oraclecloud.com/native-ingress-controller");
  EXPECT_FALSE(ingress_class.is_default);
  EXPECT_THAT(
      ingress_class.annotations,
      ElementsAre(Pair("oci-native-ingress.oraclecloud.com/id", "ocid1.loadbalancer.oc1.iad.aaaa"),
                  Pair("oci-native-ingress.oraclecloud.com/implicit-default-tags", "{}")));
}

TEST(DecodeListPage, ReadsARecordedSliceWithATerminatingEndpoint) {
  const ListPage page = DecodeRecordedPage(Resource::kEndpointSlices, "endpointslices-list");
  ASSERT_THAT(page.objects, SizeIs(1));
  const EndpointSlice& slice = std::get<EndpointSlice>(page.objects[0]);
  EXPECT_EQ(slice.key, (ObjectKey{"fx", "shop-6bfdt"}));
  EXPECT_EQ(slice.service, "shop");
  EXPECT_EQ(slice.address_type, "IPv4");
  ASSERT_THAT(slice.ports, SizeIs(1));
  EXPECT_EQ(slice.ports[0].name, "http");
  EXPECT_EQ(slice.ports[0].port, 8080);
  ASSERT_THAT(slice.endpoints, SizeIs(3));
  EXPECT_FALSE(slice.endpoints[0].terminating);
  const Endpoint& terminating = slice.endpoints[1];
  EXPECT_THAT(terminating.addresses, ElementsAre("10.244.9.2"));
  EXPECT_TRUE(terminating.ready);
  EXPECT_TRUE(terminating.serving);
  EXPECT_TRUE(terminating.terminating);
  EXPECT_EQ(terminating.target_kind, "Pod");
  EXPECT_EQ(terminating.target_namespace, "fx");
  EXPECT_EQ(terminating.target_name, "shop-1");
  EXPECT_EQ(terminating.target_uid, "2dd81367-34df-4367-9456-a0594481a6fe");
  EXPECT_FALSE(slice.endpoints[2].serving);
}

TEST(DecodeListPage, ReadsRecordedPodMetadataWithTheMomentOfSigkill) {
  const ListPage page = DecodeRecordedPage(Resource::kPods, "pods-list-metadata");
  EXPECT_EQ(page.resource_version, "884");
  ASSERT_THAT(page.objects, SizeIs(3));
  const PodMetadata& live = std::get<PodMetadata>(page.objects[0]);
  EXPECT_EQ(live.key, (ObjectKey{"fx", "shop-0"}));
  EXPECT_EQ(live.uid, "38e5535f-43c6-4d8e-947b-e614d52332c4");
  EXPECT_EQ(live.resource_version, "872");
  EXPECT_FALSE(live.deleted());
  EXPECT_EQ(live.controller, std::nullopt);
  const PodMetadata& deleted = std::get<PodMetadata>(page.objects[1]);
  EXPECT_TRUE(deleted.deleted());
  EXPECT_EQ(absl::FormatTime(deleted.deletion_timestamp, absl::UTCTimeZone()),
            "2026-11-30T03:05:49+00:00");
  EXPECT_EQ(deleted.deletion_grace, absl::Seconds(60));
}

TEST(DecodeListPage, ReadsThePagesOfFullPodsToo) {
  const ListPage page = DecodeRecordedPage(Resource::kPods, "pods-list-full");
  EXPECT_EQ(page.continue_token,
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6ODg0LCJzdGFydCI6Ii9zaG9wLTFcdTAwMDAifQ");
  EXPECT_THAT(page.objects, SizeIs(2));
}

TEST(DecodeListPage, ReadsRecordedWorkloads) {
  const ListPage page = DecodeRecordedPage(Resource::kDeployments, "deployment-list");
  ASSERT_THAT(page.objects, SizeIs(1));
  const Workload& deployment = std::get<Workload>(page.objects[0]);
  EXPECT_EQ(deployment.kind, "Deployment");
  EXPECT_EQ(deployment.key, (ObjectKey{"default", "web"}));
  EXPECT_EQ(deployment.replicas, 10);
  EXPECT_EQ(deployment.max_unavailable, 0);
  EXPECT_EQ(deployment.max_surge, 3);

  const ListPage sets = DecodeRecordedPage(Resource::kReplicaSets, "replicaset-list");
  ASSERT_THAT(sets.objects, SizeIs(2));
  const ReplicaSetMetadata& set = std::get<ReplicaSetMetadata>(sets.objects[0]);
  EXPECT_EQ(set.key, (ObjectKey{"default", "web-586f58ffdb"}));
  ASSERT_TRUE(set.controller.has_value());
  EXPECT_EQ(set.controller->kind, "Deployment");
  EXPECT_EQ(set.controller->name, "web");
  EXPECT_EQ(set.controller->uid, "7bac05bb-b991-4c74-a85a-ac292e80b70f");
}

TEST(DecodeListPage, ReadsNullItemsAsAnEmptyList) {
  for (const Resource resource : {Resource::kServices, Resource::kPods}) {
    EXPECT_TRUE(DecodeListPage(resource, List("[]")).ok());
  }
  EXPECT_TRUE(DecodeListPage(Resource::kServices, List("null")).ok());
  EXPECT_TRUE(DecodeListPage(Resource::kPods, List("null")).ok());
}

TEST(DecodeListPage, RefusesADocumentThatOnlyLooksEmpty) {
  for (const Resource resource : {Resource::kServices, Resource::kPods}) {
    for (const char* text :
         {"", "null", "[]", "{}", "\"x\"", R"({"items":[]})", R"({"items":[],"metadata":7})",
          R"({"metadata":{"resourceVersion":"7"}})", "<html>no such page</html>",
          R"({"metadata":{"resourceVersion":"7"},"items":{}})",
          R"({"metadata":{"resourceVersion":"7"},"items":"x"})",
          R"({"metadata":{"resourceVersion":7},"items":[]})",
          R"({"metadata":{"resourceVersion":"7","continue":8},"items":[]})",
          R"({"metadata":{"resourceVersion":"7"},"items":[]}x)"}) {
      const absl::StatusOr<ListPage> page = DecodeListPage(resource, text);
      EXPECT_EQ(page.status().code(), absl::StatusCode::kInvalidArgument) << text;
      EXPECT_THAT(page.status().message(),
                  HasSubstr(absl::StrCat("list of ", ResourceName(resource))));
    }
  }
}

TEST(DecodeListPage, KeepsTheGoodObjectsBesideABadOne) {
  const std::string items = R"([{"metadata":{"name":"a"}},{"metadata":{"name":7}},5,
      {"metadata":{"namespace":"n","name":"b","uid":{}}},{"spec":{}},{"metadata":{"name":"c"}}])";
  for (const Resource resource :
       {Resource::kServices, Resource::kIngresses, Resource::kEndpointSlices, Resource::kPods,
        Resource::kDeployments, Resource::kStatefulSets, Resource::kReplicaSets}) {
    const absl::StatusOr<ListPage> page = DecodeListPage(resource, List(items));
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_THAT(page->objects, SizeIs(2)) << ResourceName(resource);
    ASSERT_THAT(page->bad, SizeIs(4)) << ResourceName(resource);
    EXPECT_EQ(page->bad[2].key, (ObjectKey{"n", "b"}));
    EXPECT_THAT(page->bad[2].why.message(),
                HasSubstr(absl::StrCat(ResourceName(resource), " n/b: metadata.uid")));
  }
}

TEST(DecodeListPage, RefusesDeepNestingInsteadOfRecursing) {
  const std::string deep(100000, '[');
  for (const Resource resource : {Resource::kServices, Resource::kPods}) {
    const absl::StatusOr<ListPage> page = DecodeListPage(resource, absl::StrCat(R"({"x":)", deep));
    EXPECT_THAT(page.status().message(), HasSubstr("nested deeper")) << ResourceName(resource);
  }
}

TEST(DecodeListPage, RefusesAnAnnotationOfTheWrongTypeForThatObjectOnly) {
  const BadObject bad = DecodeBad(Resource::kServices, R"({"metadata":{"name":"a","namespace":"n",
      "annotations":{"oci-native-ingress.oraclecloud.com/backend-draining":true}}})");
  EXPECT_EQ(bad.key, (ObjectKey{"n", "a"}));
  EXPECT_EQ(bad.why.message(),
            "services n/a: metadata.annotations.oci-native-ingress.oraclecloud.com/"
            "backend-draining: expected a string, got a boolean");
  DecodeOne<Service>(Resource::kServices,
                     R"({"metadata":{"name":"a","annotations":{"other.example.com/x":true}}})");
}

TEST(DecodeListPage, ReadsTheDefaultClassAnnotation) {
  const auto decode = [](absl::string_view value) {
    return DecodeOne<IngressClass>(
        Resource::kIngressClasses,
        absl::StrCat(
            R"({"metadata":{"name":"a","annotations":{"ingressclass.kubernetes.io/is-default-class":")",
            value, R"("}}})"));
  };
  EXPECT_TRUE(decode("true").is_default);
  EXPECT_FALSE(decode("True").is_default);
}

TEST(DecodePods, ReadsTheControllingOwnerInListAndWatchAlike) {
  const std::string pod = R"({"metadata":{"name":"p","namespace":"n","uid":"u",
      "resourceVersion":"3","ownerReferences":[{"kind":"Other","name":"o","uid":"1"},
        {"kind":"ReplicaSet","name":"r","uid":"2","controller":true,"blockOwnerDeletion":true},
        {"kind":"Third","name":"t","uid":"3","controller":false}],
      "deletionTimestamp":"2026-11-30T03:05:49Z","deletionGracePeriodSeconds":30,
      "labels":{"name":"not-this"},"managedFields":[{"fieldsV1":{"f:metadata":{"name":{}}}}]},
      "spec":{"metadata":{"name":"nor-this"}}})";
  const PodMetadata listed = DecodeOne<PodMetadata>(Resource::kPods, pod);
  const absl::StatusOr<WatchEvent> event =
      DecodeWatchEvent(Resource::kPods, absl::StrCat(R"({"type":"ADDED","object":)", pod, "}"));
  ASSERT_TRUE(event.ok()) << event.status();
  const PodMetadata& watched = std::get<PodMetadata>(*event->object);
  for (const PodMetadata* each : {&listed, &watched}) {
    EXPECT_EQ(each->key, (ObjectKey{"n", "p"}));
    EXPECT_EQ(each->uid, "u");
    EXPECT_EQ(each->resource_version, "3");
    EXPECT_EQ(each->deletion_timestamp,
              absl::FromCivil(absl::CivilSecond(2026, 11, 30, 3, 5, 49), absl::UTCTimeZone()));
    EXPECT_EQ(each->deletion_grace, absl::Seconds(30));
    ASSERT_TRUE(each->controller.has_value());
    EXPECT_EQ(each->controller->kind, "ReplicaSet");
    EXPECT_EQ(each->controller->name, "r");
    EXPECT_EQ(each->controller->uid, "2");
  }
}

TEST(DecodePods, RefusesWrongTypesInListAndWatchAlike) {
  for (const char* metadata :
       {R"({"name":["p"]})", R"({"name":"p","uid":5})", R"({"name":"p","ownerReferences":{}})",
        R"({"name":"p","ownerReferences":[{"controller":true,"kind":1}]})", R"("text")",
        R"({"name":"p","deletionTimestamp":"tomorrow"})", R"({"name":"p","deletionTimestamp":5})",
        R"({"name":"p","deletionGracePeriodSeconds":"30"})",
        R"({"name":"p","deletionGracePeriodSeconds":-1})",
        R"({"name":"p","deletionGracePeriodSeconds":3.5})",
        R"({"name":"p","deletionGracePeriodSeconds":99999999999999})", "{}", "null"}) {
    const std::string pod = absl::StrCat(R"({"metadata":)", metadata, "}");
    EXPECT_THAT(DecodeBad(Resource::kPods, pod).why.message(), HasSubstr("metadata")) << metadata;
    const absl::StatusOr<WatchEvent> event =
        DecodeWatchEvent(Resource::kPods, absl::StrCat(R"({"type":"ADDED","object":)", pod, "}"));
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_FALSE(event->error.ok()) << metadata;
    EXPECT_FALSE(event->object.has_value()) << metadata;
  }
}

TEST(DecodePods, RefusesCharactersThatNoNameHas) {
  for (const char* name : {"p\xff", "p\xc3\xa9", "p\\u0000", "p\\u000a"}) {
    const BadObject bad =
        DecodeBad(Resource::kPods, absl::StrCat("{\"metadata\":{\"name\":\"", name, "\"}}"));
    EXPECT_THAT(bad.why.message(), HasSubstr("metadata.name: ")) << name;
  }
  EXPECT_FALSE(DecodeListPage(Resource::kPods, List("[]") + std::string("\0{", 2)).ok());
}

TEST(DecodePods, ReadsNullFieldsAsAbsent) {
  const PodMetadata pod = DecodeOne<PodMetadata>(Resource::kPods, R"({"metadata":{"name":"p",
      "deletionTimestamp":null,"deletionGracePeriodSeconds":null,"ownerReferences":null}})");
  EXPECT_FALSE(pod.deleted());
  EXPECT_EQ(pod.controller, std::nullopt);
}

TEST(DecodeWatchEvent, ReadsTheRecordedPodWatchAcrossADeletion) {
  const Recorded recorded = ReadRecorded("pods-watch-metadata");
  std::vector<WatchEvent> events;
  for (const std::string& line : recorded.lines) {
    absl::StatusOr<WatchEvent> event = DecodeWatchEvent(Resource::kPods, line);
    ASSERT_TRUE(event.ok()) << event.status();
    events.push_back(*std::move(event));
  }
  ASSERT_THAT(events, SizeIs(7));
  EXPECT_EQ(events[0].type, WatchEventType::kModified);
  EXPECT_EQ(events[0].resource_version, "883");
  EXPECT_TRUE(std::get<PodMetadata>(*events[0].object).deleted());
  EXPECT_EQ(events[3].type, WatchEventType::kDeleted);
  EXPECT_EQ(events[3].key, (ObjectKey{"fx", "shop-1"}));
  EXPECT_EQ(events[3].uid, "2dd81367-34df-4367-9456-a0594481a6fe");
  EXPECT_EQ(events[3].resource_version, "892");
  EXPECT_EQ(events[6].type, WatchEventType::kBookmark);
  EXPECT_EQ(events[6].resource_version, "919");
}

TEST(DecodeWatchEvent, SaysThatTheRecordedExpiryNeedsANewList) {
  const absl::StatusOr<WatchEvent> event =
      DecodeWatchEvent(Resource::kPods, ReadRecorded("watch-expired").lines[0]);
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, WatchEventType::kError);
  EXPECT_EQ(event->error.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(event->error.message(), HasSubstr("too old resource version: 1 (306)"));
}

TEST(ContinueTokenAhead, IsThatOfThePageWhereItsMetadataComesFirst) {
  const std::string head =
      R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":"n"},)";
  EXPECT_EQ(ContinueTokenAhead(head + R"("items":[{"metadata":{"name":"a"}}]})"), "n");
  EXPECT_EQ(ContinueTokenAhead(head + R"("items":[ and no JSON at all)"), "n") << "not looked at";
  EXPECT_EQ(ContinueTokenAhead(R"({"metadata":{"continue":""},"items":[]})"), "");
  EXPECT_EQ(ContinueTokenAhead(R"({"items":[],"metadata":{"continue":"late"}})"), "");
  EXPECT_EQ(ContinueTokenAhead(R"({"items":[{"metadata":{"continue":"an object's"}}]})"), "");
  for (const char* other : {"", "{", "[]", "7", R"({"metadata":{"continue":7}})"}) {
    EXPECT_EQ(ContinueTokenAhead(other), "") << other;
  }
}

TEST(DecodeWatchEvent, RefusesWhatIsNoEvent) {
  for (const char* line :
       {"", "{", "[]", "{}", R"({"type":"ADDED"})", R"({"type":"RENAMED","object":{}})",
        R"({"type":"ADDED","object":[]})", R"({"type":7,"object":{}})",
        R"({"type":"DELETED","object":{"metadata":{"name":7}}})"}) {
    EXPECT_EQ(DecodeWatchEvent(Resource::kPods, line).status().code(),
              absl::StatusCode::kInvalidArgument)
        << line;
  }
}

}  // namespace
}  // namespace kube
