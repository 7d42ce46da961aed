// Two replicas with a drain barrier each: the one that stands by asks the one that leads.
#include "controller/barrier_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/barrier_peer_for_test.h"
#include "controller/barrier_server.h"

namespace controller {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using tcp = boost::asio::ip::tcp;

constexpr char kTarget[] = "/v1/drained/shop/web-0?uid=u-0&timeout=";

std::string Ask(const std::string& timeout) {
  return absl::StrCat("GET ", kTarget, timeout, " HTTP/1.1\r\nHost: barrier\r\n\r\n");
}

// Pod shop/web-0 ends; its one load balancer has said nothing yet.
struct Replica {
  void Serve(std::function<std::string()> leader) {
    BarrierOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    options.leader = std::move(leader);
    auto started = BarrierServer::Start(board, base::RealClock(), options);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", server->port()); }

  void Report(drain::DrainProgress progress) {
    drain::Input input;
    input.now = base::RealClock().Now();
    input.load_balancer = oci::Ocid("lb");
    input.read.emplace();
    drain::Plan plan;
    drain::Acknowledgement acknowledgement;
    acknowledgement.key = {oci::BackendSetName("bs_x"), oci::BackendName("10.0.0.1:80")};
    acknowledgement.pod_uid = "u-0";
    acknowledgement.progress = progress;
    plan.acknowledgements.push_back(acknowledgement);
    board.Report(input, plan);
  }

  void AwaitWaiters(size_t count) {
    while (board.Waiters(absl::InfiniteFuture()).size() != count) {
      base::RealClock().SleepFor(absl::Milliseconds(5));
    }
  }

  DrainBoard board{{[](const kube::ObjectKey& key) {
                      kube::PodMetadata pod;
                      pod.key = key;
                      pod.uid = "u-0";
                      pod.deletion_timestamp = base::RealClock().Now() + absl::Hours(1);
                      return std::optional<kube::PodMetadata>(pod);
                    },
                    [](const kube::ObjectKey&) { return std::set<oci::Ocid>{oci::Ocid("lb")}; },
                    [](const oci::Ocid&) {}}};
  std::unique_ptr<BarrierServer> server;
};

class BarrierRelayTest : public testing::Test {
 protected:
  void ServeBoth() {
    leader_.Serve(nullptr);
    standby_.Serve([this] { return leader_.address(); });
  }

  std::string AskStandby(const std::string& timeout) {
    return Peer(standby_.server->port(), Ask(timeout)).ReadAll();
  }

  Replica leader_, standby_;
};

TEST_F(BarrierRelayTest, TheLeaderAnswersWhoeverIsAsked) {
  ServeBoth();
  leader_.Report(drain::DrainProgress::kDrained);
  const std::string answer = AskStandby("20s");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("{\"outcome\":\"Drained\",\"sets\":[{\"loadBalancer\":\"lb\""));
  EXPECT_EQ(answer, Peer(leader_.server->port(), Ask("20s")).ReadAll());
}

TEST_F(BarrierRelayTest, TheLeaderKnowsWhoWaitsAtAStandby) {
  ServeBoth();
  leader_.Report(drain::DrainProgress::kWaiting);
  Peer peer(standby_.server->port(), Ask("60s"));
  leader_.AwaitWaiters(1);
  EXPECT_TRUE(standby_.board.Waiters(base::RealClock().Now()).empty());
  leader_.Report(drain::DrainProgress::kDrained);
  EXPECT_THAT(peer.ReadAll(), HasSubstr("\"outcome\":\"Drained\""));
}

TEST_F(BarrierRelayTest, TheLeaderLearnsThatAWaiterHasGone) {
  ServeBoth();
  leader_.Report(drain::DrainProgress::kWaiting);
  Peer peer(standby_.server->port(), Ask("60s"));
  leader_.AwaitWaiters(1);
  peer.Close();
  leader_.AwaitWaiters(0);
}

TEST_F(BarrierRelayTest, ALeaderThatCannotBeReachedLeavesTheAnswerToTheStandby) {
  std::string gone;
  {
    Replica former;
    former.Serve(nullptr);
    gone = former.address();
  }
  standby_.Serve([&] { return gone; });
  EXPECT_THAT(AskStandby("0s"), StartsWith("HTTP/1.1 202 "));
  standby_.Report(drain::DrainProgress::kDrained);
  EXPECT_THAT(AskStandby("20s"), HasSubstr("Drained")) << "it leads by now";
}

TEST_F(BarrierRelayTest, ALeaderThatEndsWhileItIsAskedLeavesTheAnswerToTheStandby) {
  ServeBoth();
  leader_.Report(drain::DrainProgress::kWaiting);
  Peer peer(standby_.server->port(), Ask("60s"));
  leader_.AwaitWaiters(1);
  leader_.server.reset();
  standby_.AwaitWaiters(1);
  standby_.Report(drain::DrainProgress::kDrained);
  EXPECT_THAT(peer.ReadAll(), HasSubstr("Drained"));
}

TEST_F(BarrierRelayTest, AQuestionIsPassedOnOnce) {
  leader_.Serve([this] { return standby_.address(); });
  standby_.Serve([this] { return leader_.address(); });
  EXPECT_THAT(AskStandby("0s"), StartsWith("HTTP/1.1 202 "));
}

TEST_F(BarrierRelayTest, WhatIsNoAddressIsNotAsked) {
  for (const char* address : {"", "leader", "10.0.0.7", "10.0.0.7:0", "10.0.0.7:99999", "::1:80"}) {
    Replica replica;
    replica.Serve([&] { return address; });
    EXPECT_THAT(Peer(replica.server->port(), Ask("0s")).ReadAll(), StartsWith("HTTP/1.1 202 "));
  }
}

// Answers one connection with `bytes`.
class Impostor {
 public:
  explicit Impostor(std::string bytes)
      : acceptor_(PeerContext(), {boost::asio::ip::address_v4::loopback(), 0}),
        thread_([this, bytes = std::move(bytes)] {
          tcp::socket socket = acceptor_.accept();
          std::string head;
          boost::system::error_code ignored;
          boost::asio::read_until(socket, boost::asio::dynamic_buffer(head), "\r\n\r\n", ignored);
          boost::asio::write(socket, boost::asio::buffer(bytes), ignored);
        }) {}
  ~Impostor() { thread_.join(); }

  std::string address() const {
    return absl::StrCat("127.0.0.1:", acceptor_.local_endpoint().port());
  }

 private:
  tcp::acceptor acceptor_;
  std::thread thread_;
};

TEST_F(BarrierRelayTest, NonsenseOfALeaderIsNoAnswer) {
  for (const std::string& bytes :
       {std::string("SSH-2.0-OpenSSH\r\n\r\n"), std::string(),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"outcome\""),
        std::string("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"),
        std::string("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n",
                     std::string(300'000, 'x'))}) {
    const Impostor impostor(bytes);
    Replica replica;
    replica.Serve([&] { return impostor.address(); });
    EXPECT_THAT(Peer(replica.server->port(), Ask("0s")).ReadAll(), StartsWith("HTTP/1.1 202 "))
        << bytes.substr(0, 60);
  }
}

TEST(ParseBarrierAddress, TakesBothFamilies) {
  EXPECT_EQ(ParseBarrierAddress("10.0.0.7:8090")->port(), 8090);
  EXPECT_EQ(ParseBarrierAddress("[fd00::7]:8090")->address().to_string(), "fd00::7");
  EXPECT_THAT(std::string(ParseBarrierAddress("leader:80").status().message()),
              HasSubstr("\"leader:80\" is no address"));
}

}  // namespace
}  // namespace controller
