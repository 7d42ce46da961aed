#include "sim/fake_api_server.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kReviews[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

class FakeApiServerTest : public testing::Test {
 protected:
  KubeAnswer Handle(const std::string& method, const std::string& target,
                    const std::string& body = "", const std::string& type = "application/json",
                    const std::string& accept = "application/json") {
    return server_.Handle(
        {.method = method,
         .target = target,
         .headers = {{"User-Agent", "test/1"}, {"Content-Type", type}, {"Accept", accept}},
         .body = body},
        now_);
  }

  JsonTree Send(const std::string& method, const std::string& target, const std::string& body = "",
                const std::string& type = "application/json",
                const std::string& accept = "application/json") {
    const http::Response response = Handle(method, target, body, type, accept).response;
    status_ = response.status;
    const auto tree = JsonTree::Parse(response.body, "answer");
    return tree.ok() ? *tree : JsonTree(response.body);
  }

  void MakeConfigMap(const std::string& name, const std::string& labels = "{}") {
    Send("POST", kConfigMaps,
         absl::StrCat(R"({"metadata":{"name":")", name, R"(","labels":)", labels, "}}"));
    ASSERT_EQ(status_, 201);
  }

  std::string Version() const { return absl::StrCat(server_.store().resource_version()); }

  int64_t Watch(const std::string& parameters) {
    const KubeAnswer answer = Handle("GET", absl::StrCat(kConfigMaps, "?watch=1&", parameters));
    EXPECT_TRUE(answer.watch.has_value()) << answer.response.body;
    return answer.watch.value_or(0);
  }

  // "ADDED a" and so on.
  std::vector<std::string> Take(int64_t watch) {
    server_.Advance(now_);
    std::vector<std::string> out;
    const KubeWatchBytes bytes = server_.TakeWatch(watch);
    state_ = bytes.state;
    for (const absl::string_view line : absl::StrSplit(bytes.bytes, '\n', absl::SkipEmpty())) {
      const auto event = JsonTree::Parse(line, "event");
      if (!event.ok()) {
        out.push_back("garbage");
      } else {
        out.push_back(absl::StrCat((*event)["type"].AsString(), " ",
                                   (*event)["object"]["metadata"]["name"].AsString()));
      }
    }
    return out;
  }

  using Lines = std::vector<std::string>;
  using State = KubeWatchBytes::State;

  absl::Time now_ = absl::FromUnixSeconds(1796000000);
  FakeApiServer server_;
  int status_ = 0;
  State state_ = State::kOpen;
};

TEST_F(FakeApiServerTest, ListIsPagedAsOfItsFirstPage) {
  for (const char* name : {"a", "b", "c", "d"}) MakeConfigMap(name);
  JsonTree page = Send("GET", absl::StrCat(kConfigMaps, "?limit=2"));
  EXPECT_EQ(page["items"].items().size(), 2u);
  EXPECT_EQ(page["metadata"]["remainingItemCount"].AsInt(), 2);
  const std::string version = page["metadata"]["resourceVersion"].AsString();
  // What happens in between is not seen.
  Send("DELETE", absl::StrCat(kConfigMaps, "/d"));
  MakeConfigMap("bb");
  page = Send("GET", absl::StrCat(kConfigMaps,
                                  "?limit=2&continue=", page["metadata"]["continue"].AsString()));
  ASSERT_EQ(page["items"].items().size(), 2u);
  EXPECT_EQ(page["items"].items()[0]["metadata"]["name"].AsString(), "c");
  EXPECT_EQ(page["items"].items()[1]["metadata"]["name"].AsString(), "d");
  EXPECT_EQ(page["metadata"]["resourceVersion"].AsString(), version);
  EXPECT_FALSE(page["metadata"].Has("continue"));
}

TEST_F(FakeApiServerTest, ExpiredContinueTokenIs410WithAnInconsistentOne) {
  for (const char* name : {"a", "b", "c"}) MakeConfigMap(name);
  const JsonTree page = Send("GET", absl::StrCat(kConfigMaps, "?limit=1"));
  MakeConfigMap("d");
  server_.Restart();
  JsonTree answer = Send(
      "GET",
      absl::StrCat(kConfigMaps, "?limit=1&continue=", page["metadata"]["continue"].AsString()));
  EXPECT_EQ(status_, 410);
  EXPECT_EQ(answer["reason"].AsString(), "Expired");
  answer = Send(
      "GET",
      absl::StrCat(kConfigMaps, "?limit=9&continue=", answer["metadata"]["continue"].AsString()));
  EXPECT_EQ(answer["items"].items().size(), 3u);
}

TEST_F(FakeApiServerTest, ListOfAFutureVersionIs504) {
  Send("GET", absl::StrCat(kConfigMaps, "?resourceVersion=99999999"));
  EXPECT_EQ(status_, 504);
  Send("GET", absl::StrCat(kConfigMaps, "?resourceVersion=0"));
  EXPECT_EQ(status_, 200);
  Send("GET", absl::StrCat(kConfigMaps, "?resourceVersion=x"));
  EXPECT_EQ(status_, 400);
}

TEST_F(FakeApiServerTest, WatchFollowsFromAVersion) {
  MakeConfigMap("before");
  const int64_t watch = Watch("resourceVersion=" + Version());
  EXPECT_EQ(Take(watch), Lines{});
  MakeConfigMap("a");
  Send("PATCH", absl::StrCat(kConfigMaps, "/a"), R"({"data":{"k":"v"}})", kMerge);
  Send("DELETE", absl::StrCat(kConfigMaps, "/a"));
  EXPECT_EQ(Take(watch), (Lines{"ADDED a", "MODIFIED a", "DELETED a"}));
  server_.CloseWatch(watch);
  EXPECT_EQ(server_.open_watches(), 0u);
}

TEST_F(FakeApiServerTest, WatchWithoutVersionBeginsWithWhatIsThere) {
  MakeConfigMap("a");
  const int64_t watch = Watch("");
  MakeConfigMap("b");
  EXPECT_EQ(Take(watch), (Lines{"ADDED a", "ADDED b"}));
}

TEST_F(FakeApiServerTest, WatchSeesThroughItsSelectors) {
  MakeConfigMap("a", R"({"app":"x"})");
  const int64_t labelled = Watch("labelSelector=app%3Dx&resourceVersion=" + Version());
  const int64_t named = Watch("fieldSelector=metadata.name%3Db&resourceVersion=" + Version());
  MakeConfigMap("b");
  Send("PATCH", absl::StrCat(kConfigMaps, "/a"), R"({"metadata":{"labels":{"app":"y"}}})", kMerge);
  Send("PATCH", absl::StrCat(kConfigMaps, "/b"), R"({"metadata":{"labels":{"app":"x"}}})", kMerge);
  EXPECT_EQ(Take(labelled), (Lines{"DELETED a", "ADDED b"}));
  EXPECT_EQ(Take(named), (Lines{"ADDED b", "MODIFIED b"}));
  Handle("GET", absl::StrCat(kConfigMaps, "?watch=1&fieldSelector=data.k%3Dv"));
  EXPECT_EQ(server_.log().back().status, 400);
}

TEST_F(FakeApiServerTest, WatchBookmarksAndEnds) {
  const int64_t watch =
      Watch("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=" + Version());
  EXPECT_EQ(server_.NextDue(), now_ + absl::Minutes(1));
  now_ += absl::Minutes(1);
  EXPECT_EQ(Take(watch), Lines{"BOOKMARK "});
  // The last one comes shortly before the end.
  EXPECT_EQ(server_.NextDue(), now_ + absl::Seconds(38));
  now_ += absl::Seconds(38);
  EXPECT_EQ(Take(watch), Lines{"BOOKMARK "});
  EXPECT_EQ(state_, State::kOpen);
  now_ += absl::Seconds(2);
  EXPECT_EQ(Take(watch), Lines{});
  EXPECT_EQ(state_, State::kEnded);
  EXPECT_EQ(server_.open_watches(), 0u);
}

TEST_F(FakeApiServerTest, HistoryIsBounded) {
  FakeApiServer server({.history_per_resource = 2});
  const std::string version = absl::StrCat(server.store().resource_version());
  for (const char* name : {"a", "b", "c"}) {
    server.ApplyManifest(JsonTree::Object{{"apiVersion", "v1"},
                                          {"kind", "ConfigMap"},
                                          {"metadata", JsonTree::Object{{"name", name}}}},
                         now_);
  }
  const KubeAnswer answer =
      server.Handle({.method = "GET",
                     .target = absl::StrCat(kConfigMaps, "?watch=1&resourceVersion=", version),
                     .headers = {},
                     .body = ""},
                    now_);
  EXPECT_TRUE(absl::StrContains(server.TakeWatch(*answer.watch).bytes, "Expired"));
}

TEST_F(FakeApiServerTest, WatchesAreCutEndedExpiredAndFedWithGarbage) {
  const std::string from = "resourceVersion=" + Version();
  int64_t watch = Watch(from);
  server_.watches().Inject("configmaps", "{\"type\":\n");
  EXPECT_EQ(Take(watch), Lines{"garbage"});
  server_.watches().Expire("pods");
  EXPECT_EQ(Take(watch), Lines{});
  server_.watches().Expire("configmaps");
  EXPECT_EQ(Take(watch), Lines{"ERROR "});
  EXPECT_EQ(state_, State::kEnded);
  watch = Watch(from);
  server_.watches().End("");
  Take(watch);
  EXPECT_EQ(state_, State::kEnded);
  watch = Watch(from);
  server_.Restart();
  Take(watch);
  EXPECT_EQ(state_, State::kCut);
}

TEST_F(FakeApiServerTest, WatchEventsAreDroppedRepeatedAndHeldBack) {
  const int64_t watch = Watch("allowWatchBookmarks=true&resourceVersion=" + Version());
  server_.faults().Add(KubeWatchFault{.name = "a", .kind = KubeWatchFault::Kind::kDrop});
  server_.faults().Add(KubeWatchFault{.name = "b", .kind = KubeWatchFault::Kind::kRepeat});
  server_.faults().Add(KubeWatchFault{
      .name = "c", .kind = KubeWatchFault::Kind::kDelay, .delay = absl::Seconds(90)});
  for (const char* name : {"a", "b", "c", "d"}) MakeConfigMap(name);
  EXPECT_EQ(Take(watch), (Lines{"ADDED b", "ADDED b"}));
  // A bookmark does not skip what is held back.
  now_ += absl::Minutes(1);
  server_.Advance(now_);
  const std::string bookmark = server_.TakeWatch(watch).bytes;
  EXPECT_TRUE(absl::StrContains(bookmark, "BOOKMARK"));
  EXPECT_FALSE(absl::StrContains(bookmark, Version())) << bookmark;
  now_ += absl::Seconds(30);
  EXPECT_EQ(Take(watch), (Lines{"ADDED c", "ADDED d"}));
}

TEST_F(FakeApiServerTest, CallsFailWhenToldTo) {
  server_.faults().Add(KubeFault{.verb = "list", .skip = 1, .status = 503});
  Send("GET", kConfigMaps);
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(Send("GET", kConfigMaps)["reason"].AsString(), "ServiceUnavailable");
  EXPECT_EQ(status_, 503);
  Send("GET", kConfigMaps);
  EXPECT_EQ(status_, 200);

  server_.faults().Add(KubeFault{.status = 500, .body = std::string(200 << 10, 'x')});
  EXPECT_EQ(Handle("GET", kConfigMaps).response.body.size(), 200u << 10);

  server_.faults().Add(KubeFault{.kind = KubeFault::Kind::kDelay, .delay = absl::Seconds(3)});
  EXPECT_EQ(Handle("GET", kConfigMaps).delay, absl::Seconds(3));

  server_.faults().Add(KubeFault{.kind = KubeFault::Kind::kRefuse});
  EXPECT_TRUE(Handle("POST", kConfigMaps, R"({"metadata":{"name":"refused"}})").lose);
  Send("GET", absl::StrCat(kConfigMaps, "/refused"));
  EXPECT_EQ(status_, 404);

  server_.faults().Add(KubeFault{.kind = KubeFault::Kind::kLoseReply});
  EXPECT_TRUE(Handle("POST", kConfigMaps, R"({"metadata":{"name":"lost"}})").lose);
  Send("GET", absl::StrCat(kConfigMaps, "/lost"));
  EXPECT_EQ(status_, 200);
}

TEST_F(FakeApiServerTest, PutIsGuardedByVersionAndUid) {
  MakeConfigMap("a");
  JsonTree config_map = Send("GET", absl::StrCat(kConfigMaps, "/a"));
  config_map.Set("data", JsonTree::Object{{"k", "1"}});
  const JsonTree written = Send("PUT", absl::StrCat(kConfigMaps, "/a"), config_map.Dump());
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(written["data"]["k"].AsString(), "1");
  EXPECT_EQ(Send("PUT", absl::StrCat(kConfigMaps, "/a"), config_map.Dump())["reason"].AsString(),
            "Conflict");
  EXPECT_EQ(status_, 409);
  // The same again is no change.
  const JsonTree again = Send("PUT", absl::StrCat(kConfigMaps, "/a"), written.Dump());
  EXPECT_EQ(again["metadata"]["resourceVersion"], written["metadata"]["resourceVersion"]);
  config_map.Child("metadata").Erase("resourceVersion");
  Send("PUT", absl::StrCat(kConfigMaps, "/a"), config_map.Dump());
  EXPECT_EQ(status_, 200);
  config_map.Child("metadata").Set("uid", "another");
  Send("PUT", absl::StrCat(kConfigMaps, "/a"), config_map.Dump());
  EXPECT_EQ(status_, 409);
  config_map.Child("metadata").Set("name", "b");
  Send("PUT", absl::StrCat(kConfigMaps, "/a"), config_map.Dump());
  EXPECT_EQ(status_, 400);
  config_map.Child("metadata").Erase("uid");
  Send("PUT", absl::StrCat(kConfigMaps, "/b"), config_map.Dump());
  EXPECT_EQ(status_, 404);
}

TEST_F(FakeApiServerTest, LeaseNeedsItsVersionToBeReplaced) {
  const std::string url = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  Send("POST", url, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})");
  Send("PUT", url + "/l", R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})");
  EXPECT_EQ(status_, 422);
}

TEST_F(FakeApiServerTest, DeletionHasPreconditions) {
  MakeConfigMap("a");
  const std::string url = absl::StrCat(kConfigMaps, "/a");
  Send("DELETE", url, R"({"preconditions":{"uid":"another"}})");
  EXPECT_EQ(status_, 409);
  EXPECT_EQ(Send("DELETE", url)["status"].AsString(), "Success");
  EXPECT_EQ(status_, 200);
  Send("DELETE", url);
  EXPECT_EQ(status_, 404);
}

TEST_F(FakeApiServerTest, ViewsAreChosenByTheAcceptHeader) {
  MakeConfigMap("a");
  const std::string object = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const std::string list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  EXPECT_EQ(Send("GET", kConfigMaps, "", "", list)["kind"].AsString(), "PartialObjectMetadataList");
  EXPECT_EQ(Send("GET", absl::StrCat(kConfigMaps, "/a"), "", "", object)["kind"].AsString(),
            "PartialObjectMetadata");
  Send("GET", kConfigMaps, "", "", object);
  EXPECT_EQ(status_, 406);
  Send("GET", kConfigMaps, "", "", "application/yaml");
  EXPECT_EQ(status_, 406);
  EXPECT_EQ(Send("GET", kConfigMaps, "", "",
                 "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")["kind"]
                .AsString(),
            "ConfigMapList");
}

TEST_F(FakeApiServerTest, AccessIsRestrictedByVerbResourceAndNamespace) {
  server_.Restrict("admin", {{.verb = "list", .resource = "configmaps", .ns = "default"},
                             {.verb = "patch", .resource = "pods/status"}});
  Send("GET", kConfigMaps);
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(Send("GET", "/api/v1/configmaps")["message"].AsString(),
            "configmaps is forbidden: User \"admin\" cannot list resource \"configmaps\" in API "
            "group \"\" at the cluster scope");
  EXPECT_EQ(status_, 403);
  Send("PATCH", "/api/v1/namespaces/default/pods/x/status", "{}", kMerge);
  EXPECT_EQ(status_, 404);
  Send("PATCH", "/api/v1/namespaces/default/pods/x", "{}", kMerge);
  EXPECT_EQ(status_, 403);
  server_.PermitAll();
  server_.Forbid({.resource = "configmaps", .ns = "default"});
  Send("GET", kConfigMaps);
  EXPECT_EQ(status_, 403);
  Send("GET", "/version");
  EXPECT_EQ(status_, 200);
}

TEST_F(FakeApiServerTest, AnAccessReviewSaysWhatARequestWouldMeet) {
  const auto allowed = [&](const std::string& attributes) {
    const JsonTree answer =
        Send("POST", kReviews, absl::StrCat(R"({"spec":{"resourceAttributes":)", attributes, "}}"));
    EXPECT_EQ(status_, 201) << answer.Dump();
    EXPECT_EQ(answer["kind"].AsString(), "SelfSubjectAccessReview");
    EXPECT_TRUE(answer["status"]["allowed"].is_bool());
    return answer["status"]["allowed"].AsBool();
  };
  EXPECT_TRUE(allowed(R"({"verb":"list","resource":"pods"})"));
  EXPECT_TRUE(allowed("{}"));
  server_.Forbid({.verb = "patch", .resource = "pods/status"});
  server_.Forbid({.verb = "get", .resource = "pods", .ns = "shop"});
  EXPECT_TRUE(allowed(R"({"verb":"patch","resource":"pods"})"));
  EXPECT_FALSE(allowed(R"({"verb":"patch","resource":"pods","subresource":"status"})"));
  EXPECT_FALSE(allowed(R"({"verb":"get","resource":"pods","namespace":"shop"})"));
  EXPECT_TRUE(allowed(R"({"verb":"get","resource":"pods","namespace":"other"})"));
  EXPECT_FALSE(allowed(R"({"verb":"get","resource":"pods"})")) << "all namespaces are also shop";
  server_.PermitAll();
  server_.Restrict("admin", {{.verb = "get", .resource = "pods", .ns = "shop"}});
  EXPECT_TRUE(allowed(R"({"verb":"get","resource":"pods","namespace":"shop"})"));
  EXPECT_FALSE(allowed(R"({"verb":"get","resource":"pods"})"));
  EXPECT_FALSE(allowed(R"({"verb":"list","resource":"pods","namespace":"shop"})"));
}

TEST_F(FakeApiServerTest, AnAccessReviewThatAsksNothingOrTwoThingsIsRefused) {
  const struct {
    const char* body;
    int status;
    const char* message;
  } cases[] = {
      {"{}", 422,
       "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
       "resourceAttributes must be specified"},
      {R"({"spec":{"resourceAttributes":{},"nonResourceAttributes":{}}})", 422,
       "spec.nonResourceAttributes: Invalid value: {}: cannot be specified in combination with "
       "resourceAttributes"},
      {R"({"metadata":{"name":"a"},"spec":{"resourceAttributes":{}}})", 422, "must be empty"},
      {R"({"kind":"Pod","spec":{"resourceAttributes":{}}})", 400, "Kind=Pod"},
      {R"({"apiVersion":"v1","spec":{"resourceAttributes":{}}})", 400, "does not match"},
      {R"({"spec":{"resourceAttributes":{"verb":7}}})", 400, "of type string"},
      {R"({"spec":{"resourceAttributes":"all"}})", 400, "of type object"},
      {R"({"spec":[]})", 400, "SelfSubjectAccessReviewSpec"},
      {"[]", 400, "cannot be handled"},
      {"{", 400, ""},
  };
  for (const auto& item : cases) {
    const JsonTree answer = Send("POST", kReviews, item.body);
    EXPECT_EQ(status_, item.status) << item.body;
    EXPECT_TRUE(absl::StrContains(answer["message"].AsString(), item.message)) << answer.Dump();
  }
  Send("POST", kReviews, R"({"spec":{"resourceAttributes":{}}})", "text/plain");
  EXPECT_EQ(status_, 415);
  Send("GET", kReviews);
  EXPECT_EQ(status_, 405);
  Send("POST", kReviews, R"({"spec":{"nonResourceAttributes":{"verb":"get","path":"/livez"}}})");
  EXPECT_EQ(status_, 201);
}

TEST_F(FakeApiServerTest, RequestsAreLogged) {
  Send("GET", kConfigMaps);
  Send("DELETE", absl::StrCat(kConfigMaps, "/none"));
  ASSERT_EQ(server_.log().size(), 2u);
  EXPECT_EQ(server_.log()[0].verb, "list");
  EXPECT_EQ(server_.log()[0].target, kConfigMaps);
  EXPECT_EQ(server_.log()[0].user_agent, "test/1");
  EXPECT_EQ(server_.log()[1].verb, "delete");
  EXPECT_EQ(server_.log()[1].status, 404);
}

TEST_F(FakeApiServerTest, UnknownPathsAndMethodsAreRefused) {
  for (const char* path : {"/apis/apps/v1/widgets", "/x", "/api/v1/pods/one",
                           "/api/v1/namespaces/default/pods/x/exec"}) {
    Send("GET", path);
    EXPECT_EQ(status_, 404) << path;
  }
  Send("POST", absl::StrCat(kConfigMaps, "/a"), "{}");
  EXPECT_EQ(status_, 405);
  Send("DELETE", kConfigMaps);
  EXPECT_EQ(status_, 405);
  Send("PATCH", absl::StrCat(kConfigMaps, "/a"), "[]", "application/json-patch+json");
  EXPECT_EQ(status_, 400);
  Send("PATCH", absl::StrCat(kConfigMaps, "/a"), "{}", "application/json-patch+json");
  EXPECT_EQ(status_, 415);
  Send("POST", kConfigMaps, "{\"metadata\":");
  EXPECT_EQ(status_, 400);
  Send("POST", kConfigMaps, "k8s", "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(status_, 415);
}

TEST_F(FakeApiServerTest, DiscoveryNamesTheResources) {
  EXPECT_EQ(Send("GET", "/api")["kind"].AsString(), "APIVersions");
  EXPECT_EQ(Send("GET", "/apis")["kind"].AsString(), "APIGroupList");
  std::set<std::string> names;
  const JsonTree list = Send("GET", "/apis/apps/v1");
  for (const JsonTree& resource : list["resources"].items()) {
    names.insert(resource["name"].AsString());
  }
  EXPECT_TRUE(names.contains("deployments"));
  EXPECT_TRUE(names.contains("deployments/status"));
}

}  // namespace
}  // namespace sim
