// The drain barrier over real HTTP.
#include "controller/barrier_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/barrier_peer_for_test.h"
#include "controller/barrier_request.h"

namespace controller {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Get(const std::string& target) {
  return absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: barrier\r\n\r\n");
}

std::string Ask(const std::string& pod, const std::string& timeout = "20s") {
  return Get(absl::StrCat("/v1/drained/shop/", pod, "?uid=u-", pod, "&timeout=", timeout));
}

// Every Pod of namespace shop is there, has the UID "u-" and its name, and ends.
class BarrierServerTest : public testing::Test {
 protected:
  void Serve(BarrierOptions options = {}) {
    options.address = "127.0.0.1";
    options.port = 0;
    auto server = BarrierServer::Start(board_, base::RealClock(), options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // The load balancer's last pass: all of the Pods are so far.
  void Report(const std::vector<std::string>& pods, drain::DrainProgress progress) {
    drain::Input input;
    input.now = base::RealClock().Now();
    input.load_balancer = oci::Ocid("lb");
    input.read.emplace();
    input.read->at = input.now;
    input.work_requests.emplace();
    input.work_requests->at = input.now;
    drain::Plan plan;
    for (const std::string& pod : pods) {
      drain::Acknowledgement acknowledgement;
      acknowledgement.key = {oci::BackendSetName("bs_x"), oci::BackendName("10.0.0.1:80")};
      acknowledgement.pod_uid = absl::StrCat("u-", pod);
      acknowledgement.progress = progress;
      plan.acknowledgements.push_back(acknowledgement);
    }
    board_.Report(input, plan);
  }

  void AwaitWaiters(size_t count) {
    while (board_.Waiters(absl::InfinitePast()).size() < count) {
      base::RealClock().SleepFor(absl::Milliseconds(5));
    }
  }

  std::string Exchange(const std::string& bytes) { return Peer(server_->port(), bytes).ReadAll(); }

  DrainBoard board_{{[](const kube::ObjectKey& key) -> std::optional<kube::PodMetadata> {
                       if (key.ns != "shop") return std::nullopt;
                       kube::PodMetadata pod;
                       pod.key = key;
                       pod.uid = "u-" + key.name;
                       pod.deletion_timestamp = base::RealClock().Now() + absl::Hours(1);
                       return pod;
                     },
                     [](const kube::ObjectKey&) { return std::set<oci::Ocid>{oci::Ocid("lb")}; },
                     [](const oci::Ocid&) {}}};
  std::unique_ptr<BarrierServer> server_;
};

TEST_F(BarrierServerTest, AnswersAtOnceWhatIsKnown) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kDrained);
  const std::string answer = Exchange(Ask("web-0"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("{\"outcome\":\"Drained\",\"sets\":[{\"loadBalancer\":\"lb\","
                                "\"set\":\"bs_x\",\"backend\":\"10.0.0.1:80\","
                                "\"progress\":\"drained\"}]}"));
  EXPECT_TRUE(board_.Waiters(base::RealClock().Now()).empty());
}

TEST_F(BarrierServerTest, HoldsTheAnswerUntilTheDrainIsConfirmed) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  Peer peer(server_->port(), Ask("web-0"));
  AwaitWaiters(1);
  Report({"web-0"}, drain::DrainProgress::kDrained);
  EXPECT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
}

TEST_F(BarrierServerTest, SaysWaitingWhenTheTimeoutEnds) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  const std::string answer = Exchange(Ask("web-0", "20ms"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 202 Accepted\r\n"));
  EXPECT_THAT(answer, HasSubstr("\"outcome\":\"Waiting\""));
  EXPECT_THAT(answer, HasSubstr("\"progress\":\"waiting\""));
}

TEST_F(BarrierServerTest, AConfirmationIsAnsweredFromTheNextLookWhateverItShows) {
  Serve();
  const std::string question = Get("/v1/drained/shop/web-0?uid=u-web-0&timeout=60s&confirm=1");
  for (const auto progress : {drain::DrainProgress::kDrained, drain::DrainProgress::kWaiting}) {
    Report({"web-0"}, drain::DrainProgress::kDrained);
    Peer peer(server_->port(), question);
    AwaitWaiters(1);
    Report({"web-0"}, progress);
    const bool drained = progress == drain::DrainProgress::kDrained;
    EXPECT_THAT(peer.ReadAll(), StartsWith(drained ? "HTTP/1.1 200 " : "HTTP/1.1 202 "));
  }
}

TEST_F(BarrierServerTest, AnUnknownPodIsNotFound) {
  Serve();
  EXPECT_THAT(Exchange(Get("/v1/drained/other/web-0?uid=u-web-0")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Exchange(Get("/v1/drained/shop/web-0?uid=u-1")), HasSubstr("\"Unknown\""));
}

TEST_F(BarrierServerTest, WhatIsNoQuestionIsRefusedAndTheServerLives) {
  Serve();
  const struct {
    std::string bytes;
    const char* status;
  } kCases[] = {
      {Get("/"), "404"},
      {Get("/v1/drained/shop"), "404"},
      {Get("/v1/drained/shop/web-0/more?uid=u"), "404"},
      {Get("/v1/drained/shop/web-0"), "400"},
      {Get("/v1/drained/shop/web-0?uid="), "400"},
      {Get("/v1/drained/shop/..%2f?uid=u"), "400"},
      {Get("/v1/drained/shop/web-0?uid=u&timeout=soon"), "400"},
      {Get("/v1/drained/shop/web-0?uid=u&confirm=perhaps"), "400"},
      {Get("/v1/drained/shop/web-0?uid=" + std::string(300, 'u')), "400"},
      {"POST /v1/drained/shop/web-0 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405"},
      {"GET / HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n", "431"},
      {"nonsense\r\n\r\n", "400"},
      {std::string("\x16\x03\x01\x00\xff\r\n\r\n", 9), "400"},
  };
  for (const auto& item : kCases) {
    EXPECT_THAT(Exchange(item.bytes), StartsWith(absl::StrCat("HTTP/1.1 ", item.status, " ")))
        << item.bytes.substr(0, 80);
  }
  Report({"web-0"}, drain::DrainProgress::kDrained);
  EXPECT_THAT(Exchange(Ask("web-0")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(BarrierServerTest, AHeadThatDoesNotArriveEndsTheConnection) {
  BarrierOptions options;
  options.patience = absl::Milliseconds(50);
  Serve(options);
  EXPECT_EQ(Exchange("GET /v1/drained/shop/web-0?uid=u-web-0 HTTP/1.1\r\nHost:"), "");
}

TEST_F(BarrierServerTest, APeerThatGoesOnSendingIsCutOff) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  EXPECT_EQ(Exchange(Ask("web-0") + std::string(20'000, 'x')), "");
}

TEST_F(BarrierServerTest, APeerThatLeavesWaitsNoMore) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  Peer peer(server_->port(), Ask("web-0"));
  AwaitWaiters(1);
  peer.Close();
  while (!board_.Waiters(absl::InfiniteFuture()).empty()) {
    base::RealClock().SleepFor(absl::Milliseconds(5));
  }
}

TEST_F(BarrierServerTest, MoreConnectionsThanAllowedAreClosed) {
  BarrierOptions options;
  options.max_connections = 1;
  Serve(options);
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  Peer first(server_->port(), Ask("web-0"));
  AwaitWaiters(1);
  EXPECT_EQ(Exchange(Ask("web-1")), "");
  Report({"web-0"}, drain::DrainProgress::kDrained);
  EXPECT_THAT(first.ReadAll(), HasSubstr("Drained"));
}

TEST_F(BarrierServerTest, EndsWithConnectionsOpenAndReportsGoingOn) {
  Serve();
  Report({"web-0"}, drain::DrainProgress::kWaiting);
  Peer peer(server_->port(), Ask("web-0"));
  AwaitWaiters(1);
  server_.reset();
  Report({"web-0"}, drain::DrainProgress::kDrained);
  EXPECT_EQ(peer.ReadAll(), "");
}

TEST_F(BarrierServerTest, AnAddressThatIsNoneOrTakenIsRefused) {
  Serve();
  BarrierOptions options;
  options.address = "localhost";
  EXPECT_TRUE(
      absl::IsInvalidArgument(BarrierServer::Start(board_, base::RealClock(), options).status()));
  options.address = "127.0.0.1";
  options.port = static_cast<uint16_t>(server_->port());
  EXPECT_TRUE(
      absl::IsUnavailable(BarrierServer::Start(board_, base::RealClock(), options).status()));
}

TEST_F(BarrierServerTest, FiveThousandPodsWaitAtOnceAndOneMoreIsTurnedAway) {
  const size_t count = DrainBoard::kMaxWaiters;
  if (!MayOpenFiles(2 * count + 2000)) GTEST_SKIP() << "not enough open files are allowed";
  Serve();
  std::vector<std::string> pods;
  for (size_t i = 0; i < count; ++i) pods.push_back(absl::StrCat("web-", i));
  Report(pods, drain::DrainProgress::kWaiting);
  std::list<Peer> peers;
  for (const std::string& pod : pods) peers.emplace_back(server_->port(), Ask(pod, "60s"));
  AwaitWaiters(count);
  EXPECT_THAT(Exchange(Ask("late")), StartsWith("HTTP/1.1 503 "));
  // A pass goes on as if nobody waited.
  Report(pods, drain::DrainProgress::kWaiting);
  Report(pods, drain::DrainProgress::kDrained);
  for (Peer& peer : peers) ASSERT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
  EXPECT_TRUE(board_.Waiters(base::RealClock().Now()).empty());
}

}  // namespace
}  // namespace controller
