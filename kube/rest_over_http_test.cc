// RestKubeApi over real connections on the loopback interface.
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "kube/recorded.h"
#include "kube/reflector.h"
#include "kube/rest_kube_api.h"
#include "kube/store.h"
#include "sim/http_server.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

class RestOverHttpTest : public ::testing::Test {
 protected:
  // `handler` is asked for everything that is sent.
  void Serve(sim::Handler handler) {
    auto server = sim::HttpServer::Start(std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    http::TransportOptions options;
    options.base_url = server_->url();
    auto calls = http::MakeCpprestTransport(options);
    auto watches = http::MakeCpprestTransport(options);
    ASSERT_TRUE(calls.ok() && watches.ok()) << calls.status();
    api_ = std::make_unique<RestKubeApi>(*std::move(calls), *std::move(watches), nullptr);
  }

  static http::Response Answer(int status, std::string body) {
    http::Response response;
    response.status = status;
    response.headers = {{"Content-Type", "application/json"}};
    response.body = std::move(body);
    return response;
  }

  std::unique_ptr<sim::HttpServer> server_;
  std::unique_ptr<RestKubeApi> api_;
};

TEST_F(RestOverHttpTest, FollowsPodsThroughListAndWatch) {
  const Recorded list = ReadRecorded("pods-list-metadata");
  const Recorded watch = ReadRecorded("pods-watch-metadata");
  std::string stream;
  for (const std::string& line : watch.lines) absl::StrAppend(&stream, line, "\n");
  Serve([&](const http::Request& request) -> sim::Answer {
    if (!absl::StrContains(request.target, "watch=1")) return Answer(200, list.body);
    EXPECT_THAT(request.target, HasSubstr("resourceVersion=884"));
    sim::Answer answer = Answer(200, "");
    answer.stream = [&](sim::StreamWriter& writer) {
      for (size_t at = 0; at < stream.size(); at += 1000) {
        writer.Write(absl::string_view(stream).substr(at, 1000));
      }
    };
    return answer;
  });
  base::Random random(1);
  ClusterStore store(base::RealClock());
  const auto sink = store.MakeSink(Resource::kPods, "fx");
  Reflector reflector({Resource::kPods, "fx"}, *sink, random);
  absl::Time now = base::RealClock().Now();
  reflector.OnPage(api_->List(reflector.Next(now).list), now);
  EXPECT_EQ(store.PodCount(), 3u) << reflector.last_error();
  const absl::Status end = api_->Watch(
      reflector.Next(now).watch,
      [&](absl::string_view bytes) { return reflector.OnBytes(bytes, now); }, nullptr);
  EXPECT_TRUE(end.ok()) << end;
  reflector.OnWatchEnd(end, now);
  EXPECT_EQ(store.PodCount(), 2u);
  EXPECT_EQ(reflector.Next(now).watch.resource_version, "919");
}

TEST_F(RestOverHttpTest, EndsAWatchFromAnotherThread) {
  Serve([](const http::Request&) -> sim::Answer {
    sim::Answer answer = Answer(200, "");
    answer.stream = [](sim::StreamWriter& writer) {
      writer.Write("{}\n");
      writer.WaitUntilClosed(absl::Minutes(5));
    };
    return answer;
  });
  auto cancellation = std::make_shared<http::Cancellation>();
  absl::Notification first_bytes;
  std::thread other([&] {
    first_bytes.WaitForNotification();
    cancellation->Cancel();
  });
  const absl::Status end = api_->Watch(
      {},
      [&](absl::string_view) {
        if (!first_bytes.HasBeenNotified()) first_bytes.Notify();
        return absl::OkStatus();
      },
      cancellation);
  other.join();
  EXPECT_TRUE(absl::IsCancelled(end)) << end;
}

TEST_F(RestOverHttpTest, TellsABrokenWatchFromOneThatEnded) {
  Serve([](const http::Request&) -> sim::Answer {
    sim::Answer answer = Answer(200, "");
    answer.stream = [](sim::StreamWriter& writer) {
      writer.Write("{\"type\":");
      writer.Cut();
    };
    return answer;
  });
  std::string received;
  const absl::Status end = api_->Watch(
      {},
      [&](absl::string_view bytes) {
        received.append(bytes.data(), bytes.size());
        return absl::OkStatus();
      },
      nullptr);
  EXPECT_FALSE(end.ok());
  EXPECT_FALSE(absl::IsCancelled(end)) << end;
  EXPECT_EQ(received, "{\"type\":");
}

TEST_F(RestOverHttpTest, GivesUpASilentWatch) {
  Serve([](const http::Request&) -> sim::Answer {
    sim::Answer answer = Answer(200, "");
    answer.stream = [](sim::StreamWriter& writer) { writer.WaitUntilClosed(absl::Minutes(5)); };
    return answer;
  });
  WatchRequest watch;
  watch.silence = absl::Milliseconds(100);
  const absl::Status end = api_->Watch(
      watch, [](absl::string_view) { return absl::OkStatus(); }, nullptr);
  EXPECT_TRUE(absl::IsDeadlineExceeded(end)) << end;
}

TEST_F(RestOverHttpTest, SurvivesAHugeErrorBody) {
  Serve(
      [](const http::Request&) -> sim::Answer { return Answer(503, std::string(200 << 10, 'x')); });
  const absl::Status list = api_->List({}).status();
  EXPECT_TRUE(absl::IsUnavailable(list)) << list;
  EXPECT_LT(list.message().size(), 400u);
  const absl::Status watch = api_->Watch(
      {}, [](absl::string_view) { return absl::OkStatus(); }, nullptr);
  EXPECT_TRUE(absl::IsUnavailable(watch)) << watch;
  EXPECT_LT(watch.message().size(), 400u);
}

TEST_F(RestOverHttpTest, NamesTheServerThatCannotBeReached) {
  Serve([](const http::Request&) -> sim::Answer { return Answer(200, "{}"); });
  server_->Stop();
  const absl::Status status = api_->GetPod({"shop", "web-1"}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("get pods shop/web-1: "));
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace kube
