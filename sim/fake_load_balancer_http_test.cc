#include "sim/fake_load_balancer_http.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kDrain[] = R"({"weight":1,"backup":false,"drain":true,"offline":false})";
constexpr char kLb[] = "/20170115/loadBalancers/ocid1.lb";

class ManualClock : public base::Clock {
 public:
  absl::Time Now() override { return now_; }
  void SleepFor(absl::Duration duration) override { now_ += duration; }

 private:
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
};

class FakeLoadBalancerHttpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(core_
                    .AddLoadBalancer(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.1:80"}}}),
                                     clock_.Now())
                    .ok());
  }

  absl::StatusOr<http::Response> Send(const std::string& method, const std::string& path,
                                      const std::string& body = "", http::Headers headers = {}) {
    return transport_.Send(
        {.method = method, .target = kLb + path, .headers = headers, .body = body});
  }
  http::Response Get(const std::string& path) { return *Send("GET", path); }

  ManualClock clock_;
  FakeLoadBalancer core_;
  FakeLoadBalancerHttp http_{core_};
  InMemoryTransport transport_{http_, clock_, "us"};
};

TEST_F(FakeLoadBalancerHttpTest, ReadsCarryTheEtagOfTheWholeLoadBalancer) {
  for (const char* path : {"", "/health", "/backendSets/bs_1", "/backendSets/bs_1/health",
                           "/backendSets/bs_1/backends/10.0.0.1:80",
                           "/backendSets/bs_1/backends/10.0.0.1%3A80/health"}) {
    const http::Response response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(http::FindHeader(response.headers, "etag"), core_.Etag("ocid1.lb")) << path;
    EXPECT_EQ(http::FindHeader(response.headers, "content-type"), "application/json");
    EXPECT_EQ(http::FindHeader(response.headers, "date"), "Fri, 15 Jan 2027 08:00:00 GMT");
  }
}

TEST_F(FakeLoadBalancerHttpTest, AWriteIsA204WithAWorkRequestAndNothingElse) {
  const http::Response response =
      *Send("PUT", "/backendSets/bs_1/backends/10.0.0.1%3A80", kDrain,
            {{"If-Match", core_.Etag("ocid1.lb")}, {"opc-request-id", "ours-1"}});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(http::FindHeader(response.headers, "etag"), "");
  EXPECT_EQ(http::FindHeader(response.headers, "opc-request-id"), "ours-1");
  const std::string id(http::FindHeader(response.headers, "opc-work-request-id"));
  const http::Response work =
      *transport_.Send({.method = "GET",
                        .target = "/20170115/loadBalancerWorkRequests/" + id,
                        .headers = {},
                        .body = ""});
  EXPECT_THAT(work.body, HasSubstr(R"("lifecycleState":"SUCCEEDED")"));
  EXPECT_EQ(core_.writes().back().client, "us");
  EXPECT_EQ(core_.writes().back().request_id, "ours-1");
}

TEST_F(FakeLoadBalancerHttpTest, ErrorsHaveTheApisForm) {
  const http::Response stale =
      *Send("PUT", "/backendSets/bs_1/backends/10.0.0.1:80", kDrain, {{"if-match", "stale"}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_THAT(stale.body, HasSubstr(R"({"code":"NoEtagMatch","message":")"));
  EXPECT_EQ(Get("/backendSets/bs_9").status, 404);
  EXPECT_EQ(Get("/nonsense").status, 404);
  EXPECT_EQ(Send("DELETE", "")->status, 405);
  EXPECT_EQ(Get("/workRequests?limit=x").status, 400);
  EXPECT_EQ(transport_.Send({.method = "GET", .target = "/", .headers = {}, .body = ""})->status,
            404);
}

TEST_F(FakeLoadBalancerHttpTest, PagesTravelInTheirHeader) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Send("PUT", "/backendSets/bs_1/backends/10.0.0.1:80", kDrain)->status, 204);
  }
  const http::Response first = Get("/workRequests?limit=2");
  const std::string page(http::FindHeader(first.headers, "opc-next-page"));
  ASSERT_FALSE(page.empty());
  const http::Response second = Get("/workRequests?limit=2&page=" + page);
  EXPECT_EQ(http::FindHeader(second.headers, "opc-next-page"), "");
  EXPECT_THAT(second.body, HasSubstr("example000001"));
}

TEST_F(FakeLoadBalancerHttpTest, RemembersEveryRequestAndCountsAnswers) {
  Get("");
  Send("PUT", "/backendSets/bs_1/backends/10.0.0.1:80", kDrain, {{"if-match", "stale"}}).value();
  InMemoryTransport stranger(http_, clock_, "");
  EXPECT_EQ(stranger.Send({.method = "GET", .target = kLb, .headers = {}, .body = ""})->status,
            401);
  ASSERT_EQ(http_.requests().size(), 3u);
  EXPECT_EQ(http_.requests()[1].request.method, "PUT");
  EXPECT_EQ(http_.requests()[1].request.body, kDrain);
  EXPECT_EQ(http_.requests()[1].status, 412);
  EXPECT_EQ(http_.requests()[2].client, "");
  EXPECT_THAT(http_.answers(), ElementsAre(Pair(Pair("", 401), 1), Pair(Pair("us", 200), 1),
                                           Pair(Pair("us", 412), 1)));
}

TEST_F(FakeLoadBalancerHttpTest, ASignedClientIsKnownByItsKey) {
  const KeyPair key = MakeKeyPair();
  ASSERT_TRUE(http_.keys().AddKey("id", "controller", key.public_key_pem).ok());
  InMemoryTransport transport(http_, clock_, "");
  http::Request request{.method = "PUT",
                        .target = std::string(kLb) + "/backendSets/bs_1/backends/10.0.0.1%3A80",
                        .headers = {},
                        .body = kDrain};
  SignRequest(key, "id", InMemoryTransport::kHost, clock_.Now(), request);
  EXPECT_EQ(transport.Send(request)->status, 204);
  EXPECT_EQ(http_.requests().back().client, "controller");
}

TEST_F(FakeLoadBalancerHttpTest, FailsTheCallsItIsToldToFail) {
  http_.faults().Add({.matches = [](const RequestRecord& r) { return r.request.method == "GET"; },
                      .skip = 1,
                      .times = 2,
                      .answer = ErrorResponse(503, "ServiceUnavailable")});
  EXPECT_EQ(Get("").status, 200);
  EXPECT_EQ(Get("").status, 503);
  EXPECT_EQ(Get("").status, 503);
  EXPECT_EQ(Get("").status, 200);
}

TEST_F(FakeLoadBalancerHttpTest, LosesAReplyAfterCarryingTheRequestOut) {
  http_.faults().Add({.damage = Damage::kLoseReply});
  EXPECT_EQ(Send("PUT", "/backendSets/bs_1/backends/10.0.0.1:80", kDrain).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(core_.writes().size(), 1u);
}

TEST_F(FakeLoadBalancerHttpTest, ShowsThrottlingHtmlAndTruncatedJson) {
  http_.faults().Add({.answer = TooManyRequests(absl::Seconds(7))});
  http_.faults().Add({.answer = HtmlError(502, 200 << 10)});
  http_.faults().Add({.damage = Damage::kTruncateJson});
  const http::Response throttled = Get("");
  EXPECT_EQ(throttled.status, 429);
  EXPECT_EQ(http::FindHeader(throttled.headers, "retry-after"), "7");
  const http::Response html = Get("");
  EXPECT_EQ(html.status, 502);
  EXPECT_GE(html.body.size(), 200u << 10);
  const http::Response truncated = Get("");
  EXPECT_EQ(truncated.status, 200);
  EXPECT_EQ(truncated.body.size(), Get("").body.size() / 2);
}

TEST_F(FakeLoadBalancerHttpTest, SleepsADelayAndGivesUpAtTheTimeout) {
  const absl::Time start = clock_.Now();
  http_.faults().Add({.times = 2, .delay = absl::Seconds(15)});
  EXPECT_EQ(Get("").status, 200);
  EXPECT_EQ(clock_.Now(), start + absl::Seconds(15));
  EXPECT_EQ(transport_
                .Send({.method = "GET",
                       .target = kLb,
                       .headers = {},
                       .body = "",
                       .timeout = absl::Seconds(5)})
                .status()
                .code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(clock_.Now(), start + absl::Seconds(20));
}

}  // namespace
}  // namespace sim
