// The fake answers what a real kube-apiserver 1.36 was recorded to answer: each
// recorded request is replayed, and the status, the reason and the set of keys
// of the two answers are compared.
#include "sim/kube_recorded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "sim/fake_api_server.h"
#include "sim/json_tree.h"

namespace sim {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1796007884);  // 2026-11-30T03:04:44Z

class RecordedTest : public testing::Test {
 protected:
  RecordedTest() {
    for (const char* ns : {"fx"}) {
      server_.objects().Create(resources::Namespaces(), "",
                               JsonTree::Object{{"metadata", JsonTree::Object{{"name", ns}}}},
                               {"test", now_});
    }
  }

  static http::Request RequestOf(const JsonTree& recorded) {
    const JsonTree& request = recorded["request"];
    http::Request out{.method = request["method"].AsString(),
                      .target = request["path"].AsString(),
                      .headers = {{"User-Agent", "python-requests/2.32"},
                                  {"Authorization", "Bearer admin-token"}},
                      .body = ""};
    for (const auto& [name, value] : request["headers"].members()) {
      out.headers.emplace_back(name, value.AsString());
    }
    if (!request["body"].is_null()) out.body = request["body"].Dump();
    return out;
  }

  JsonTree Send(const http::Request& request) {
    const KubeAnswer answer = server_.Handle(request, now_);
    auto body = JsonTree::Parse(answer.response.body, "answer");
    EXPECT_TRUE(body.ok()) << answer.response.body;
    status_ = answer.response.status;
    return body.ok() ? *body : JsonTree();
  }

  JsonTree Send(const std::string& method, const std::string& target, const JsonTree& body,
                const std::string& type = "application/json") {
    return Send({.method = method,
                 .target = target,
                 .headers = {{"User-Agent", "python-requests/2.32"},
                             {"Authorization", "Bearer admin-token"},
                             {"Content-Type", type}},
                 .body = body.is_null() ? "" : body.Dump()});
  }

  // Sends the recorded request with the fake's own UIDs and versions.
  JsonTree Replay(const std::string& name) {
    const JsonTree recorded = Recorded(name);
    http::Request request = RequestOf(recorded);
    for (const auto& [from, to] : replace_) {
      request.target = absl::StrReplaceAll(request.target, {{from, to}});
      request.body = absl::StrReplaceAll(request.body, {{from, to}});
    }
    const JsonTree actual = Send(request);
    const JsonTree& expected = recorded["response"];
    EXPECT_EQ(status_, expected["status"].AsInt()) << actual.Dump();
    EXPECT_EQ(actual["reason"].AsString(), expected["body"]["reason"].AsString());
    EXPECT_EQ(actual["message"], expected["body"]["message"]);
    EXPECT_EQ(DifferencesOfShape(expected["body"], actual), "") << name << "\n" << actual.Dump();
    return actual;
  }

  // A Pod as recorded: created, running and ready.
  void MakePod(int index) {
    const std::string name = absl::StrCat("shop-", index);
    JsonTree pod = Recorded("pod-create-0")["request"]["body"];
    pod.Child("metadata").Set("name", name);
    Send("POST", "/api/v1/namespaces/fx/pods", pod);
    ASSERT_EQ(status_, 201);
    SetPodStatus(index);
  }

  void SetPodStatus(int index) {
    const std::string ip = absl::StrCat("10.244.9.", index + 1);
    JsonTree conditions = JsonTree::Array{};
    for (const char* type : {"Ready", "ContainersReady"}) {
      conditions.Append(JsonTree::Object{{"type", type},
                                         {"status", "True"},
                                         {"lastProbeTime", JsonTree()},
                                         {"lastTransitionTime", "2026-11-30T03:04:44Z"}});
    }
    const JsonTree ips = JsonTree::Array{JsonTree::Object{{"ip", ip}}};
    const JsonTree status = JsonTree::Object{
        {"phase", "Running"}, {"conditions", conditions}, {"podIP", ip}, {"podIPs", ips}};
    Send("PATCH", absl::StrCat("/api/v1/namespaces/fx/pods/shop-", index, "/status"),
         JsonTree::Object{{"status", status}}, "application/strategic-merge-patch+json");
    ASSERT_EQ(status_, 200);
  }

  // Lines up to now.
  std::vector<JsonTree> Events(int64_t watch) {
    std::vector<JsonTree> events;
    const std::string bytes = server_.TakeWatch(watch).bytes;
    for (const absl::string_view line : absl::StrSplit(bytes, '\n', absl::SkipEmpty())) {
      events.push_back(*JsonTree::Parse(line, "event"));
    }
    return events;
  }

  int64_t Watch(const std::string& name) {
    http::Request request = RequestOf(Recorded(name));
    request.target = absl::StrReplaceAll(
        request.target, {{"resourceVersion=881",
                          absl::StrCat("resourceVersion=", server_.store().resource_version())}});
    const KubeAnswer answer = server_.Handle(request, now_);
    EXPECT_TRUE(answer.watch.has_value()) << answer.response.body;
    return answer.watch.value_or(0);
  }

  static void ExpectSameEvents(const std::string& name, const std::vector<JsonTree>& events) {
    const JsonTree recorded = Recorded(name);
    const JsonTree::Array& expected = recorded["response"]["body"].items();
    ASSERT_LE(events.size(), expected.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i]["type"], expected[i]["type"]) << i;
      EXPECT_EQ(DifferencesOfShape(expected[i], events[i]), "") << name << " " << i;
    }
  }

  absl::Time now_ = kStart;
  FakeApiServer server_{
      {.users_by_token = {
           {"admin-token", "admin"}, {"test-admin-token", "admin"}, {"alice-token", "alice"}}}};
  int status_ = 0;
  std::vector<std::pair<std::string, std::string>> replace_;
};

TEST_F(RecordedTest, ServiceIsCreatedAndListed) {
  const JsonTree created = Replay("service-create");
  EXPECT_EQ(created["spec"]["type"].AsString(), "ClusterIP");
  Replay("service-list");
}

TEST_F(RecordedTest, PodIsCreated) { Replay("pod-create-0"); }

TEST_F(RecordedTest, PodStatusIsAppliedUnderItsUid) {
  const JsonTree pod = Replay("pod-create-0");
  replace_ = {{"38e5535f-43c6-4d8e-947b-e614d52332c4", pod["metadata"]["uid"].AsString()}};
  const JsonTree applied = Replay("pod-status-apply");
  EXPECT_EQ(applied["status"]["conditions"].items()[0]["status"].AsString(), "True");
  // Nothing new is no write.
  EXPECT_EQ(Replay("pod-status-apply")["metadata"]["resourceVersion"],
            applied["metadata"]["resourceVersion"]);
  Replay("pod-status-apply-conflict");
  Replay("pod-status-apply-wrong-uid");
}

TEST_F(RecordedTest, PodIsDeletedGracefullyAndListedSo) {
  for (int i = 0; i < 3; ++i) MakePod(i);
  JsonTree gate = Recorded("pod-status-apply")["request"]["body"];
  gate.Child("metadata").Erase("uid");
  Send("PATCH", "/api/v1/namespaces/fx/pods/shop-0/status?fieldManager=oci-drain", gate,
       "application/apply-patch+yaml");
  now_ += absl::Seconds(5);
  const JsonTree deleted = Replay("pod-delete");
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"].AsString(), "2026-11-30T03:05:49Z");
  EXPECT_EQ(deleted["metadata"]["generation"].AsInt(), 2);
  Replay("pods-list-metadata");
  Replay("pods-list-full");
}

TEST_F(RecordedTest, WatchOfMetadataSeesTheWholeDeletion) {
  MakePod(1);
  const int64_t watch = Watch("pods-watch-metadata");
  now_ += absl::Seconds(5);
  Replay("pod-delete");
  now_ += absl::Seconds(4);
  Send("PATCH", "/api/v1/namespaces/fx/pods/shop-1",
       JsonTree::Object{{"metadata", JsonTree::Object{{"finalizers", JsonTree()}}}},
       "application/merge-patch+json");
  Send("DELETE", "/api/v1/namespaces/fx/pods/shop-1", JsonTree::Object{{"gracePeriodSeconds", 0}});
  now_ += absl::Seconds(51);
  server_.Advance(now_);
  const std::vector<JsonTree> events = Events(watch);
  ExpectSameEvents("pods-watch-metadata", events);
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[2]["object"]["metadata"]["deletionTimestamp"].AsString(),
            "2026-11-30T03:04:53Z");
}

TEST_F(RecordedTest, EventIsCreatedOnceBoundedAndCounted) {
  Replay("event-create");
  Replay("event-create-exists");
  Replay("event-create-note-too-long");
  Replay("event-series-patch");
}

TEST_F(RecordedTest, LeaseIsCreatedAndRenewedUnderItsVersion) {
  const JsonTree created = Replay("lease-create");
  replace_ = {{"8ef02f10-461e-4998-b003-652bb889e826", created["metadata"]["uid"].AsString()},
              {"\"888\"", created["metadata"]["resourceVersion"].Dump()}};
  Replay("lease-update");
  Replay("lease-update-conflict");
}

TEST_F(RecordedTest, ErrorsAreWordedAsRecorded) {
  Replay("get-not-found");
  Replay("list-continue-bad");
  Replay("version");
  Replay("tokenreview");

  http::Request request = RequestOf(Recorded("unauthorized"));
  request.headers = {};
  EXPECT_EQ(DifferencesOfShape(Recorded("unauthorized")["response"]["body"], Send(request)), "");
  EXPECT_EQ(status_, 401);

  server_.Restrict("alice", {});
  request = RequestOf(Recorded("forbidden"));
  request.headers = {{"Authorization", "Bearer alice-token"}};
  EXPECT_EQ(Send(request), Recorded("forbidden")["response"]["body"]);
  EXPECT_EQ(status_, 403);
}

TEST_F(RecordedTest, WatchOfAnOldVersionExpiresInsideTheStream) {
  const http::Request request = RequestOf(Recorded("watch-expired"));
  const KubeAnswer answer = server_.Handle(request, now_);
  EXPECT_EQ(answer.response.status, 200);
  const KubeWatchBytes bytes = server_.TakeWatch(*answer.watch);
  EXPECT_EQ(bytes.state, KubeWatchBytes::State::kEnded);
  const JsonTree event = *JsonTree::Parse(bytes.bytes, "event");
  const JsonTree recorded = Recorded("watch-expired");
  const JsonTree& expected = recorded["response"]["body"].items()[0];
  EXPECT_EQ(DifferencesOfShape(expected, event), "");
  EXPECT_EQ(event["object"]["reason"], expected["object"]["reason"]);
  EXPECT_EQ(event["object"]["code"], expected["object"]["code"]);
}

}  // namespace
}  // namespace sim
