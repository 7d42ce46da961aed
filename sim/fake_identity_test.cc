// That the fakes refuse what the real services refuse: a test against one that takes
// anything would prove nothing.
#include "sim/fake_identity.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "oci/credentials.h"
#include "oci/instance_principal.h"
#include "oci/metadata_service.h"
#include "oci/signer.h"
#include "sim/federation_request.h"
#include "sim/manual_clock.h"
#include "sim/token_issuer.h"
#include "sim/web_token.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

class FakeIdentityTest : public ::testing::Test {
 protected:
  // The answer's status.
  int Send(const std::string& url, http::Request request, const std::string& ca_pem = "") {
    const auto transport = http::MakeCpprestTransport({.base_url = url, .ca_pem = ca_pem}).value();
    const auto response = transport->Send(request);
    return response.ok() ? response->status : 0;
  }

  const absl::Time now_ = base::RealClock().Now();
  ManualClock clock_{now_};
  TokenIssuer issuer_{clock_};
  FakeInstance instance_{"ocid1.tenancy.oc1..a"};
};

TEST_F(FakeIdentityTest, TheMetadataServiceWantsItsHeaderAndNoProxy) {
  FakeMetadataService metadata(instance_, {});
  const auto ask = [&](const std::string& page, http::Headers headers) {
    return Send(metadata.server().url(),
                {.method = "GET", .target = page, .headers = std::move(headers)});
  };
  EXPECT_EQ(ask("/opc/v2/instance/region", {{"Authorization", "Bearer Oracle"}}), 200);
  EXPECT_EQ(ask("/opc/v2/instance/region", {}), 403);
  EXPECT_EQ(ask("/opc/v2/instance/region", {{"Authorization", "Bearer oracle"}}), 403);
  EXPECT_EQ(ask("/opc/v2/instance/region",
                {{"Authorization", "Bearer Oracle"}, {"X-Forwarded-For", "10.0.0.1"}}),
            403);
  EXPECT_EQ(ask("/opc/v1/instance/region", {}), 200);
  EXPECT_EQ(ask("/instance/region", {{"Authorization", "Bearer Oracle"}}), 404);
}

// A good request as it comes over the wire, and all that can be wrong with it.
class FederationRequestTest : public FakeIdentityTest {
 protected:
  FederationRequestTest() {
    FakeMetadataService metadata(instance_, {});
    const auto server = HttpServer::Start([this](const http::Request& request) {
                          good_ = request;
                          return http::Response{.status = 500};
                        }).value();
    auto service = oci::MetadataService::Make(
                       {.environment = [&](const std::string& name) -> std::optional<std::string> {
                         if (name != "OCI_METADATA_BASE_URL") return std::nullopt;
                         return metadata.base_url();
                       }},
                       clock_)
                       .value();
    auto source =
        oci::InstancePrincipal::Make(std::move(service), {.federation_url = server->url()}, clock_)
            .value();
    EXPECT_FALSE(source->Fetch().ok());
  }

  absl::Status Read(const http::Request& request) {
    return ReadFederationRequest(request, instance_.root_pem(), clock_.Now()).status();
  }

  http::Request With(const std::string& header, const std::string& from, const std::string& to) {
    http::Request request = good_;
    for (auto& [name, value] : request.headers) {
      if (!absl::EqualsIgnoreCase(name, header)) continue;
      const std::string before = value;
      value = absl::StrReplaceAll(value, {{from, to}});
      EXPECT_NE(value, before) << header;
    }
    return request;
  }

  http::Request good_;
};

TEST_F(FederationRequestTest, AGoodOneIsTaken) { EXPECT_EQ(Read(good_), absl::OkStatus()); }

TEST_F(FederationRequestTest, EveryHeaderCounts) {
  EXPECT_FALSE(Read(With("authorization", "rsa-sha256", "hmac-sha256")).ok());
  EXPECT_FALSE(Read(With("authorization", "date (request-target) content", "date content")).ok());
  EXPECT_FALSE(
      Read(With("authorization", "date (request-target)", "date (request-target) host")).ok());
  EXPECT_FALSE(Read(With("authorization", "/fed-x509/", "/fed-x509/00:")).ok());
  EXPECT_FALSE(Read(With("authorization", "ocid1.tenancy", "ocid1.other")).ok());
  EXPECT_FALSE(Read(With("x-content-sha256", "=", "A")).ok());
  EXPECT_FALSE(Read(With("content-length", "1", "2")).ok());
  EXPECT_FALSE(Read(With("content-type", "json", "xml")).ok());
  EXPECT_FALSE(Read(With("date", ":", ".")).ok());
}

TEST_F(FederationRequestTest, ABodyThatWasChangedIsRefused) {
  http::Request request = good_;
  request.body += " ";
  EXPECT_THAT(std::string(Read(request).message()), HasSubstr("x-content-sha256"));
}

TEST_F(FederationRequestTest, AnOldDateOrCertificateIsRefused) {
  clock_.Advance(absl::Minutes(6));
  EXPECT_THAT(std::string(Read(good_).message()), HasSubstr("clock skew"));
  clock_.Advance(absl::Hours(48));
  http::Request request = good_;
  const auto refused = ReadFederationRequest(request, instance_.root_pem(), clock_.Now());
  EXPECT_TRUE(absl::IsUnauthenticated(refused.status()));
}

TEST_F(FederationRequestTest, AnotherRootDoesNotKnowTheInstance) {
  const FakeInstance other("ocid1.tenancy.oc1..a");
  EXPECT_THAT(
      std::string(ReadFederationRequest(good_, other.root_pem(), clock_.Now()).status().message()),
      HasSubstr("certificate is not trusted"));
}

TEST_F(FakeIdentityTest, ATokenIsGoodForItsKeyAndItsTime) {
  const auto key = oci::PrivateKey::Generate().value();
  const std::string token = issuer_.Issue(key->PublicKeyPem(), "x").value();
  EXPECT_FALSE(issuer_.Issue(key->PublicKeyPem(), "x").ok());
  const auto call = [&](const std::string& id, std::shared_ptr<const oci::PrivateKey> with) {
    http::Request request = {.method = "GET", .target = "/a"};
    EXPECT_TRUE(
        oci::SignRequest({.key_id = id, .key = std::move(with)}, "host", clock_.Now(), request)
            .ok());
    request.headers.emplace_back("host", "host");
    return std::string(issuer_.Verify(request).message());
  };
  EXPECT_EQ(call("ST$" + token, key), "");
  EXPECT_THAT(call("ST$" + token, oci::PrivateKey::Generate().value()),
              HasSubstr("Failed to verify"));
  EXPECT_THAT(call(token, key), HasSubstr("not known"));
  clock_.Advance(absl::Minutes(61));
  EXPECT_EQ(call("ST$" + token, key), "The token has expired");
  issuer_.Revoke();
  EXPECT_EQ(call("ST$" + token, key), "The token was revoked");
}

TEST_F(FakeIdentityTest, TheProxymuxWantsEachOfItsHeaders) {
  const CertificateAndKey authority = MakeCertificate({.is_authority = true});
  const CertificateAndKey server = MakeCertificate({.names = {"127.0.0.1"}}, &authority);
  FakeProxymux proxymux(issuer_, clock_,
                        {.certificate_pem = server.certificate_pem, .key_pem = server.key_pem});
  const std::string account = MakeWebToken("account", now_ + absl::Hours(1));
  proxymux.SetServiceAccountToken(account);
  const std::string pem = oci::PrivateKey::Generate().value()->PublicKeyPem();
  const std::string id(32, 'a');
  const http::Request good = {.method = "POST",
                              .target = "/resourcePrincipalSessionTokens",
                              .headers = {{"authorization", "Bearer " + account},
                                          {"content-type", "application/json"},
                                          {"opc-request-id", absl::StrCat(id, "/", id, "/", id)}},
                              .body = absl::StrCat(R"({"podKey":)", base::QuoteJson(pem), "}")};
  const auto ask = [&](const http::Request& request) {
    return Send(proxymux.server().url(), request, authority.certificate_pem);
  };
  const std::pair<size_t, std::string> kWrong[] = {{0, "Bearer x"}, {1, "text/plain"}, {2, id}};
  for (const auto& [header, value] : kWrong) {
    http::Request request = good;
    request.headers[header].second = value;
    EXPECT_GE(ask(request), 400) << value;
  }
  http::Request request = good;
  request.body = R"({"podKey":"MIIB"})";
  EXPECT_EQ(ask(request), 400);
  EXPECT_EQ(ask(good), 200);
  EXPECT_EQ(ask(good), 400);  // The key has a token by now.
}

}  // namespace
}  // namespace sim
