// The fake cluster through the client of the product, in virtual time.
#include "sim/kube_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/rest_kube_api.h"
#include "sim/kube_test_world.h"

namespace sim {
namespace {

// Of a KubeTestWorld; sleeping lets the world go on.
class WorldClock : public base::Clock {
 public:
  explicit WorldClock(KubeTestWorld& world) : world_(world) {}
  absl::Time Now() override { return world_.now; }
  void SleepFor(absl::Duration duration) override {
    if (duration > absl::ZeroDuration()) world_.RunFor(duration);
  }

 private:
  KubeTestWorld& world_;
};

constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  publishNotReadyAddresses: true
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}]
)";
constexpr char kPod[] = R"(
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  labels: {app: web}
spec:
  containers: [{name: c, image: x, ports: [{name: http, containerPort: 8080}]}]
)";

class KubeTransportTest : public testing::Test {
 protected:
  KubeTransportTest() {
    world_.Apply(kService);
    world_.Apply(kPod);
    world_.RunFor(absl::Seconds(10));
  }

  KubeTestWorld world_;
  WorldClock clock_{world_};
  absl::Time end_ = world_.now + absl::Minutes(30);
  std::shared_ptr<KubeTransport> transport_ =
      std::make_shared<KubeTransport>(world_.server, clock_, [this] {
        const absl::Time next = world_.controllers.Step(world_.now);
        if (next > end_) return false;
        world_.now = next;
        return true;
      });
  kube::RestKubeApi api_{transport_, transport_, nullptr};
};

TEST_F(KubeTransportTest, ClientReadsAndWritesWhatItKnows) {
  const auto pod = api_.GetPod({"shop", "web"});
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_EQ(pod->phase, "Running");
  EXPECT_EQ(pod->pod_ips, std::vector<std::string>{"10.244.1.2"});
  const auto endpoints = api_.GetEndpoints({"shop", "web"});
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  ASSERT_EQ(endpoints->subsets.size(), 1u);
  EXPECT_EQ(endpoints->subsets[0].addresses[0].target_name, "web");

  auto stored = api_.PutConfigMap({{"shop", "ledger"}, "", {{"a", "1"}}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  const kube::ConfigMap stale = *stored;
  stored->data["a"] = "2";
  EXPECT_TRUE(api_.PutConfigMap(*stored).ok());
  EXPECT_EQ(api_.PutConfigMap(stale).status().code(), absl::StatusCode::kAborted);

  const kube::Event event{.key = {"shop", "e"},
                          .regarding = {"v1", "Service", {"shop", "web"}, ""},
                          .type = "Normal",
                          .reason = "BackendDraining",
                          .action = "Drain",
                          .note = "drain requested",
                          .event_time = world_.now};
  EXPECT_TRUE(api_.CreateEvent(event).ok()) << api_.CreateEvent(event);
  EXPECT_EQ(api_.CreateEvent(event).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(api_.PatchEventSeries(event.key, 2, world_.now).ok());
}

TEST_F(KubeTransportTest, BlockedWatchLetsTheWorldGoOn) {
  world_.Send("DELETE", "/api/v1/namespaces/shop/pods/web");
  std::string all;
  const absl::Status status = api_.Watch(
      {.resource = kube::Resource::kPods, .ns = "shop", .timeout = absl::Minutes(5)},
      [&](absl::string_view bytes) {
        absl::StrAppend(&all, bytes);
        return absl::OkStatus();
      },
      std::make_shared<http::Cancellation>());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(absl::StrContains(all, "ADDED"));
  EXPECT_TRUE(absl::StrContains(all, "DELETED"));
  EXPECT_TRUE(absl::StrContains(all, "BOOKMARK"));
}

TEST_F(KubeTransportTest, StreamEndsAsItsServerDoes) {
  const kube::WatchRequest watch{.resource = kube::Resource::kPods, .ns = "shop"};
  const auto run = [&] {
    return api_.Watch(
        watch, [](absl::string_view) { return absl::OkStatus(); },
        std::make_shared<http::Cancellation>());
  };
  world_.server.faults().Add(KubeFault{.verb = "watch", .status = 403});
  EXPECT_EQ(run().code(), absl::StatusCode::kPermissionDenied);
  world_.server.faults().Add(KubeFault{.verb = "watch", .kind = KubeFault::Kind::kLoseReply});
  EXPECT_EQ(run().code(), absl::StatusCode::kDeadlineExceeded);
  world_.server.faults().Add(
      KubeFault{.verb = "watch", .kind = KubeFault::Kind::kDelay, .delay = absl::Minutes(10)});
  EXPECT_EQ(run().code(), absl::StatusCode::kDeadlineExceeded);
  end_ = world_.now;
  EXPECT_EQ(run().code(), absl::StatusCode::kCancelled);
}

class Collector : public http::StreamHandler {
 public:
  absl::Status OnHead(int status, const http::Headers&) override {
    status_ = status;
    return absl::OkStatus();
  }
  absl::Status OnData(absl::string_view bytes) override {
    absl::StrAppend(&all_, bytes);
    return absl::OkStatus();
  }
  int status_ = 0;
  std::string all_;
};

TEST_F(KubeTransportTest, ManyStreamsRunOnOneThread) {
  Collector collectors[3];
  std::vector<absl::Status> ends;
  for (Collector& collector : collectors) {
    transport_->OpenStream({.method = "GET",
                            .target = "/api/v1/pods?watch=1&timeoutSeconds=60",
                            .headers = {},
                            .body = "",
                            .timeout = absl::Minutes(2)},
                           collector, [&](const absl::Status& end) { ends.push_back(end); });
  }
  EXPECT_TRUE(transport_->Deliver());
  EXPECT_FALSE(transport_->Deliver());
  for (Collector& collector : collectors) {
    EXPECT_EQ(collector.status_, 200);
    EXPECT_TRUE(absl::StrContains(collector.all_, "ADDED"));
  }
  transport_->CloseStream(1);
  world_.RunFor(absl::Seconds(60));
  EXPECT_TRUE(transport_->Deliver());
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_TRUE(ends[0].ok()) << ends[0];
  EXPECT_EQ(world_.server.open_watches(), 0u);
}

TEST_F(KubeTransportTest, SilentStreamIsGivenUp) {
  Collector collector;
  absl::Status end;
  transport_->OpenStream({.method = "GET",
                          .target = "/api/v1/pods?watch=1&timeoutSeconds=600",
                          .headers = {},
                          .body = "",
                          .timeout = absl::Seconds(90)},
                         collector, [&](const absl::Status& status) { end = status; });
  transport_->Deliver();
  EXPECT_EQ(transport_->NextSilence(), world_.now + absl::Seconds(90));
  world_.RunFor(absl::Seconds(90));
  transport_->Deliver();
  EXPECT_EQ(end.code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace sim
