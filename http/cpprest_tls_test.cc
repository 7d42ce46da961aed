#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "sim/certificates.h"
#include "sim/http_server.h"

namespace http {
namespace {

using sim::CertificateAndKey;
using sim::HttpServer;
using sim::MakeCertificate;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class CpprestTls : public ::testing::Test {
 protected:
  // The server's certificate is `certificate`; `client_ca` as in ServerTls.
  void Serve(const CertificateAndKey& certificate, const std::string& client_ca = "") {
    server_ =
        HttpServer::Start([](const Request&) { return Response{.status = 200, .body = "ok"}; },
                          {.tls = sim::ServerTls{.certificate_pem = certificate.certificate_pem,
                                                 .key_pem = certificate.key_pem,
                                                 .client_ca_pem = client_ca}})
            .value();
  }

  absl::StatusOr<Response> Ask(TransportOptions options) {
    options.base_url = server_->url();
    auto transport = MakeCpprestTransport(options);
    if (!transport.ok()) return transport.status();
    return (*transport)->Send({.method = "PUT", .target = "/", .body = "{}"});
  }

  void ExpectRefused(const absl::StatusOr<Response>& response, const std::string& why) {
    EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable) << response.status();
    EXPECT_THAT(std::string(response.status().message()),
                AllOf(HasSubstr("PUT " + server_->url() + "/: "), ContainsRegex(why)));
    EXPECT_EQ(server_->requests_received(), 0);
  }

  const CertificateAndKey authority_ =
      MakeCertificate({.common_name = "our CA", .is_authority = true});
  std::unique_ptr<HttpServer> server_;
};

TEST_F(CpprestTls, TrustsTheGivenAuthority) {
  Serve(MakeCertificate({.names = {"127.0.0.1"}}, &authority_));
  const auto response = Ask({.ca_pem = authority_.certificate_pem});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "ok");
}

TEST_F(CpprestTls, WrongAuthorityNamesTheCertificateAndItsIssuer) {
  Serve(MakeCertificate({.common_name = "lb", .names = {"127.0.0.1"}}, &authority_));
  const CertificateAndKey other =
      MakeCertificate({.common_name = "other CA", .is_authority = true});
  ExpectRefused(
      Ask({.ca_pem = other.certificate_pem}),
      "TLS: certificate CN=lb .issuer CN=our CA.: unable to get local issuer certificate");
}

TEST_F(CpprestTls, AnAuthorityThatWasMadeAnewUnderItsNameIsAnotherOne) {
  Serve(MakeCertificate({.common_name = "lb", .names = {"127.0.0.1"}}, &authority_));
  const CertificateAndKey other = MakeCertificate({.common_name = "our CA", .is_authority = true});
  ExpectRefused(Ask({.ca_pem = other.certificate_pem}), "TLS: certificate CN=.* signature failure");
}

TEST_F(CpprestTls, WithoutAGivenAuthorityTheSystemsAreAsked) {
  Serve(MakeCertificate({.common_name = "lb", .names = {"127.0.0.1"}}, &authority_));
  ExpectRefused(Ask({}), "unable to get local issuer certificate");
}

TEST_F(CpprestTls, WrongHostNamesWhatTheCertificateIsFor) {
  Serve(MakeCertificate({.common_name = "lb", .names = {"lb.example", "10.1.2.3"}}, &authority_));
  ExpectRefused(Ask({.ca_pem = authority_.certificate_pem}),
                "IP address mismatch: it is for lb.example, 10.1.2.3, not for 127.0.0.1");
}

TEST_F(CpprestTls, SelfSignedCertificateIsNamedAsSuch) {
  Serve(MakeCertificate({.common_name = "lb", .names = {"127.0.0.1"}}));
  ExpectRefused(Ask({.ca_pem = authority_.certificate_pem}),
                "TLS: certificate CN=lb .issuer CN=lb.: self-signed certificate");
}

TEST_F(CpprestTls, ExpiredCertificateSaysSince) {
  Serve(MakeCertificate(
      {.names = {"127.0.0.1"}, .valid_from = -absl::Hours(48), .valid_until = -absl::Hours(24)},
      &authority_));
  ExpectRefused(Ask({.ca_pem = authority_.certificate_pem}), "certificate has expired on ");
}

TEST_F(CpprestTls, FutureCertificateSaysFrom) {
  Serve(MakeCertificate(
      {.names = {"127.0.0.1"}, .valid_from = absl::Hours(24), .valid_until = absl::Hours(48)},
      &authority_));
  ExpectRefused(Ask({.ca_pem = authority_.certificate_pem}),
                "certificate is not yet valid before ");
}

TEST_F(CpprestTls, PresentsAClientCertificate) {
  Serve(MakeCertificate({.names = {"127.0.0.1"}}, &authority_), authority_.certificate_pem);
  const CertificateAndKey client = MakeCertificate({.common_name = "client"}, &authority_);
  const auto response = Ask({.ca_pem = authority_.certificate_pem,
                             .client_certificate_pem = client.certificate_pem,
                             .client_key_pem = client.key_pem});
  EXPECT_TRUE(response.ok()) << response.status();
}

TEST_F(CpprestTls, ServerThatRefusesTheClientTakesNoRequest) {
  Serve(MakeCertificate({.names = {"127.0.0.1"}}, &authority_), authority_.certificate_pem);
  const auto response = Ask({.ca_pem = authority_.certificate_pem});
  // With TLS 1.3 the refusal comes after the handshake and races our request; a
  // reset may swallow it.
  EXPECT_THAT(std::string(response.status().message()),
              ContainsRegex("TLS: the server refused us: |may have refused our certificate|"
                            "the connection broke before the answer"));
  EXPECT_EQ(server_->requests_received(), 0);
}

TEST_F(CpprestTls, PlainServerBehindHttpsIsAFailedHandshake) {
  server_ = HttpServer::Start([](const Request&) { return Response{.status = 200}; }).value();
  auto transport =
      MakeCpprestTransport({.base_url = "https://127.0.0.1:" + std::to_string(server_->port())})
          .value();
  const auto response = transport->Send({.method = "PUT", .target = "/"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(response.status().message()), HasSubstr("TLS: handshake failed: "));
}

TEST_F(CpprestTls, UnusablePemIsRefusedBeforeAnythingIsSent) {
  const CertificateAndKey client = MakeCertificate({});
  const CertificateAndKey other = MakeCertificate({});
  const std::string url = "https://127.0.0.1:1";
  const std::pair<TransportOptions, std::string> cases[] = {
      {{.base_url = url, .ca_pem = "nonsense"}, "CA certificate: no certificate in PEM form found"},
      {{.base_url = url, .ca_pem = client.certificate_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n"},
       "CA certificate: a certificate is damaged"},
      {{.base_url = url, .client_certificate_pem = client.certificate_pem},
       "client key: no unencrypted private key"},
      {{.base_url = url, .client_key_pem = client.key_pem}, "client certificate: missing"},
      {{.base_url = url,
        .client_certificate_pem = client.certificate_pem,
        .client_key_pem = other.key_pem},
       "client key: it does not belong to the client certificate"},
  };
  for (const auto& [options, why] : cases) {
    const auto transport = MakeCpprestTransport(options);
    EXPECT_EQ(transport.status().code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(std::string(transport.status().message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace http
