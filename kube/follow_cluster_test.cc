// Reflectors over RestKubeApi against the fake API server, in virtual time.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/reflector.h"
#include "kube/rest_kube_api.h"
#include "kube/store.h"
#include "sim/fake_api_server.h"
#include "sim/json_tree.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

class VirtualClock final : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = absl::FromUnixSeconds(1796007884);
};

// The fake server as a transport. A stream is read until nothing more is there;
// then, without waiting, it is as if the test had cancelled it.
class FakeServerTransport final : public http::Transport {
 public:
  FakeServerTransport(sim::FakeApiServer& server, VirtualClock& clock)
      : server_(server), clock_(clock) {}

  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    sim::KubeAnswer answer = server_.Handle(request, clock_.now);
    if (answer.lose) return absl::DeadlineExceededError("connection closed");
    return answer.response;
  }

  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation>) override {
    const sim::KubeAnswer answer = server_.Handle(request, clock_.now);
    if (answer.lose) return absl::DeadlineExceededError("connection closed");
    absl::Status status = handler.OnHead(answer.response.status, answer.response.headers);
    if (!status.ok()) return status;
    if (!answer.watch.has_value()) return handler.OnData(answer.response.body);
    server_.Advance(clock_.now);
    const sim::KubeWatchBytes taken = server_.TakeWatch(*answer.watch);
    server_.CloseWatch(*answer.watch);
    if (!taken.bytes.empty()) status = handler.OnData(taken.bytes);
    if (!status.ok()) return status;
    return absl::CancelledError("read to its end");
  }

 private:
  sim::FakeApiServer& server_;
  VirtualClock& clock_;
};

class FollowClusterTest : public ::testing::Test {
 protected:
  FollowClusterTest()
      : transport_(std::make_shared<FakeServerTransport>(server_, clock_)),
        api_(transport_, transport_, nullptr) {}

  void Apply(absl::string_view manifest) {
    const auto tree = sim::JsonTree::Parse(manifest, "manifest");
    ASSERT_TRUE(tree.ok()) << tree.status();
    server_.ApplyManifest(*tree, clock_.now);
    server_.Advance(clock_.now);
  }

  void ApplyPod(absl::string_view name) {
    Apply(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                       R"(","namespace":"shop"},"spec":{"containers":[{"name":"c",
                       "image":"x"}]}})"));
  }

  // One step: a page, a look at the watch, or a wait.
  void Step(Reflector& reflector) {
    const Reflector::Step step = reflector.Next(clock_.now);
    switch (step.kind) {
      case Reflector::StepKind::kWait:
        clock_.now = step.until;
        return;
      case Reflector::StepKind::kList:
        return reflector.OnPage(api_.List(step.list), clock_.now);
      case Reflector::StepKind::kWatch:
        break;
    }
    const absl::Status status = api_.Watch(
        step.watch, [&](absl::string_view bytes) { return reflector.OnBytes(bytes, clock_.now); },
        nullptr);
    reflector.OnWatchEnd(status, clock_.now);
  }

  VirtualClock clock_;
  sim::FakeApiServer server_;
  std::shared_ptr<FakeServerTransport> transport_;
  RestKubeApi api_;
  ClusterStore store_{clock_};
  base::Random random_{1};
};

TEST_F(FollowClusterTest, KeepsUpWithPodsThatComeAndGo) {
  ApplyPod("a");
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  Reflector reflector({Resource::kPods, "shop"}, *sink, random_);
  Step(reflector);
  EXPECT_TRUE(store_.Synced(Resource::kPods, "shop")) << reflector.last_error();
  EXPECT_TRUE(store_.FindPod({"shop", "a"}).has_value());
  ApplyPod("b");
  Step(reflector);
  EXPECT_TRUE(store_.FindPod({"shop", "b"}).has_value()) << reflector.last_error();

  http::Request remove;
  remove.method = "DELETE";
  remove.target = "/api/v1/namespaces/shop/pods/b";
  EXPECT_LT(server_.Handle(remove, clock_.now).response.status, 300);
  Step(reflector);
  const std::optional<PodMetadata> pod = store_.FindPod({"shop", "b"});
  EXPECT_TRUE(!pod.has_value() || pod->deleted());
}

TEST_F(FollowClusterTest, ReadsAListOfManyPages) {
  for (int i = 0; i < 1200; ++i) ApplyPod(absl::StrCat("p", i));
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  Reflector reflector({Resource::kPods, "shop"}, *sink, random_);
  for (int page = 0; page < 3; ++page) Step(reflector);
  EXPECT_TRUE(reflector.synced()) << reflector.last_error();
  EXPECT_EQ(store_.PodCount(), 1200u);
}

TEST_F(FollowClusterTest, ListsAnewAfterTheServerForgotItsHistory) {
  ApplyPod("a");
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  Reflector reflector({Resource::kPods, "shop"}, *sink, random_);
  Step(reflector);
  ApplyPod("b");
  server_.Restart();
  for (int i = 0; i < 5; ++i) Step(reflector);
  EXPECT_TRUE(store_.FindPod({"shop", "b"}).has_value()) << reflector.last_error();
}

TEST_F(FollowClusterTest, NamesAForbiddenNamespaceAndComesBack) {
  ApplyPod("a");
  server_.Forbid({"list", "pods", "shop"});
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  Reflector reflector({Resource::kPods, "shop"}, *sink, random_);
  Step(reflector);
  EXPECT_TRUE(absl::IsPermissionDenied(reflector.last_error()));
  EXPECT_THAT(reflector.last_error().message(), HasSubstr("list pods in namespace shop"));
  server_.PermitAll();
  Step(reflector);
  Step(reflector);
  EXPECT_TRUE(reflector.synced()) << reflector.last_error();
}

TEST_F(FollowClusterTest, SurvivesServerErrorsAndLostReplies) {
  ApplyPod("a");
  sim::KubeFault refuse;
  refuse.kind = sim::KubeFault::Kind::kStatus;
  refuse.status = 503;
  refuse.times = 3;
  server_.faults().Add(refuse);
  sim::KubeFault lose;
  lose.kind = sim::KubeFault::Kind::kLoseReply;
  lose.times = 2;
  server_.faults().Add(lose);
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  Reflector reflector({Resource::kPods, "shop"}, *sink, random_);
  for (int i = 0; i < 20 && !reflector.synced(); ++i) Step(reflector);
  EXPECT_TRUE(reflector.synced()) << reflector.last_error();
}

TEST_F(FollowClusterTest, WritesConfigMapsAndEventsThatAServerAccepts) {
  Apply(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"},
      "spec":{"ports":[{"port":80}]}})");
  ConfigMap map;
  map.key = {"shop", "ledger"};
  map.data = {{"entries", "[]"}};
  EXPECT_TRUE(absl::IsNotFound(api_.GetConfigMap(map.key).status()));
  const absl::StatusOr<ConfigMap> created = api_.PutConfigMap(map);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_TRUE(absl::IsAborted(api_.PutConfigMap(map).status()));
  ASSERT_TRUE(api_.PutConfigMap(*created).ok());
  EXPECT_EQ(api_.GetConfigMap(map.key)->data, map.data);

  Event event;
  event.key = {"shop", "web.1"};
  event.regarding = {"v1", "Service", {"shop", "web"}, ""};
  event.type = "Warning";
  event.reason = "DrainDeadlineMissed";
  event.note = std::string(5000, 'x');
  event.event_time = clock_.now;
  EXPECT_TRUE(absl::IsNotFound(api_.PatchEventSeries(event.key, 2, clock_.now)));
  EXPECT_TRUE(api_.CreateEvent(event).ok()) << api_.CreateEvent(event);
  EXPECT_TRUE(api_.PatchEventSeries(event.key, 2, clock_.now).ok());
}

}  // namespace
}  // namespace kube
