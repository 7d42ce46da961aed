// OKE workload identity against a proxymux, over real HTTPS.
#include "oci/workload_identity.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "oci/identity_for_test.h"
#include "sim/fake_identity.h"
#include "sim/manual_clock.h"
#include "sim/web_token.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class WorkloadIdentityTest : public ::testing::Test {
 protected:
  WorkloadIdentityTest() {
    WriteFile("ca.crt", tls_.authority.certificate_pem);
    Rotate("first", absl::Hours(1));
    variables_ = {{"OCI_RESOURCE_PRINCIPAL_VERSION", "2.2"},
                  {"OCI_RESOURCE_PRINCIPAL_REGION", "iad"},
                  {"KUBERNETES_SERVICE_HOST", "127.0.0.1"}};
  }

  void WriteFile(const std::string& name, const std::string& text) {
    std::ofstream(absl::StrCat(folder_, "/", name)) << text;
  }

  // As the kubelet does before the token ends.
  void Rotate(const std::string& name, absl::Duration life) {
    account_token_ = sim::MakeWebToken(name, clock_.Now() + life);
    WriteFile("token", account_token_);
    proxymux_.SetServiceAccountToken(account_token_);
  }

  absl::StatusOr<std::unique_ptr<WorkloadIdentity>> Source(
      absl::Duration timeout = absl::Minutes(1)) {
    WorkloadIdentityOptions options;
    options.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    options.service_account_folder = folder_;
    options.port = proxymux_.port();
    options.timeout = timeout;
    return WorkloadIdentity::Make(options, clock_);
  }

  void Begin() {
    credentials_ = std::make_unique<SessionCredentials>(Source().value(), clock_, tries_.Options());
    service_ = std::make_unique<Service>(issuer_, server_clock_, clock_, *credentials_);
  }

  void Advance(absl::Duration duration) {
    clock_.Advance(duration);
    server_clock_.Advance(duration);
  }

  inline static const LoopbackTls tls_;
  const absl::Time start_ = absl::FromUnixSeconds(absl::ToUnixSeconds(base::RealClock().Now()));
  sim::ManualClock clock_{start_};
  sim::ManualClock server_clock_{start_};
  const std::string folder_ = ::testing::TempDir();
  std::map<std::string, std::string> variables_;
  sim::TokenIssuer issuer_{server_clock_};
  sim::FakeProxymux proxymux_{issuer_, server_clock_, tls_.ForServer()};
  std::string account_token_;
  Tries tries_;
  std::unique_ptr<SessionCredentials> credentials_;
  std::unique_ptr<Service> service_;
};

TEST_F(WorkloadIdentityTest, SpeaksToOciAsTheServiceAccount) {
  Begin();
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(issuer_.issued(), 1);
  EXPECT_EQ(credentials_->Get()->key_id, "ST$" + issuer_.tokens().front());
}

TEST_F(WorkloadIdentityTest, ARenewalReadsTheServiceAccountsTokenAgain) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  Rotate("second", absl::Hours(2));
  Advance(absl::Minutes(56));
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  tries_.Await(2);
  Advance(absl::Minutes(5));
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(issuer_.issued(), 2) << tries_.All();
  EXPECT_EQ(service_->calls(), 3);
}

TEST_F(WorkloadIdentityTest, ARefusedTokenIsRenewed) {
  Begin();
  ASSERT_EQ(service_->Call(), absl::OkStatus());
  issuer_.Revoke();
  Advance(absl::Minutes(1));
  EXPECT_EQ(service_->Call(), absl::OkStatus());
  EXPECT_EQ(issuer_.issued(), 2);
}

TEST_F(WorkloadIdentityTest, WhatTheEnvironmentLacksIsNamed) {
  for (const char* name : {"OCI_RESOURCE_PRINCIPAL_VERSION", "OCI_RESOURCE_PRINCIPAL_REGION",
                           "KUBERNETES_SERVICE_HOST"}) {
    const std::string value = variables_[name];
    variables_.erase(name);
    const auto made = Source();
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(made.status()), HasSubstr(absl::StrCat("environment variable ", name)));
    variables_[name] = value;
  }
  variables_["OCI_RESOURCE_PRINCIPAL_VERSION"] = "3.0";
  EXPECT_THAT(Message(Source().status()), HasSubstr("is to be 2.2"));
}

TEST_F(WorkloadIdentityTest, TrustsTheClustersCaOnly) {
  const sim::CertificateAndKey other = sim::MakeCertificate({.is_authority = true});
  WriteFile("other.crt", other.certificate_pem);
  variables_["OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH"] = folder_ + "/other.crt";
  const absl::Status refused = Source().value()->Fetch().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(refused),
              AllOf(HasSubstr("workload identity: "), HasSubstr("TLS: "), HasSubstr("12250")));
  EXPECT_EQ(proxymux_.server().requests_received(), 0);
  variables_["OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH"] = folder_ + "/none.crt";
  EXPECT_EQ(Source().status().code(), absl::StatusCode::kNotFound);
  WriteFile("empty.crt", "");
  variables_["OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH"] = folder_ + "/empty.crt";
  EXPECT_THAT(Message(Source().status()), HasSubstr("empty.crt is empty"));
}

TEST_F(WorkloadIdentityTest, AServiceAccountTokenThatEndsIsNotSent) {
  Rotate("old", absl::Minutes(5));
  const auto source = Source().value();
  const absl::Status ended = source->Fetch().status();
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(ended), AllOf(HasSubstr("/token: the service account's token ends at"),
                                    HasSubstr("look at the node and at its clock")));
  WriteFile("token", "secret");
  EXPECT_THAT(Message(source->Fetch().status()),
              AllOf(HasSubstr("/token: not a token"), Not(HasSubstr("secret"))));
  std::remove((folder_ + "/token").c_str());
  const absl::Status missing = source->Fetch().status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(missing), HasSubstr("automountServiceAccountToken"));
  EXPECT_EQ(proxymux_.server().requests_received(), 0);
}

TEST_F(WorkloadIdentityTest, EveryAnswerIsToldApart) {
  const struct {
    int status;
    absl::StatusCode code;
    const char* words;
  } kCases[] = {
      {401, absl::StatusCode::kUnauthenticated, "is the cluster an enhanced one"},
      {403, absl::StatusCode::kPermissionDenied, "is the cluster an enhanced one"},
      {404, absl::StatusCode::kNotFound, "does the cluster offer workload identity"},
      {429, absl::StatusCode::kUnavailable, "HTTP 429"},
      {500, absl::StatusCode::kUnavailable, "HTTP 500"},
  };
  const auto source = Source().value();
  for (const auto& test : kCases) {
    proxymux_.interference().Add("Tokens", sim::OciError(test.status, "Code", "why", start_));
    const absl::Status status = source->Fetch().status();
    EXPECT_EQ(status.code(), test.code) << status;
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr("workload identity, POST /resourcePrincipalSessionTokens: HTTP"),
                      HasSubstr(test.words)));
  }
  proxymux_.SetServiceAccountToken("another");
  EXPECT_EQ(source->Fetch().status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(WorkloadIdentityTest, WhoDoesNotAnswerIsGivenUp) {
  proxymux_.interference().Add("Tokens", sim::Hang());
  const absl::Status status = Source(absl::Milliseconds(300)).value()->Fetch().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("nothing heard within"), HasSubstr("12250")));
}

TEST_F(WorkloadIdentityTest, ATokenThatHasEndedWhenItComesTellsOfTheClock) {
  const auto source = Source().value();
  Rotate("long", absl::Hours(10));
  clock_.Advance(absl::Hours(2));
  const absl::Status status = source->Fetch().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(status), HasSubstr("this machine's clock is 2h ahead of the server's"));
}

TEST_F(WorkloadIdentityTest, NoSecretIsInAnError) {
  const auto source = Source().value();
  for (const int http_status : {200, 400, 401, 500}) {
    for (const std::string& echo : {account_token_, absl::StrCat("Bearer ", account_token_),
                                    base::QuoteJson(account_token_)}) {
      proxymux_.interference().Add("Tokens", http::Response{.status = http_status, .body = echo});
      const absl::Status status = source->Fetch().status();
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(Message(status), Not(HasSubstr(account_token_.substr(0, 30))));
    }
  }
}

TEST(ParseWorkloadAnswer, TakesTheOneFormThereIs) {
  const std::string token = sim::MakeWebToken("x", absl::FromUnixSeconds(2000000000));
  const auto wrap = [](const std::string& inner) {
    return base::QuoteJson(absl::Base64Escape(inner));
  };
  const auto good = ParseWorkloadAnswer(wrap(absl::StrCat(R"({"token":"ST$)", token, "\"}")));
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(good->text, token);
  const std::pair<std::string, const char*> kCases[] = {
      {"", "no JSON string"},
      {"{}", "no JSON string"},
      {"\"%%%\"", "no base64"},
      {wrap("secret"), "no JSON in the base64"},
      {wrap("[]"), "no string token"},
      {wrap("{}"), "no string token"},
      {wrap(absl::StrCat(R"({"token":")", token, "\"}")), "does not begin with ST$"},
      {wrap(R"({"token":"ST$secret"})"), "not a token: expected three parts"},
      {std::string(100 << 10, '"'), "too long"},
  };
  for (const auto& [body, why] : kCases) {
    const auto refused = ParseWorkloadAnswer(body);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(Message(refused.status()), AllOf(HasSubstr(why), Not(HasSubstr("secret"))));
  }
}

}  // namespace
}  // namespace oci
