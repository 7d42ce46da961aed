// What KubeApi promises, tried on the fake in memory, on the same fake through HTTP
// and the REST client, and on the recorded answers of a real API server.
#include <map>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/decoder.h"
#include "kube/watch_decoder.h"
#include "sim/contract.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

template <typename Door>
struct NamedDoor {
  const char* name;
  std::unique_ptr<Door> (*make)();
};

template <typename Door>
class Contract : public ::testing::TestWithParam<NamedDoor<Door>> {
 protected:
  template <typename T>
  std::map<std::string, T> List(kube::Resource resource) {
    const auto text = door_->api().List({.resource = resource, .ns = "fx"});
    EXPECT_TRUE(text.ok()) << text.status();
    const auto page = kube::DecodeListPage(resource, text.value_or(""));
    EXPECT_TRUE(page.ok()) << page.status();
    std::map<std::string, T> found;
    if (!page.ok()) return found;
    EXPECT_TRUE(page->bad.empty());
    for (const kube::Object& object : page->objects) {
      const T& value = std::get<T>(object);
      found.emplace(value.key.name, value);
    }
    return found;
  }

  // Of Pods, from `version` on, until `enough` says so; the status of the stream's
  // error event if there is one.
  absl::StatusOr<std::vector<kube::WatchEvent>> Watch(
      const std::string& version, const std::function<bool(const kube::WatchEvent&)>& enough) {
    std::vector<kube::WatchEvent> events;
    absl::Status error;
    kube::WatchDecoder decoder(kube::Resource::kPods, 1 << 20);
    const absl::Status end = door_->api().Watch(
        {.resource = kube::Resource::kPods, .ns = "fx", .resource_version = version},
        [&](absl::string_view bytes) {
          return decoder.Feed(bytes, [&](kube::WatchEvent event) {
            if (event.type == kube::WatchEventType::kError) error = event.error;
            events.push_back(std::move(event));
            return enough(events.back()) ? absl::CancelledError("enough") : absl::OkStatus();
          });
        },
        std::make_shared<http::Cancellation>());
    if (!error.ok()) return error;
    EXPECT_TRUE(end.ok() || absl::IsCancelled(end)) << end;
    return events;
  }

  static kube::PodCondition ReadyCondition(const std::string& uid) {
    kube::PodCondition condition;
    condition.pod = {"fx", "shop-0"};
    condition.uid = uid;
    condition.type = "oci-native-ingress.oraclecloud.com/load-balancer-ready";
    condition.status = true;
    condition.reason = "Registered";
    condition.message = "in every backend set";
    condition.last_transition = absl::FromUnixSeconds(1'796'007'884);
    return condition;
  }

  static kube::Event SomeEvent() {
    kube::Event event;
    event.key = {"fx", "shop.17f2a"};
    event.regarding = {"v1", "Service", {"fx", "shop"}, ""};
    event.type = "Normal";
    event.reason = "BackendDraining";
    event.note = "drain requested";
    event.event_time = absl::FromUnixSeconds(1'796'007'600);
    return event;
  }

  const std::unique_ptr<Door> door_ = this->GetParam().make();
};

using KubeContract = Contract<KubeDoor>;

TEST_P(KubeContract, ListsPodsAndSaysWhichTerminates) {
  const auto pods = List<kube::PodMetadata>(kube::Resource::kPods);
  EXPECT_THAT(pods, ElementsAre(Key("shop-0"), Key("shop-1"), Key("shop-2")));
  for (const auto& [name, pod] : pods) {
    EXPECT_EQ(pod.deleted(), name == "shop-1") << name;
    EXPECT_FALSE(pod.uid.empty() || pod.resource_version.empty()) << name;
  }
  EXPECT_EQ(pods.at("shop-1").deletion_grace, absl::Seconds(60));
}

TEST_P(KubeContract, ListsTheServiceWithItsOptIn) {
  const auto services = List<kube::Service>(kube::Resource::kServices);
  ASSERT_THAT(services, ElementsAre(Key("shop")));
  const kube::Service& shop = services.at("shop");
  EXPECT_TRUE(shop.publish_not_ready_addresses);
  EXPECT_THAT(
      shop.annotations,
      ElementsAre(testing::Pair("oci-native-ingress.oraclecloud.com/backend-draining", "true")));
}

TEST_P(KubeContract, ListsEndpointsWithTheirConditions) {
  const auto slices = List<kube::EndpointSlice>(kube::Resource::kEndpointSlices);
  ASSERT_EQ(slices.size(), 1u);
  const kube::EndpointSlice& slice = slices.begin()->second;
  EXPECT_EQ(slice.service, "shop");
  ASSERT_EQ(slice.ports.size(), 1u);
  EXPECT_EQ(slice.ports[0].port, 8080);
  ASSERT_EQ(slice.endpoints.size(), 3u);
  EXPECT_FALSE(slice.endpoints[0].terminating);
  EXPECT_TRUE(slice.endpoints[1].terminating && slice.endpoints[1].serving);
  EXPECT_FALSE(slice.endpoints[2].serving);
  EXPECT_THAT(slice.endpoints[1].addresses, ElementsAre("10.244.9.2"));
  EXPECT_EQ(slice.endpoints[1].target_name, "shop-1");
}

TEST_P(KubeContract, GetsTheEndpointsThatTheIngressControllerReads) {
  const auto endpoints = door_->api().GetEndpoints({"fx", "shop"});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  ASSERT_EQ(endpoints->subsets.size(), 1u);
  ASSERT_EQ(endpoints->subsets[0].addresses.size(), 3u);
  EXPECT_EQ(endpoints->subsets[0].addresses[2].ip, "10.244.9.3");
  EXPECT_EQ(endpoints->subsets[0].addresses[2].target_name, "shop-2");
  EXPECT_FALSE(endpoints->truncated);
}

TEST_P(KubeContract, AMissingPodIsNotFound) {
  const absl::Status status = door_->api().GetPod({"fx", "none"}).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("\"none\" not found"));
}

TEST_P(KubeContract, WhatIsForbiddenNamesTheRight) {
  door_->ForbidPods();
  const absl::Status status =
      door_->api().List({.resource = kube::Resource::kPods, .ns = "fx"}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("cannot list resource \"pods\""));
}

TEST_P(KubeContract, ATokenThatContinuesNothingIsInvalid) {
  const absl::Status status = door_->api()
                                  .List({.resource = kube::Resource::kPods,
                                         .ns = "fx",
                                         .limit = 1,
                                         .continue_token = "bm90LWEtdG9rZW4"})
                                  .status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST_P(KubeContract, AWatchShowsADeletionWithItsGrace) {
  const auto events = Watch(door_->VersionBeforeDeletion(), [](const kube::WatchEvent& event) {
    return event.key.name == "shop-1";
  });
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_FALSE(events->empty());
  const kube::WatchEvent& last = events->back();
  EXPECT_EQ(last.type, kube::WatchEventType::kModified);
  ASSERT_TRUE(last.object.has_value());
  const auto& pod = std::get<kube::PodMetadata>(*last.object);
  EXPECT_TRUE(pod.deleted());
  EXPECT_EQ(pod.deletion_grace, absl::Seconds(60));
}

TEST_P(KubeContract, AWatchFromAForgottenVersionIsOutOfRange) {
  const auto events = Watch("1", [](const kube::WatchEvent&) { return false; });
  EXPECT_TRUE(absl::IsOutOfRange(events.status())) << events.status();
}

TEST_P(KubeContract, AConditionIsAppliedToThePodOfThatUidAndNoOther) {
  const auto pods = List<kube::PodMetadata>(kube::Resource::kPods);
  EXPECT_EQ(door_->api().ApplyPodCondition(ReadyCondition(pods.at("shop-0").uid)),
            absl::OkStatus());
  const absl::Status refused =
      door_->api().ApplyPodCondition(ReadyCondition("00000000-0000-0000-0000-000000000000"));
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("field is immutable"));
}

TEST_P(KubeContract, AnEventIsCreatedOnceAndThenCounted) {
  EXPECT_TRUE(door_->api().CreateEvent(SomeEvent()).ok());
  const absl::Status again = door_->api().CreateEvent(SomeEvent());
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  const absl::Status counted =
      door_->api().PatchEventSeries({"fx", "shop.17f2a"}, 2, absl::FromUnixSeconds(1'796'007'700));
  EXPECT_TRUE(counted.ok()) << counted;
}

std::string NameOf(const ::testing::TestParamInfo<NamedDoor<KubeDoor>>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Doors, KubeContract,
                         ::testing::Values(NamedDoor<KubeDoor>{"InMemory",
                                                               []() -> std::unique_ptr<KubeDoor> {
                                                                 return MakeInMemoryKubeDoor();
                                                               }},
                                           NamedDoor<KubeDoor>{"Http",
                                                               []() -> std::unique_ptr<KubeDoor> {
                                                                 return MakeHttpKubeDoor();
                                                               }},
                                           NamedDoor<KubeDoor>{"Recorded", MakeRecordedKubeDoor}),
                         NameOf);

// What changes the world, or needs one that misbehaves: no recording can.
using KubeWorldContract = Contract<KubeWorldDoor>;

TEST_P(KubeWorldContract, AConfigMapIsWrittenUnderTheVersionThatWasRead) {
  kube::ConfigMap ledger;
  ledger.key = {"fx", "ledger"};
  ledger.data = {{"ledger", "{\"version\":1}"}};
  EXPECT_TRUE(absl::IsNotFound(door_->api().GetConfigMap(ledger.key).status()));
  const auto created = door_->api().PutConfigMap(ledger);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_FALSE(created->resource_version.empty());
  // Somebody else was first.
  EXPECT_TRUE(absl::IsAborted(door_->api().PutConfigMap(ledger).status()));

  kube::ConfigMap next = *created;
  next.data["ledger"] = "second";
  const auto updated = door_->api().PutConfigMap(next);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_NE(updated->resource_version, created->resource_version);
  EXPECT_TRUE(absl::IsAborted(door_->api().PutConfigMap(next).status())) << "a stale version";
  EXPECT_EQ(door_->api().GetConfigMap(ledger.key)->data, next.data);

  next.key.name = "gone";
  EXPECT_TRUE(absl::IsAborted(door_->api().PutConfigMap(next).status()))
      << "what was deleted is read again";
}

TEST_P(KubeWorldContract, GetsWhatMetadataCannotShowOfAPod) {
  const auto pod = door_->api().GetPod({"fx", "shop-1"});
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_THAT(pod->pod_ips, ElementsAre("10.244.9.2"));
  EXPECT_EQ(pod->phase, "Running");
  EXPECT_EQ(pod->deletion_grace, absl::Seconds(60));
}

TEST_P(KubeWorldContract, ALabelIsTakenFromThePodOfThatUidAndNoOther) {
  const auto pods = List<kube::PodMetadata>(kube::Resource::kPods);
  const std::string uid = pods.at("shop-0").uid;
  const auto remove = [&](const std::string& name, const std::string& of) {
    return door_->api().RemovePodLabel({"fx", name}, of, "app");
  };
  EXPECT_TRUE(absl::IsAborted(remove("shop-0", "another")));
  EXPECT_TRUE(absl::IsNotFound(remove("none", uid)));
  EXPECT_TRUE(remove("shop-0", uid).ok());
  const std::string version =
      List<kube::PodMetadata>(kube::Resource::kPods).at("shop-0").resource_version;
  EXPECT_NE(version, pods.at("shop-0").resource_version);
  EXPECT_TRUE(remove("shop-0", uid).ok()) << "it has none any more";
}

TEST_P(KubeWorldContract, ANeighboursConditionIsLeftToIt) {
  const auto pod = door_->api().GetPod({"fx", "shop-0"});
  ASSERT_TRUE(pod.ok()) << pod.status();
  kube::PodCondition condition = ReadyCondition(pod->uid);
  door_->With([](FakeApiServer& server) {
    const auto applied = server.Handle(
        {.method = "PATCH",
         .target = "/api/v1/namespaces/fx/pods/shop-0/status?fieldManager=someone-else",
         .headers = {{"Content-Type", "application/apply-patch+yaml"}},
         .body =
             R"({"apiVersion":"v1","kind":"Pod","status":{"conditions":[{"type":)"
             R"("oci-native-ingress.oraclecloud.com/load-balancer-ready","status":"False"}]}})"},
        absl::UnixEpoch());
    ASSERT_EQ(applied.response.status, 200) << applied.response.body;
  });
  EXPECT_TRUE(absl::IsAborted(door_->api().ApplyPodCondition(condition)));
  // One of another type is not in its way, and leaves it there.
  condition.type = "oci-native-ingress.oraclecloud.com/load-balancer-drained";
  EXPECT_EQ(door_->api().ApplyPodCondition(condition), absl::OkStatus());
  EXPECT_THAT(door_->api().GetPod({"fx", "shop-0"})->true_conditions,
              ElementsAre("oci-native-ingress.oraclecloud.com/load-balancer-drained"));
}

TEST_P(KubeWorldContract, AnAppliedConditionIsOnThePod) {
  const auto pod = door_->api().GetPod({"fx", "shop-0"});
  ASSERT_TRUE(pod.ok()) << pod.status();
  ASSERT_EQ(door_->api().ApplyPodCondition(ReadyCondition(pod->uid)), absl::OkStatus());
  EXPECT_THAT(door_->api().GetPod({"fx", "shop-0"})->true_conditions,
              ElementsAre("oci-native-ingress.oraclecloud.com/load-balancer-ready"));
  kube::PodCondition missing = ReadyCondition(pod->uid);
  missing.pod.name = "shop-9";
  EXPECT_TRUE(absl::IsNotFound(door_->api().ApplyPodCondition(missing)));
}

TEST_P(KubeWorldContract, CountingAnEventThatExpiredIsNotFound) {
  const absl::Status status =
      door_->api().PatchEventSeries({"fx", "none"}, 2, absl::FromUnixSeconds(1'796'007'700));
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
}

TEST_P(KubeWorldContract, AServerInTroubleIsUnavailableAndKnowsForHowLong) {
  door_->With([](FakeApiServer& server) {
    server.faults().Add(KubeFault{.verb = "get", .resource = "pods", .status = 503});
    server.faults().Add(KubeFault{.verb = "list", .resource = "services", .status = 429});
  });
  EXPECT_TRUE(absl::IsUnavailable(door_->api().GetPod({"fx", "shop-0"}).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      door_->api().List({.resource = kube::Resource::kServices, .ns = "fx"}).status()));
  EXPECT_TRUE(door_->api().GetPod({"fx", "shop-0"}).ok());
}

TEST_P(KubeWorldContract, AWriteWhoseAnswerIsLostMayHaveHappened) {
  door_->With([](FakeApiServer& server) {
    server.faults().Add(
        KubeFault{.verb = "create", .resource = "configmaps", .kind = KubeFault::Kind::kLoseReply});
  });
  kube::ConfigMap ledger;
  ledger.key = {"fx", "ledger"};
  const absl::Status status = door_->api().PutConfigMap(ledger).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_TRUE(door_->api().GetConfigMap(ledger.key).ok()) << "it had";
}

INSTANTIATE_TEST_SUITE_P(Doors, KubeWorldContract,
                         ::testing::Values(NamedDoor<KubeWorldDoor>{"InMemory",
                                                                    MakeInMemoryKubeDoor},
                                           NamedDoor<KubeWorldDoor>{"Http", MakeHttpKubeDoor}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sim
