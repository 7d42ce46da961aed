// Instance principals against the metadata service and the federation endpoint, over
// real HTTP and HTTPS.
#include "oci/instance_principal.h"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "oci/identity_for_test.h"
#include "oci/session_credentials.h"
#include "sim/fake_identity.h"
#include "sim/manual_clock.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kTenancy[] = "ocid1.tenancy.oc1..instances";

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class InstancePrincipalTest : public ::testing::Test {
 protected:
  void StartMetadata(sim::FakeMetadataService::Options options = {}) {
    metadata_server_ = std::make_unique<sim::FakeMetadataService>(instance_, std::move(options));
    variables_["OCI_METADATA_BASE_URL"] = metadata_server_->base_url();
  }

  absl::StatusOr<std::unique_ptr<MetadataService>> Metadata(
      absl::Duration timeout = absl::Minutes(1)) {
    if (metadata_server_ == nullptr) StartMetadata();
    return MetadataService::Make({.environment = Variables(), .timeout = timeout}, clock_);
  }

  Environment Variables() {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
  }

  std::unique_ptr<InstancePrincipal> Source(absl::Duration timeout = absl::Minutes(1)) {
    return InstancePrincipal::Make(Metadata(timeout).value(),
                                   {.federation_url = federation_.url(),
                                    .ca_pem = tls_.authority.certificate_pem,
                                    .timeout = timeout},
                                   clock_)
        .value();
  }

  void Begin(absl::Duration timeout = absl::Minutes(1)) {
    credentials_ = std::make_unique<SessionCredentials>(Source(timeout), clock_, tries_.Options());
    service_ = std::make_unique<Service>(issuer_, server_clock_, clock_, *credentials_);
  }

  void Advance(absl::Duration duration) {
    clock_.Advance(duration);
    server_clock_.Advance(duration);
  }

  // Made once: RSA keys take a while.
  inline static const LoopbackTls tls_;
  // In whole seconds, as the Date header has them; near now, as certificates are made.
  const absl::Time start_ = absl::FromUnixSeconds(absl::ToUnixSeconds(base::RealClock().Now()));
  sim::ManualClock clock_{start_};
  sim::ManualClock server_clock_{start_};
  std::map<std::string, std::string> variables_;
  sim::TokenIssuer issuer_{server_clock_};
  sim::FakeInstance instance_{kTenancy};
  std::unique_ptr<sim::FakeMetadataService> metadata_server_;
  sim::FakeFederation federation_{instance_, issuer_, server_clock_, tls_.ForServer()};
  Tries tries_;
  std::unique_ptr<SessionCredentials> credentials_;
  std::unique_ptr<Service> service_;
};

TEST_F(InstancePrincipalTest, SpeaksToOciAsTheInstance) {
  Begin();
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_THAT(metadata_server_->interference().requests(),
              ElementsAre("/opc/v2/identity/cert.pem", "/opc/v2/identity/key.pem",
                          "/opc/v2/identity/intermediate.pem"));
  EXPECT_THAT(federation_.interference().requests(), ElementsAre("/v1/x509"));
  EXPECT_EQ(credentials_->Get()->key_id, "ST$" + issuer_.tokens().front());
}

TEST_F(InstancePrincipalTest, TrustsItsOwnCasOnly) {
  const auto source =
      InstancePrincipal::Make(Metadata().value(), {.federation_url = federation_.url()}, clock_)
          .value();
  const absl::Status refused = source->Fetch().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(refused), AllOf(HasSubstr("federation endpoint: "), HasSubstr("TLS: ")));
  EXPECT_EQ(federation_.server().requests_received(), 0);
}

TEST_F(InstancePrincipalTest, IsNotSentInTheClear) {
  const auto federation = InstancePrincipal::Make(
      Metadata().value(), {.federation_url = "http://auth.us-ashburn-1.oraclecloud.com"}, clock_);
  EXPECT_THAT(Message(federation.status()), HasSubstr("expected https://host[:port]"));
  for (const char* url : {"http://169.254.169.254/opc/v2", "http://127.0.0.1:1/opc/v2",
                          "https://metadata.example/opc/v2"}) {
    variables_["OCI_METADATA_BASE_URL"] = url;
    EXPECT_TRUE(MetadataService::Make({.environment = Variables()}, clock_).ok()) << url;
  }
  for (const char* url : {"http://metadata.example/opc/v2", "http://10.0.0.1", "ftp://x", "",
                          "http://169.254.169.254/a b", "http://169.254.evil/opc"}) {
    variables_["OCI_METADATA_BASE_URL"] = url;
    const auto made = MetadataService::Make({.environment = Variables()}, clock_);
    EXPECT_THAT(Message(made.status()), HasSubstr("OCI_METADATA_BASE_URL: ")) << url;
  }
}

TEST_F(InstancePrincipalTest, ARenewalReadsTheCertificateAgainAndMakesANewKey) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  instance_.Rotate();
  Advance(absl::Minutes(56));
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  tries_.Await(2);
  // The issuer refuses a key that had a token before.
  EXPECT_EQ(issuer_.issued(), 2) << tries_.All();
  Advance(absl::Minutes(5));
  // The first token has ended by now, and the service would refuse it.
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(service_->calls(), 3);
}

TEST_F(InstancePrincipalTest, ACertificateThatIsReplacedWhileItIsReadIsReadAgain) {
  const auto source = Source();
  std::atomic<int> rotations = 0;
  metadata_server_->interference().OnRequest([&](const std::string& target) {
    if (absl::EndsWith(target, "/key.pem") && rotations++ == 0) instance_.Rotate();
  });
  EXPECT_TRUE(source->Fetch().ok());
  EXPECT_THAT(metadata_server_->interference().requests(), SizeIs(6));
}

TEST_F(InstancePrincipalTest, APairThatNeverFitsIsAnError) {
  const auto source = Source();
  metadata_server_->interference().OnRequest([&](const std::string& target) {
    if (absl::EndsWith(target, "/key.pem")) instance_.Rotate();
  });
  const absl::Status status = source->Fetch().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(status), HasSubstr("cert.pem and key.pem do not belong together"));
  EXPECT_EQ(federation_.server().requests_received(), 0);
}

TEST_F(InstancePrincipalTest, AnotherTenancyIsRefused) {
  const auto source = Source();
  ASSERT_TRUE(source->Fetch().ok());
  instance_.SetTenancy("ocid1.tenancy.oc1..other");
  instance_.Rotate();
  const absl::Status status = source->Fetch().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("speaks for tenancy ocid1.tenancy.oc1..other"),
                                     HasSubstr("restart this process")));
}

TEST_F(InstancePrincipalTest, ARefusedTokenIsRenewedAndTheCallSentAgain) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  issuer_.Revoke();
  Advance(absl::Minutes(2));
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(issuer_.issued(), 2);
  EXPECT_EQ(service_->calls(), 3);
  // What is refused at once is not renewed for ever.
  issuer_.Revoke();
  const absl::Status refused = service_->Call();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(refused), AllOf(HasSubstr("The token was revoked"),
                                      HasSubstr("refused all the same; is there an IAM policy")));
  EXPECT_EQ(issuer_.issued(), 2);
}

TEST_F(InstancePrincipalTest, EveryAnswerOfTheFederationEndpointIsToldApart) {
  const struct {
    int status;
    absl::StatusCode code;
    const char* words;
  } kCases[] = {
      {401, absl::StatusCode::kUnauthenticated, "this instance's certificate is valid from"},
      {404, absl::StatusCode::kNotFound, "HTTP 404 NotAuthorizedOrNotFound: why"},
      {429, absl::StatusCode::kUnavailable, "HTTP 429"},
      {500, absl::StatusCode::kUnavailable, "HTTP 500"},
  };
  const auto source = Source();
  for (const auto& test : kCases) {
    federation_.interference().Add(
        "/v1/x509", sim::OciError(test.status, "NotAuthorizedOrNotFound", "why", start_));
    const absl::Status status = source->Fetch().status();
    EXPECT_EQ(status.code(), test.code) << status;
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr("federation endpoint, POST /v1/x509: "), HasSubstr(test.words)));
  }
  for (const char* body : {"", "{}", "[1]", R"({"token":7})", R"({"token":"secret"})"}) {
    federation_.interference().Add("/v1/x509", http::Response{.status = 200, .body = body});
    const absl::Status status = source->Fetch().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr("federation endpoint, POST /v1/x509"), Not(HasSubstr("secret"))));
  }
  EXPECT_TRUE(source->Fetch().ok());
}

TEST_F(InstancePrincipalTest, EveryAnswerOfTheMetadataServiceIsToldApart) {
  const auto source = Source();
  const std::pair<int, absl::StatusCode> kCases[] = {{401, absl::StatusCode::kUnauthenticated},
                                                     {404, absl::StatusCode::kNotFound},
                                                     {429, absl::StatusCode::kUnavailable},
                                                     {500, absl::StatusCode::kUnavailable}};
  for (const char* page : {"cert.pem", "key.pem", "intermediate.pem"}) {
    for (const auto& [http_status, code] : kCases) {
      metadata_server_->interference().Add(page, http::Response{.status = http_status});
      const absl::Status status = source->Fetch().status();
      EXPECT_EQ(status.code(), code) << status;
      EXPECT_THAT(Message(status), HasSubstr(absl::StrCat("metadata service, GET /opc/v2/identity/",
                                                          page, ": HTTP ", http_status)));
    }
    for (const std::string& body : {std::string("nonsense"), std::string(100 << 10, 'x')}) {
      metadata_server_->interference().Add(page, http::Response{.status = 200, .body = body});
      EXPECT_THAT(Message(source->Fetch().status()), HasSubstr("metadata service"));
    }
  }
  EXPECT_TRUE(source->Fetch().ok());
}

TEST_F(InstancePrincipalTest, WhoDoesNotAnswerIsGivenUp) {
  const auto source = Source(absl::Milliseconds(300));
  metadata_server_->interference().Add("key.pem", sim::Hang());
  const absl::Status metadata = source->Fetch().status();
  EXPECT_EQ(metadata.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(metadata), AllOf(HasSubstr("/opc/v2/identity/key.pem: nothing heard within"),
                                       HasSubstr("a network policy that lets this Pod reach")));
  federation_.interference().Add("/v1/x509", sim::Hang());
  const absl::Status federation = source->Fetch().status();
  EXPECT_EQ(federation.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(federation), HasSubstr("/v1/x509: nothing heard within"));
}

TEST_F(InstancePrincipalTest, ACallThatHangsEndsWithTheProcess) {
  Begin(absl::Hours(1));
  federation_.interference().Add("/v1/x509", sim::Hang());
  std::atomic<bool> asked = false;
  federation_.interference().OnRequest([&](const std::string&) {
    asked = true;
    asked.notify_all();
  });
  std::thread caller([&] { EXPECT_FALSE(service_->Call().ok()); });
  asked.wait(false);
  service_->api().EndCalls();
  caller.join();
  credentials_.reset();
}

TEST_F(InstancePrincipalTest, SaysHowFarTheClockIsOff) {
  Begin();
  clock_.Advance(-absl::Minutes(7));
  const absl::Status status = service_->Call();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << status;
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("federation endpoint, POST /v1/x509: HTTP 401"),
                    HasSubstr("this machine's clock is 7m behind the server's, which allows 5m: "
                              "set the clock")));
}

// The key of one session with the token of another would be refused.
TEST_F(InstancePrincipalTest, KeyAndTokenAreSwappedTogether) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  std::atomic<bool> end = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!end) EXPECT_EQ(service_->Call(), absl::OkStatus());
    });
  }
  for (int i = 0; i < 5; ++i) {
    Advance(absl::Seconds(31));
    EXPECT_EQ(credentials_->Refresh(credentials_->Get().value()), absl::OkStatus());
  }
  end = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(issuer_.issued(), 6);
}

TEST_F(InstancePrincipalTest, RegionIsAskedThreeTimesAndOfVersionOneIfNeeded) {
  const auto metadata = Metadata().value();
  EXPECT_EQ(metadata->Region().value(), "iad");
  metadata_server_->interference().Add("/region", http::Response{.status = 503}, 2);
  EXPECT_EQ(metadata->Region().value(), "iad");
  EXPECT_EQ(clock_.Now(), start_ + absl::Seconds(2));
  metadata_server_->interference().Add("/region", http::Response{.status = 503}, 3);
  EXPECT_THAT(Message(metadata->Region().status()),
              HasSubstr("metadata service, GET /opc/v2/instance/region: HTTP 503"));
  metadata_server_->interference().Add(
      "/region", http::Response{.status = 200, .body = "<html>sign in</html>"});
  EXPECT_THAT(Message(metadata->Region().status()), HasSubstr("is there a proxy between?"));

  StartMetadata({.version_1_only = true});
  const auto old = Metadata().value();
  EXPECT_EQ(old->Region().value(), "iad");
  EXPECT_TRUE(old->Identity().ok());
  EXPECT_EQ(metadata_server_->interference().requests().back(),
            "/opc/v1/identity/intermediate.pem");
}

TEST_F(InstancePrincipalTest, TheMetadataServiceDescribesANewRegion) {
  StartMetadata({.region = "new",
                 .region_info = R"({"realmKey":"oc99","realmDomainComponent":"example.com",)"
                                R"("regionKey":"NEW","regionIdentifier":"xx-new-1"})"});
  const auto metadata = Metadata().value();
  RegionTable regions;
  regions.Add(metadata->RegionInfo().value());
  EXPECT_EQ(regions.Endpoint("auth", metadata->Region().value()).value(),
            "https://auth.xx-new-1.example.com");
  StartMetadata();
  EXPECT_EQ(Metadata().value()->RegionInfo().status().code(), absl::StatusCode::kNotFound);
}

// Whoever answers may send back what it was sent.
TEST_F(InstancePrincipalTest, NoSecretIsInAnErrorOrALog) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  const std::string token = issuer_.tokens().front();
  const std::string key = instance_.leaf().key_pem;
  const auto source = Source();
  std::string told;
  for (const std::string& echo :
       {absl::StrCat("token ", token), absl::StrCat("<title>", token, "</title>"),
        absl::StrCat("no such key: ", key), key,
        std::string(R"(Signature version="1",signature="c2VjcmV0")")}) {
    federation_.interference().Add(
        "/v1/x509", http::Response{.status = 500,
                                   .body = absl::StrCat(R"({"code":"x","message":)",
                                                        base::QuoteJson(echo), "}")});
    absl::StrAppend(&told, Message(source->Fetch().status()), "\n");
    metadata_server_->interference().Add("key.pem", http::Response{.status = 401, .body = echo});
    absl::StrAppend(&told, Message(source->Fetch().status()), "\n");
  }
  absl::StrAppend(&told, tries_.All());
  EXPECT_THAT(told, AllOf(Not(HasSubstr(token.substr(0, 40))), Not(HasSubstr("PRIVATE KEY")),
                          Not(HasSubstr(key.substr(60, 40))), Not(HasSubstr("c2VjcmV0")),
                          HasSubstr("[redacted]"), HasSubstr("new token, valid until")));
}

}  // namespace
}  // namespace oci
