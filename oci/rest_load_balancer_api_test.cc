#include "oci/rest_load_balancer_api.h"

#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/codec.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/http_server.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

const Ocid kLoadBalancer("ocid1.loadbalancer.oc1.iad.aaaa");
const BackendSetName kSet("bs_f151df96ee98ff0");
const BackendName kBackend("10.0.0.3:8080");

// Credentials that a test changes under the client's feet.
class TestCredentials : public CredentialsProvider {
 public:
  explicit TestCredentials(Credentials credentials) : credentials_(std::move(credentials)) {}

  absl::StatusOr<Credentials> Get() override {
    if (!get_error.ok()) return get_error;
    return credentials_;
  }
  absl::Status Refresh(const Credentials&) override {
    ++refreshes;
    if (after_refresh.has_value()) credentials_ = *after_refresh;
    return refresh_error;
  }

  std::atomic<int> refreshes = 0;
  std::optional<Credentials> after_refresh;
  absl::Status get_error;
  absl::Status refresh_error;

 private:
  Credentials credentials_;
};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class RestApi : public ::testing::Test {
 protected:
  // A client of whatever listens at `url`.
  std::unique_ptr<LoadBalancerApi> Connect(const std::string& url, RestOptions options = {}) {
    options.authority = http::ParseServerUrl(url)->Authority();
    transport_ = http::MakeCpprestTransport({.base_url = url}).value();
    return MakeRestLoadBalancerApi(*transport_, credentials_, base::RealClock(), options);
  }

  // A server that answers every request with `answer`.
  std::unique_ptr<LoadBalancerApi> ConnectToAnswer(const sim::Answer& answer) {
    server_ = sim::HttpServer::Start([answer](const http::Request&) { return answer; }).value();
    return Connect(server_->url(), {.timeout = absl::Seconds(30)});
  }

  BackendSet RecordedSet() {
    return DecodeLoadBalancer(base::ReadFile("testdata/oci/load-balancer.json").value())
        ->backend_sets.at(kSet);
  }

  static WriteGuard Guard(const Etag& etag) {
    return {.if_match = etag, .retry_token = RetryToken("token-1"), .request_id = "request-1"};
  }

  inline static const sim::KeyPair pair_ = sim::MakeKeyPair();
  TestCredentials credentials_{
      {.key_id = "k", .key = PrivateKey::FromPem(pair_.private_key_pem, "").value()}};
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<sim::HttpServer> server_;
};

// Against the fake load balancer, which verifies every signature.
class RestApiOverFake : public RestApi {
 protected:
  void SetUp() override { Start({}); }

  void Start(sim::FakeLoadBalancerOptions options) {
    fake_ = sim::FakeLoadBalancerServer::Start(options, base::RealClock()).value();
    fake_->With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
      // The fake does not keep a null, which says the same as an absent member.
      const std::string json =
          absl::StrReplaceAll(base::ReadFile("testdata/oci/load-balancer.json").value(),
                              {{"\"maxConnections\": null, ", ""}});
      ASSERT_TRUE(core.AddLoadBalancer(json, base::RealClock().Now()).ok());
      ASSERT_TRUE(http.keys().AddKey("k", "controller", pair_.public_key_pem).ok());
    });
    api_ = Connect(fake_->url());
  }

  void AddFault(sim::RequestFault fault) {
    fake_->With([&](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
      http.faults().Add(std::move(fault));
    });
  }

  std::vector<sim::RequestRecord> Requests() {
    return fake_->With([](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
      return std::vector<sim::RequestRecord>(http.requests().begin(), http.requests().end());
    });
  }

  size_t Writes() {
    return fake_->With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
      return core.writes().size();
    });
  }

  std::unique_ptr<sim::FakeLoadBalancerServer> fake_;
  std::unique_ptr<LoadBalancerApi> api_;
};

TEST_F(RestApiOverFake, ReadsStateAndEtagTogether) {
  const auto read = api_->GetLoadBalancer(kLoadBalancer);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->load_balancer.id, kLoadBalancer);
  EXPECT_THAT(read->load_balancer.backend_sets, SizeIs(2));
  EXPECT_FALSE(read->etag.empty());
}

TEST_F(RestApiOverFake, DrainsOneBackendAndEchoesTheRest) {
  auto read = api_->GetLoadBalancer(kLoadBalancer).value();
  const Backend before = read.load_balancer.backend_sets.at(kSet).backends[0];
  const auto work_request =
      api_->UpdateBackend(kLoadBalancer, kSet, before, {.drain = true}, Guard(read.etag));
  ASSERT_TRUE(work_request.ok()) << work_request.status();
  const auto progress = api_->GetWorkRequest(*work_request);
  ASSERT_TRUE(progress.ok()) << progress.status();
  EXPECT_EQ(progress->state, WorkRequestState::kSucceeded);
  EXPECT_EQ(progress->type, "UpdateBackend");
  const auto after = api_->GetLoadBalancer(kLoadBalancer).value();
  const Backend& drained = after.load_balancer.backend_sets.at(kSet).backends[0];
  EXPECT_TRUE(drained.drain);
  EXPECT_EQ(drained.max_connections, before.max_connections);
  EXPECT_NE(after.etag, read.etag);
}

TEST_F(RestApiOverFake, WritesAWholeSetThatDiffersOnlyInTheChange) {
  const auto read = api_->GetLoadBalancer(kLoadBalancer).value();
  const BackendSet& set = read.load_balancer.backend_sets.at(kSet);
  BackendSetChange change;
  change.flips[kBackend] = {.drain = true};
  change.removals = {BackendName("10.0.0.5:8080")};
  Backend added;
  added.name = MakeBackendName("10.0.0.9", 8080);
  added.ip_address = "10.0.0.9";
  added.port = 8080;
  change.additions = {added};
  const auto work_request = api_->UpdateBackendSet(kLoadBalancer, set, change, Guard(read.etag));
  ASSERT_TRUE(work_request.ok()) << work_request.status();
  fake_->With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
    ASSERT_EQ(core.writes().size(), 1u);
    const sim::WriteEffect& effect = core.writes()[0].effect;
    EXPECT_THAT(effect.added, ::testing::ElementsAre("10.0.0.9:8080"));
    EXPECT_THAT(effect.removed, ::testing::ElementsAre("10.0.0.5:8080"));
    EXPECT_THAT(effect.drained, ::testing::ElementsAre("10.0.0.3:8080"));
    EXPECT_THAT(effect.changed, ::testing::IsEmpty());
  });
}

TEST_F(RestApiOverFake, SendsWhatTheApiAsksFor) {
  const auto read = api_->GetLoadBalancer(kLoadBalancer).value();
  const Backend& backend = read.load_balancer.backend_sets.at(kSet).backends[0];
  ASSERT_TRUE(
      api_->UpdateBackend(kLoadBalancer, kSet, backend, {.drain = true}, Guard(read.etag)).ok());
  const auto requests = Requests();
  ASSERT_THAT(requests, SizeIs(2));
  const http::Request& get = requests[0].request;
  EXPECT_EQ(get.target, "/20170115/loadBalancers/ocid1.loadbalancer.oc1.iad.aaaa");
  EXPECT_EQ(http::FindHeader(get.headers, "user-agent"), "oci-backend-drain");
  EXPECT_THAT(std::string(http::FindHeader(get.headers, "opc-request-id")),
              MatchesRegex("[0-9a-z]{32}"));
  EXPECT_EQ(http::FindHeader(get.headers, "if-match"), "");
  const http::Request& put = requests[1].request;
  EXPECT_EQ(put.method, "PUT");
  EXPECT_EQ(put.target,
            "/20170115/loadBalancers/ocid1.loadbalancer.oc1.iad.aaaa/backendSets/"
            "bs_f151df96ee98ff0/backends/10.0.0.3:8080");
  EXPECT_EQ(http::FindHeader(put.headers, "if-match"), read.etag.value());
  EXPECT_EQ(http::FindHeader(put.headers, "opc-retry-token"), "token-1");
  EXPECT_EQ(http::FindHeader(put.headers, "opc-request-id"), "request-1");
  EXPECT_EQ(http::FindHeader(put.headers, "content-type"), "application/json");
  EXPECT_EQ(put.body,
            R"({"weight":1,"backup":false,"drain":true,"offline":false,"maxConnections":256})");
  EXPECT_THAT(std::string(http::FindHeader(put.headers, "authorization")),
              AllOf(HasSubstr("Signature version=\"1\",headers=\"date (request-target) host "
                              "content-length content-type x-content-sha256\",keyId=\"k\","),
                    HasSubstr("algorithm=\"rsa-sha256\"")));
}

TEST_F(RestApiOverFake, AWriteWithoutGuardIsNotSent) {
  const BackendSet set = RecordedSet();
  const WriteGuard no_etag = {.if_match = Etag(), .retry_token = RetryToken("t"), .request_id = ""};
  const WriteGuard no_token = {
      .if_match = Etag("e"), .retry_token = RetryToken(), .request_id = ""};
  for (const WriteGuard& guard : {no_etag, no_token}) {
    EXPECT_EQ(api_->UpdateBackend(kLoadBalancer, kSet, set.backends[0], {}, guard).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(api_->UpdateBackendSet(kLoadBalancer, set, {}, guard).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(Requests(), SizeIs(0));
}

TEST_F(RestApiOverFake, AChangeThatDoesNotFitIsNotSent) {
  BackendSetChange change;
  change.removals = {BackendName("10.9.9.9:1")};
  const auto refused =
      api_->UpdateBackendSet(kLoadBalancer, RecordedSet(), change, Guard(Etag("e")));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(refused.status()), HasSubstr("no backend 10.9.9.9:1 to remove"));
  EXPECT_THAT(Requests(), SizeIs(0));
}

TEST_F(RestApiOverFake, AStaleEtagIsAborted) {
  const auto read = api_->GetLoadBalancer(kLoadBalancer).value();
  const Backend& backend = read.load_balancer.backend_sets.at(kSet).backends[0];
  ASSERT_TRUE(
      api_->UpdateBackend(kLoadBalancer, kSet, backend, {.drain = true}, Guard(read.etag)).ok());
  WriteGuard guard = Guard(read.etag);
  guard.retry_token = RetryToken("token-2");
  const auto stale = api_->UpdateBackend(kLoadBalancer, kSet, backend, {.drain = false}, guard);
  EXPECT_EQ(stale.status().code(), absl::StatusCode::kAborted) << stale.status();
}

TEST_F(RestApiOverFake, MissingObjectsAreNotFound) {
  EXPECT_EQ(api_->GetLoadBalancer(Ocid("ocid1.other")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(api_->GetWorkRequest(WorkRequestId("ocid1.other")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(api_->GetBackendSetHealth(kLoadBalancer, BackendSetName("none")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RestApiOverFake, ReadsHealthOfSetsAndBackends) {
  const auto set = api_->GetBackendSetHealth(kLoadBalancer, kSet);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->total_backend_count, 3);
  const auto backend = api_->GetBackendHealth(kLoadBalancer, kSet, kBackend);
  EXPECT_TRUE(backend.ok()) << backend.status();
}

TEST_F(RestApiOverFake, ListsEveryPageOfWorkRequestsNewestFirst) {
  sim::FakeLoadBalancerOptions slow;
  slow.min_service_time = slow.max_service_time = absl::Hours(1);
  Start(slow);
  api_ = Connect(fake_->url(), {.work_requests_per_page = 2});
  for (int i = 0; i < 5; ++i) {
    const absl::Time at = base::RealClock().Now();
    fake_->With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
      const auto no_change = [](rapidjson::Document&) { return sim::ApiError(); };
      ASSERT_TRUE(core.QueueWrite(kLoadBalancer.value(), absl::StrCat("Write", i), "rival",
                                  no_change, at + absl::Seconds(i))
                      .ok());
    });
  }
  const auto list = api_->ListWorkRequests(kLoadBalancer);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_THAT(*list, SizeIs(5));
  EXPECT_EQ(list->front().type, "Write4");
  EXPECT_EQ(list->back().type, "Write0");
  EXPECT_FALSE(list->front().finished());
  EXPECT_THAT(Requests(), SizeIs(3));
}

TEST_F(RestApiOverFake, AnUnknownKeyIsRefreshedOnceAndTheCallSentAgain) {
  const sim::KeyPair old_pair = sim::MakeKeyPair();
  TestCredentials credentials(
      {.key_id = "old", .key = PrivateKey::FromPem(old_pair.private_key_pem, "").value()});
  credentials.after_refresh = credentials_.Get().value();
  auto api =
      MakeRestLoadBalancerApi(*transport_, credentials, base::RealClock(),
                              {.authority = http::ParseServerUrl(fake_->url())->Authority()});
  EXPECT_TRUE(api->GetLoadBalancer(kLoadBalancer).ok());
  EXPECT_EQ(credentials.refreshes, 1);
  EXPECT_THAT(Requests(), SizeIs(2));
}

TEST_F(RestApiOverFake, A401AfterTheRefreshIsUnauthenticated) {
  TestCredentials credentials({.key_id = "stranger", .key = credentials_.Get()->key});
  auto api =
      MakeRestLoadBalancerApi(*transport_, credentials, base::RealClock(),
                              {.authority = http::ParseServerUrl(fake_->url())->Authority()});
  EXPECT_EQ(api->GetLoadBalancer(kLoadBalancer).status().code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Requests(), SizeIs(2));
  credentials.refresh_error = absl::NotFoundError("cannot read /k.pem");
  const auto status = api->GetLoadBalancer(kLoadBalancer).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(status), HasSubstr("credentials were not refreshed: cannot read /k.pem"));
  EXPECT_THAT(Requests(), SizeIs(3));
}

TEST_F(RestApiOverFake, WithoutCredentialsNothingIsSent) {
  credentials_.get_error = absl::DeadlineExceededError("metadata service does not answer");
  // Not DeadlineExceeded: that would say that the write may have happened.
  EXPECT_EQ(api_->GetLoadBalancer(kLoadBalancer).status().code(), absl::StatusCode::kUnavailable);
  credentials_.get_error = absl::NotFoundError("no key");
  const auto status = api_->GetLoadBalancer(kLoadBalancer).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(status), HasSubstr("no credentials: no key"));
  EXPECT_THAT(Requests(), SizeIs(0));
}

TEST_F(RestApiOverFake, ALostReplyIsDeadlineExceededAndTheWriteHappenedOnce) {
  const auto read = api_->GetLoadBalancer(kLoadBalancer).value();
  AddFault({.damage = sim::Damage::kLoseReply});
  const Backend& backend = read.load_balancer.backend_sets.at(kSet).backends[0];
  const auto lost =
      api_->UpdateBackend(kLoadBalancer, kSet, backend, {.drain = true}, Guard(read.etag));
  EXPECT_EQ(lost.status().code(), absl::StatusCode::kDeadlineExceeded) << lost.status();
  EXPECT_EQ(Writes(), 1u);
  EXPECT_THAT(Requests(), SizeIs(2));
}

TEST_F(RestApiOverFake, DamagedAnswersNameTheCall) {
  AddFault({.damage = sim::Damage::kTruncateJson});
  const auto truncated = api_->GetLoadBalancer(kLoadBalancer);
  EXPECT_EQ(truncated.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(truncated.status()),
              AllOf(HasSubstr("GetLoadBalancer " + kLoadBalancer.value() +
                              ": load balancer: JSON "
                              "error at byte ")));
  AddFault({.damage = sim::Damage::kCutBody});
  EXPECT_EQ(api_->GetLoadBalancer(kLoadBalancer).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  AddFault({.answer = sim::HtmlError(502, 200 << 10)});
  const auto html = api_->GetLoadBalancer(kLoadBalancer);
  EXPECT_EQ(html.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(html.status().message().size(), 500u);
  AddFault({.answer = sim::TooManyRequests(absl::Seconds(3))});
  EXPECT_EQ(api_->GetLoadBalancer(kLoadBalancer).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(api_->GetLoadBalancer(kLoadBalancer).ok());
}

TEST_F(RestApi, AnAnswerAboutAnotherLoadBalancerIsRefused) {
  auto api = ConnectToAnswer(http::Response{.status = 200,
                                            .headers = {{"etag", "1"}},
                                            .body = R"({"id":"x","lifecycleState":"ACTIVE"})"});
  EXPECT_EQ(api->GetLoadBalancer(kLoadBalancer).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(api->GetLoadBalancer(Ocid("x")).ok());
}

TEST_F(RestApi, AReadWithoutEtagIsRefused) {
  auto api = ConnectToAnswer(
      http::Response{.status = 200, .body = R"({"id":"x","lifecycleState":"ACTIVE"})"});
  const auto read = api->GetLoadBalancer(Ocid("x"));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(read.status()), HasSubstr("no ETag came"));
}

TEST_F(RestApi, AnAcceptedWriteWithoutWorkRequestMayHaveHappened) {
  auto api = ConnectToAnswer(http::Response{.status = 204});
  EXPECT_EQ(
      api->UpdateBackendSet(kLoadBalancer, RecordedSet(), {}, Guard(Etag("e"))).status().code(),
      absl::StatusCode::kDeadlineExceeded);
}

TEST_F(RestApi, EndlessPagesOfWorkRequestsEnd) {
  std::atomic<int> pages = 0;
  server_ =
      sim::HttpServer::Start([&](const http::Request& request) {
        const bool first = !absl::StrContains(request.target, "&page=next%2F1%3D");
        EXPECT_EQ(first, ++pages == 1) << request.target;
        std::string body = "[";
        for (int i = 0; i < 300; ++i) {
          absl::StrAppend(&body, i == 0 ? "" : ",", R"({"id":"w","lifecycleState":"FAILED"})");
        }
        return http::Response{
            .status = 200, .headers = {{"opc-next-page", "next/1="}}, .body = body + "]"};
      }).value();
  const auto list = Connect(server_->url())->ListWorkRequests(kLoadBalancer);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(*list, SizeIs(1000));
  EXPECT_EQ(pages, 4);
}

TEST_F(RestApi, PathPartsAreEncoded) {
  std::string target;
  server_ = sim::HttpServer::Start([&](const http::Request& request) {
              target = request.target;
              return http::Response{.status = 404};
            }).value();
  auto api = Connect(server_->url());
  EXPECT_FALSE(
      api->GetBackendHealth(Ocid("a/../b"), BackendSetName("s t"), BackendName("1.2.3.4:80?x"))
          .ok());
  EXPECT_EQ(target,
            "/20170115/loadBalancers/a%2F..%2Fb/backendSets/s%20t/backends/1.2.3.4:80%3Fx/"
            "health");
}

TEST_F(RestApi, NoErrorShowsASignatureOrAToken) {
  TestCredentials credentials({.key_id = "ST$secret.token", .key = credentials_.Get()->key});
  for (const int status : {401, 400, 500}) {
    auto server = sim::HttpServer::Start([&](const http::Request&) {
                    return http::Response{.status = status, .body = "no"};
                  }).value();
    auto transport = http::MakeCpprestTransport({.base_url = server->url()}).value();
    auto api =
        MakeRestLoadBalancerApi(*transport, credentials, base::RealClock(), {.authority = "x"});
    EXPECT_THAT(Message(api->GetLoadBalancer(kLoadBalancer).status()),
                AllOf(Not(HasSubstr("secret")), Not(HasSubstr("Signature"))));
  }
}

}  // namespace
}  // namespace oci
