#include "kube/rest_kube_api.h"

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/decoder.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps what is sent, and answers what it is told to.
class ScriptedTransport final : public http::Transport {
 public:
  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    requests.push_back(request);
    if (answers.empty()) return absl::UnavailableError("no more answers");
    absl::StatusOr<http::Response> answer = answers.front();
    answers.pop_front();
    return answer;
  }

  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation>) override {
    const absl::StatusOr<http::Response> answer = Send(request);
    if (!answer.ok()) return answer.status();
    if (absl::Status status = handler.OnHead(answer->status, answer->headers); !status.ok()) {
      return status;
    }
    for (size_t at = 0; at < answer->body.size(); at += 1000) {
      const absl::Status status = handler.OnData(absl::string_view(answer->body).substr(at, 1000));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Answer(int status, std::string body) {
    http::Response response;
    response.status = status;
    response.body = std::move(body);
    answers.push_back(std::move(response));
  }
  void Answer(const Recorded& recorded) { Answer(recorded.status, recorded.body); }

  std::vector<http::Request> requests;
  std::deque<absl::StatusOr<http::Response>> answers;
};

class CountingTokens final : public TokenSource {
 public:
  absl::StatusOr<std::string> Token() override { return absl::StrCat("token-", refused); }
  void Refused() override { ++refused; }
  int refused = 0;
};

class RestKubeApiTest : public ::testing::Test {
 protected:
  static RestOptions Options() {
    RestOptions options;
    options.reporter = {"oci-drain", "oci-drain-0"};
    return options;
  }

  static std::string Header(const http::Request& request, absl::string_view name) {
    return std::string(http::FindHeader(request.headers, name));
  }

  static Event MakeEvent() {
    Event event;
    event.key = {"fx", "shop.17f2a"};
    event.regarding = {"v1", "Service", {"fx", "shop"}, ""};
    event.type = "Normal";
    event.reason = "BackendDraining";
    event.action = "Drain";
    event.note = "drain requested";
    event.event_time = absl::FromUnixSeconds(1796007600);
    return event;
  }

  std::shared_ptr<ScriptedTransport> calls_ = std::make_shared<ScriptedTransport>();
  std::shared_ptr<ScriptedTransport> watches_ = std::make_shared<ScriptedTransport>();
  std::shared_ptr<CountingTokens> tokens_ = std::make_shared<CountingTokens>();
  RestKubeApi api_{calls_, watches_, tokens_, Options()};
};

bool SameJson(const std::string& a, const std::string& b) {
  const auto x = base::ParseJson(a, "a");
  const auto y = base::ParseJson(b, "b");
  return x.ok() && y.ok() && base::SameJson(*x, *y);
}

TEST_F(RestKubeApiTest, AppliesAConditionAsTheRecordedRequestDoes) {
  const Recorded recorded = ReadRecorded("pod-status-apply");
  calls_->Answer(recorded);
  PodCondition condition;
  condition.pod = {"fx", "shop-0"};
  condition.uid = "38e5535f-43c6-4d8e-947b-e614d52332c4";
  condition.type = "oci-native-ingress.oraclecloud.com/load-balancer-ready";
  condition.status = true;
  condition.reason = "Registered";
  condition.message = "in every backend set";
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, "2026-11-30T03:04:44Z",
                              &condition.last_transition, nullptr));
  ASSERT_EQ(api_.ApplyPodCondition(condition), absl::OkStatus());
  const http::Request& request = calls_->requests.back();
  EXPECT_EQ(request.method, recorded.method);
  // The manager has the condition's name, so that two conditions are two owners.
  EXPECT_EQ(
      request.target,
      "/api/v1/namespaces/fx/pods/shop-0/status?fieldManager=oci-drain%2Fload-balancer-ready");
  EXPECT_EQ(Header(request, "Content-Type"), "application/apply-patch+yaml");
  EXPECT_TRUE(SameJson(request.body, recorded.request_body)) << request.body;
}

TEST_F(RestKubeApiTest, ListsPodsAsTheRecordedRequestDoes) {
  const Recorded recorded = ReadRecorded("pods-list-metadata");
  calls_->Answer(recorded);
  const absl::StatusOr<std::string> page = api_.List({Resource::kPods, "fx"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(*page, recorded.body);
  const http::Request& request = calls_->requests[0];
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, recorded.path);
  EXPECT_EQ(Header(request, "Accept"), recorded.accept);
  EXPECT_EQ(Header(request, "Authorization"), "Bearer token-0");
}

TEST_F(RestKubeApiTest, AsksForEachResourceWhereItIs) {
  const std::pair<Resource, const char*> paths[] = {
      {Resource::kServices, "/api/v1/services"},
      {Resource::kIngresses, "/apis/networking.k8s.io/v1/ingresses"},
      {Resource::kIngressClasses, "/apis/networking.k8s.io/v1/ingressclasses"},
      {Resource::kEndpointSlices, "/apis/discovery.k8s.io/v1/endpointslices"},
      {Resource::kPods, "/api/v1/pods"},
      {Resource::kDeployments, "/apis/apps/v1/deployments"},
      {Resource::kStatefulSets, "/apis/apps/v1/statefulsets"},
      {Resource::kReplicaSets, "/apis/apps/v1/replicasets"},
      {Resource::kLeases, "/apis/coordination.k8s.io/v1/leases"},
  };
  for (const auto& [resource, path] : paths) {
    ListRequest request;
    request.resource = resource;
    request.limit = 7;
    request.continue_token = "a=b&c";
    EXPECT_TRUE(absl::IsUnavailable(api_.List(request).status()));
    EXPECT_EQ(calls_->requests.back().target, absl::StrCat(path, "?limit=7&continue=a%3Db%26c"));
  }
  EXPECT_TRUE(absl::IsUnavailable(api_.List({Resource::kDeployments, "shop"}).status()));
  EXPECT_EQ(calls_->requests.back().target, "/apis/apps/v1/namespaces/shop/deployments?limit=500");
}

TEST_F(RestKubeApiTest, RefusesNamesThatWouldAddressSomethingElse) {
  for (const char* name : {"", ".", "..", "a/b", "a%2fb", "a?b", "a#b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(api_.GetPod({"fx", name}).status())) << name;
    EXPECT_TRUE(absl::IsInvalidArgument(api_.GetPod({name, "pod"}).status())) << name;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(api_.List({Resource::kIngressClasses, "fx"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(api_.List({Resource::kPods, "a/b"}).status()));
  EXPECT_THAT(calls_->requests, IsEmpty());
  EXPECT_FALSE(api_.GetPod({"fx", "a b\n"}).ok());
  EXPECT_EQ(calls_->requests[0].target, "/api/v1/namespaces/fx/pods/a%20b%0A");
}

TEST_F(RestKubeApiTest, NamesVerbResourceAndNamespaceOfWhatIsForbidden) {
  calls_->Answer(ReadRecorded("forbidden"));
  const absl::Status status = api_.List({Resource::kPods, "fx"}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(status.message(), HasSubstr("list pods in namespace fx: HTTP 403 Forbidden"));
}

TEST_F(RestKubeApiTest, TriesOnceMoreWithANewTokenAfter401) {
  calls_->Answer(ReadRecorded("unauthorized"));
  calls_->Answer(ReadRecorded("endpoints-get"));
  EXPECT_TRUE(api_.GetEndpoints({"fx", "shop"}).ok());
  ASSERT_THAT(calls_->requests, SizeIs(2));
  EXPECT_EQ(Header(calls_->requests[1], "Authorization"), "Bearer token-1");
  calls_->Answer(ReadRecorded("unauthorized"));
  calls_->Answer(ReadRecorded("unauthorized"));
  EXPECT_TRUE(absl::IsUnauthenticated(api_.GetEndpoints({"fx", "shop"}).status()));
  EXPECT_THAT(calls_->requests, SizeIs(4)) << "and not for ever";
}

TEST_F(RestKubeApiTest, SendsNoTokenWithoutASource) {
  RestKubeApi api(calls_, watches_, nullptr);
  calls_->Answer(ReadRecorded("unauthorized"));
  EXPECT_TRUE(absl::IsUnauthenticated(api.GetEndpoints({"fx", "shop"}).status()));
  EXPECT_EQ(Header(calls_->requests[0], "Authorization"), "");
}

TEST_F(RestKubeApiTest, NamesTheRequestInErrorsOfTheConnection) {
  calls_->answers.push_back(absl::DeadlineExceededError("https://kube: nothing heard"));
  EXPECT_EQ(api_.GetPod({"fx", "shop-0"}).status(),
            absl::DeadlineExceededError("get pods fx/shop-0: https://kube: nothing heard"));
}

TEST_F(RestKubeApiTest, WatchesOnItsOwnTransportAsTheRecordedRequestDoes) {
  const Recorded recorded = ReadRecorded("pods-watch-metadata");
  std::string stream;
  for (const std::string& line : recorded.lines) absl::StrAppend(&stream, line, "\n");
  watches_->Answer(200, stream);
  WatchRequest watch;
  watch.resource = Resource::kPods;
  watch.ns = "fx";
  watch.resource_version = "881";
  watch.timeout = absl::Seconds(70);
  watch.silence = absl::Seconds(42);
  std::string received;
  const absl::Status status = api_.Watch(
      watch,
      [&](absl::string_view bytes) {
        received.append(bytes.data(), bytes.size());
        return absl::OkStatus();
      },
      nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(received, stream);
  ASSERT_THAT(watches_->requests, SizeIs(1));
  EXPECT_EQ(watches_->requests[0].target, recorded.path);
  EXPECT_EQ(Header(watches_->requests[0], "Accept"), recorded.accept);
  EXPECT_EQ(watches_->requests[0].timeout, absl::Seconds(42));
  EXPECT_THAT(calls_->requests, IsEmpty());
}

TEST_F(RestKubeApiTest, TellsWhyAWatchIsRefused) {
  const auto watch = [&] {
    return api_.Watch(
        {}, [](absl::string_view) { return absl::InternalError("no data"); }, nullptr);
  };
  watches_->Answer(410, R"({"kind":"Status","reason":"Expired","message":"too old"})");
  EXPECT_TRUE(absl::IsOutOfRange(watch()));
  watches_->Answer(ReadRecorded("forbidden"));
  EXPECT_THAT(watch().message(), HasSubstr("watch services: HTTP 403 Forbidden"));
  watches_->Answer(503, std::string(200 << 10, 'x'));
  const absl::Status busy = watch();
  EXPECT_TRUE(absl::IsUnavailable(busy)) << busy;
  EXPECT_LT(busy.message().size(), 300u);
  watches_->Answer(204, "");
  EXPECT_TRUE(absl::IsUnavailable(watch()));
  watches_->Answer(401, "");
  watches_->Answer(401, "");
  EXPECT_TRUE(absl::IsUnauthenticated(watch()));
  EXPECT_EQ(tokens_->refused, 2);
  watches_->answers.push_back(absl::CancelledError("stopping"));
  EXPECT_TRUE(absl::IsCancelled(watch()));
}

TEST_F(RestKubeApiTest, EndsAWatchWhenItsTakerSaysSo) {
  watches_->Answer(200, "line\n");
  const absl::Status enough = absl::OutOfRangeError("enough");
  EXPECT_EQ(api_.Watch(
                {}, [&](absl::string_view) { return enough; }, nullptr),
            enough);
}

TEST_F(RestKubeApiTest, CreatesAndReplacesAConfigMap) {
  ConfigMap map;
  map.key = {"ns", "ledger"};
  map.data = {{"a", "b\"\n"}};
  calls_->Answer(201, R"({"metadata":{"name":"ledger","namespace":"ns","resourceVersion":"5"}})");
  absl::StatusOr<ConfigMap> stored = api_.PutConfigMap(map);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->resource_version, "5");
  EXPECT_EQ(calls_->requests[0].method, "POST");
  EXPECT_EQ(calls_->requests[0].target, "/api/v1/namespaces/ns/configmaps");
  EXPECT_EQ(Header(calls_->requests[0], "Content-Type"), "application/json");
  EXPECT_TRUE(SameJson(calls_->requests[0].body,
                       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ledger",
      "namespace":"ns","labels":{"app.kubernetes.io/managed-by":"oci-drain"}},
      "data":{"a":"b\"\n"}})"));

  map.resource_version = "5";
  calls_->Answer(200, R"({"metadata":{"name":"ledger","resourceVersion":"6"}})");
  EXPECT_EQ(api_.PutConfigMap(map)->resource_version, "6");
  EXPECT_EQ(calls_->requests[1].method, "PUT");
  EXPECT_EQ(calls_->requests[1].target, "/api/v1/namespaces/ns/configmaps/ledger");
  EXPECT_THAT(calls_->requests[1].body, HasSubstr(R"("resourceVersion":"5")"));
}

TEST_F(RestKubeApiTest, RenewsALeaseAsTheRecordedRequestDoes) {
  absl::StatusOr<Lease> lease = DecodeLease(ReadRecorded("lease-create").body);
  ASSERT_TRUE(lease.ok()) << lease.status();
  lease->renewed += absl::Seconds(2);
  lease->document.clear();  // that client wrote no more than it knew
  calls_->Answer(ReadRecorded("lease-update"));
  const absl::StatusOr<Lease> stored = api_.PutLease(*lease);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->resource_version, "889");
  EXPECT_EQ(calls_->requests[0].method, "PUT");
  EXPECT_EQ(calls_->requests[0].target, ReadRecorded("lease-update").path);
  EXPECT_TRUE(SameJson(calls_->requests[0].body,
                       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{
      "name":"oci-drain","namespace":"fx","resourceVersion":"888",
      "labels":{"app.kubernetes.io/managed-by":"oci-drain"}},
      "spec":{"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":0,
      "acquireTime":"2026-11-30T03:00:00.000000Z","renewTime":"2026-11-30T03:00:02.000000Z"}})"));
  calls_->Answer(ReadRecorded("lease-update-conflict"));
  EXPECT_TRUE(absl::IsAborted(api_.PutLease(*lease).status()));
}

TEST_F(RestKubeApiTest, WritesBackWhatOthersKeepInALease) {
  absl::StatusOr<Lease> lease = DecodeLease(R"({"metadata":{"name":"l","namespace":"n",
      "resourceVersion":"1","uid":"u","annotations":{"a":"b"},"labels":{"team":"x"}},
      "spec":{"holderIdentity":"b","preferredHolder":"c","strategy":"OldestEmulationVersion"},
      "added":{"later":[1]}})");
  ASSERT_TRUE(lease.ok()) << lease.status();
  lease->holder = "a";
  calls_->Answer(ReadRecorded("lease-update"));
  ASSERT_TRUE(api_.PutLease(*lease).ok());
  EXPECT_TRUE(SameJson(calls_->requests[0].body,
                       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{
      "name":"l","namespace":"n","resourceVersion":"1","uid":"u","annotations":{"a":"b"},
      "labels":{"team":"x","app.kubernetes.io/managed-by":"oci-drain"}},
      "spec":{"holderIdentity":"a","preferredHolder":"c","strategy":"OldestEmulationVersion",
      "leaseTransitions":0},"added":{"later":[1]}})"))
      << calls_->requests[0].body;
}

TEST_F(RestKubeApiTest, FollowsASingleObjectByItsName) {
  watches_->Answer(200, "");
  WatchRequest request;
  request.resource = Resource::kLeases;
  request.ns = "fx";
  request.resource_version = "7";
  request.name = "oci-drain";
  EXPECT_TRUE(api_.Watch(
                      request, [](absl::string_view) { return absl::OkStatus(); }, nullptr)
                  .ok());
  EXPECT_THAT(watches_->requests[0].target, HasSubstr("&fieldSelector=metadata.name%3Doci-drain"));
}

TEST_F(RestKubeApiTest, SaysAbortedWhenSomebodyElseWroteTheConfigMap) {
  ConfigMap map;
  map.key = {"ns", "ledger"};
  calls_->Answer(ReadRecorded("event-create-exists"));
  EXPECT_TRUE(absl::IsAborted(api_.PutConfigMap(map).status())) << "created meanwhile";
  map.resource_version = "5";
  calls_->Answer(ReadRecorded("lease-update-conflict"));
  EXPECT_TRUE(absl::IsAborted(api_.PutConfigMap(map).status())) << "changed meanwhile";
  calls_->Answer(ReadRecorded("get-not-found"));
  EXPECT_TRUE(absl::IsAborted(api_.PutConfigMap(map).status())) << "deleted meanwhile";
}

TEST_F(RestKubeApiTest, CreatesAnEventAsTheRecordedRequestDoes) {
  const Recorded recorded = ReadRecorded("event-create");
  calls_->Answer(recorded);
  EXPECT_TRUE(api_.CreateEvent(MakeEvent()).ok());
  EXPECT_EQ(calls_->requests[0].method, recorded.method);
  EXPECT_EQ(calls_->requests[0].target, recorded.path);
  EXPECT_EQ(Header(calls_->requests[0], "Content-Type"), recorded.content_type);
  EXPECT_TRUE(SameJson(calls_->requests[0].body, recorded.request_body))
      << calls_->requests[0].body;
  calls_->Answer(ReadRecorded("event-create-exists"));
  EXPECT_TRUE(absl::IsAlreadyExists(api_.CreateEvent(MakeEvent())));
}

TEST_F(RestKubeApiTest, CountsARepetitionAsTheRecordedRequestDoes) {
  const Recorded recorded = ReadRecorded("event-series-patch");
  calls_->Answer(recorded);
  EXPECT_TRUE(
      api_.PatchEventSeries({"fx", "shop.17f2a"}, 2, absl::FromUnixSeconds(1796007605)).ok());
  EXPECT_EQ(calls_->requests[0].method, recorded.method);
  EXPECT_EQ(calls_->requests[0].target, recorded.path);
  EXPECT_EQ(Header(calls_->requests[0], "Content-Type"), recorded.content_type);
  EXPECT_TRUE(SameJson(calls_->requests[0].body, recorded.request_body))
      << calls_->requests[0].body;
}

TEST_F(RestKubeApiTest, MakesAnEventFitWhatTheApiAllows) {
  Event event = MakeEvent();
  event.note = std::string(1023, 'x') + "\xc3\xa9" + "y";
  event.reason = std::string(200, 'r');
  event.action = "";
  event.regarding = {"networking.k8s.io/v1", "IngressClass", {"", "oci"}, "some-uid"};
  EXPECT_FALSE(api_.CreateEvent(event).ok());
  const auto body = base::ParseJson(calls_->requests[0].body, "body");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(*base::ReadString(*body, "note"), std::string(1023, 'x'));
  EXPECT_EQ(*base::ReadString(*body, "reason"), std::string(128, 'r'));
  EXPECT_EQ(*base::ReadString(*body, "action"), std::string(128, 'r'));
  EXPECT_EQ(base::FindPath(*body, {"regarding", "namespace"}), nullptr);
  EXPECT_NE(base::FindPath(*body, {"regarding", "uid"}), nullptr);
}

}  // namespace
}  // namespace kube
