// What the OCI edge costs on loopback, against a server that answers at once.
//
//   bazel run -c opt //bench:oci_benchmark
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/codec.h"
#include "oci/rest_load_balancer_api.h"
#include "oci/signer.h"
#include "sim/certificates.h"
#include "sim/http_server.h"
#include "sim/load_balancer_document.h"

namespace {

oci::Credentials MakeCredentials() {
  static const auto* const credentials =
      new oci::Credentials{.key_id = "tenancy/user/fingerprint",
                           .key = oci::PrivateKey::FromPem(sim::MakeRsaKeyPem(), "").value()};
  return *credentials;
}

class FixedCredentials final : public oci::CredentialsProvider {
 public:
  absl::StatusOr<oci::Credentials> Get() override { return credentials_; }
  absl::Status Refresh(const oci::Credentials&) override { return absl::OkStatus(); }

 private:
  const oci::Credentials credentials_ = MakeCredentials();
};

std::string LargeLoadBalancer() {
  std::vector<std::string> backends;
  for (int i = 0; i < 512; ++i)
    backends.push_back(absl::StrCat("10.0.", i / 250, ".", i % 250, ":80"));
  return sim::MakeLoadBalancerJson("lb", {{"bs_1", backends}});
}

// Drains one backend: sign, send, receive, over one kept connection.
void SignedPut(benchmark::State& state) {
  const bool tls = state.range(0) != 0;
  const auto authority = sim::MakeCertificate({.is_authority = true});
  const auto certificate = sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority);
  sim::ServerOptions options;
  if (tls) options.tls = {certificate.certificate_pem, certificate.key_pem};
  const auto server =
      sim::HttpServer::Start(
          [](const http::Request&) {
            return http::Response{.status = 204, .headers = {{"opc-work-request-id", "w"}}};
          },
          options)
          .value();
  const auto transport =
      http::MakeCpprestTransport(
          {.base_url = server->url(), .ca_pem = tls ? authority.certificate_pem : ""})
          .value();
  FixedCredentials credentials;
  const auto api =
      oci::MakeRestLoadBalancerApi(*transport, credentials, base::RealClock(),
                                   {.authority = http::ParseServerUrl(server->url())->Authority()});
  const oci::LoadBalancer lb = oci::DecodeLoadBalancer(LargeLoadBalancer()).value();
  const oci::BackendSet& set = lb.backend_sets.begin()->second;
  const oci::WriteGuard guard = {oci::Etag("1"), oci::RetryToken("t"), "r"};
  for (auto _ : state) {
    const auto accepted =
        api->UpdateBackend(lb.id, set.name, set.backends[0], {.drain = true}, guard);
    if (!accepted.ok()) state.SkipWithError(accepted.status().ToString().c_str());
  }
  state.counters["connections"] = static_cast<double>(server->connections_accepted());
}
BENCHMARK(SignedPut)->ArgName("tls")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMicrosecond);

void Sign(benchmark::State& state) {
  const oci::Credentials credentials = MakeCredentials();
  http::Request request = {.method = "PUT", .target = "/x", .body = "{}"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(oci::SignRequest(credentials, "h", absl::UnixEpoch(), request));
  }
}
BENCHMARK(Sign)->Unit(benchmark::kMicrosecond);

void DecodeLoadBalancerOf512(benchmark::State& state) {
  const std::string json = LargeLoadBalancer();
  for (auto _ : state) benchmark::DoNotOptimize(oci::DecodeLoadBalancer(json));
}
BENCHMARK(DecodeLoadBalancerOf512)->Unit(benchmark::kMicrosecond);

void EncodeAndCheckSetOf512(benchmark::State& state) {
  const oci::LoadBalancer lb = oci::DecodeLoadBalancer(LargeLoadBalancer()).value();
  const oci::BackendSet& set = lb.backend_sets.begin()->second;
  oci::BackendSetChange change;
  for (int i = 0; i < 100; ++i)
    change.flips[set.backends[static_cast<size_t>(i)].name] = {.drain = true};
  for (auto _ : state) {
    const auto body = oci::EncodeBackendSetUpdate(set, change);
    benchmark::DoNotOptimize(oci::CheckLossless(set, change, *body));
  }
}
BENCHMARK(EncodeAndCheckSetOf512)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
