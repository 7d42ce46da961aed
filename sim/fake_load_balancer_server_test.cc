#include "sim/fake_load_balancer_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sends `request` and returns all that comes until the server closes.
std::string Converse(int port, const std::string& request) {
  boost::asio::ip::tcp::iostream stream("127.0.0.1", absl::StrCat(port));
  stream << request << std::flush;
  std::stringstream answer;
  answer << stream.rdbuf();
  return answer.str();
}

std::string OnTheWire(const http::Request& request, const std::string& host) {
  std::string text = absl::StrCat(request.method, " ", request.target, " HTTP/1.1\r\nHost: ", host,
                                  "\r\nConnection: close\r\n");
  for (const auto& [name, value] : request.headers)
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  if (!request.body.empty()) {
    absl::StrAppend(&text, "Content-Length: ", request.body.size(), "\r\n");
  }
  return absl::StrCat(text, "\r\n", request.body);
}

class FakeLoadBalancerServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = FakeLoadBalancerServer::Start({}, base::RealClock());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
      EXPECT_TRUE(
          core.AddLoadBalancer(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.1:80"}}}),
                               base::RealClock().Now())
              .ok());
      EXPECT_TRUE(http.keys().AddKey("id", "controller", key_.public_key_pem).ok());
    });
  }

  std::string Send(http::Request request) {
    const std::string host = absl::StrCat("127.0.0.1:", server_->port());
    SignRequest(key_, "id", host, base::RealClock().Now(), request);
    return Converse(server_->port(), OnTheWire(request, host));
  }

  const KeyPair key_ = MakeKeyPair();
  std::unique_ptr<FakeLoadBalancerServer> server_;
};

TEST_F(FakeLoadBalancerServerTest, AnswersSignedRequestsOnASocket) {
  EXPECT_THAT(Send({.method = "GET",
                    .target = "/20170115/loadBalancers/ocid1.lb",
                    .headers = {},
                    .body = ""}),
              HasSubstr(R"("displayName":"k8s-default")"));
  const std::string written =
      Send({.method = "PUT",
            .target = "/20170115/loadBalancers/ocid1.lb/backendSets/bs_1/backends/10.0.0.1%3A80",
            .headers = {},
            .body = R"({"weight":1,"backup":false,"drain":true,"offline":false})"});
  EXPECT_THAT(written, StartsWith("HTTP/1.1 204"));
  EXPECT_THAT(written, HasSubstr("opc-work-request-id: ocid1"));
  server_->With([](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    EXPECT_EQ(core.writes().size(), 1u);
    EXPECT_EQ(http.requests().back().client, "controller");
  });
}

TEST_F(FakeLoadBalancerServerTest, RefusesUnsignedRequests) {
  EXPECT_THAT(Converse(server_->port(),
                       "GET /20170115/loadBalancers/ocid1.lb HTTP/1.1\r\nHost: x\r\n"
                       "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 401"));
}

TEST_F(FakeLoadBalancerServerTest, ClosesTheConnectionInsteadOfAReplyThatIsLost) {
  server_->With([](FakeLoadBalancer&, FakeLoadBalancerHttp& http) {
    http.faults().Add({.damage = Damage::kLoseReply});
  });
  EXPECT_EQ(Send({.method = "GET",
                  .target = "/20170115/loadBalancers/ocid1.lb",
                  .headers = {},
                  .body = ""}),
            "");
}

}  // namespace
}  // namespace sim
