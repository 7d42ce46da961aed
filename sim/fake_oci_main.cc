// fake_oci: the fake load balancer's API as a program.
//
//   fake_oci --state=lb.json --write_config=DIR --service_time=6s-14s
//   listening on 127.0.0.1:40123

#include <gflags/gflags.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/json.h"
#include "http/cpprest_transport.h"
#include "sim/certificates.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/json_log.h"
#include "sim/kube_rival_world.h"
#include "sim/line_file.h"
#include "sim/oci_user.h"
#include "sim/program.h"
#include "sim/request_signature.h"
#include "sim/rival_thread.h"

DEFINE_int32(port, 0, "Port on 127.0.0.1; 0 takes a free one.");
DEFINE_bool(tls, false, "Speak TLS with a certificate made at the start; see --write_config.");
DEFINE_string(tls_cert, "", "PEM file: speak TLS with this certificate.");
DEFINE_string(tls_key, "", "PEM file: the key of --tls_cert.");
DEFINE_string(state, "",
              "JSON file: a load balancer as GetLoadBalancer shows it, or a list of them.");
DEFINE_string(key_id, "ocid1.tenancy.oc1..example/ocid1.user.oc1..example/00",
              "Who --public_key belongs to.");
DEFINE_string(public_key, "", "PEM file: requests signed with its private key are accepted.");
DEFINE_string(write_config, "",
              "Folder that exists: a key is made, and an OCI configuration for it is written there "
              "as config and key.pem; with --tls also ca.pem.");
DEFINE_string(service_time, "0", "How long a work request takes: 10s, or 6s-14s.");
DEFINE_string(etag, "both", "When a write moves the ETag: acceptance, completion or both.");
DEFINE_int32(max_backends_per_set, 512, "Limit of one backend set.");
DEFINE_int32(max_backends_per_load_balancer, 512, "Limit of one load balancer.");
DEFINE_string(
    limit_refusal, "at_once",
    "How a write over a limit ends: at_once, or work_request (it is accepted and fails).");
DEFINE_uint64(seed, 1, "Of the service times.");
DEFINE_string(rival, "none",
              "Run the ingress controller's writer: none, unmodified, drops_cache or drains.");
DEFINE_string(rival_kube, "", "URL of the Kubernetes API that the rival reads.");
DEFINE_string(request_log, "", "File that gets one line of JSON for each request.");
DEFINE_string(write_log, "", "File that gets one line of JSON for each write that has ended.");
DEFINE_bool(exit_with_stdin, false, "End when standard input does.");

namespace sim {
namespace {

absl::Status Unknown(const char* flag, const std::string& value, const char* allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": give one of ", allowed));
}

absl::StatusOr<FakeLoadBalancerOptions> ReadOptions() {
  FakeLoadBalancerOptions options;
  const auto service_time = ParseDurationRange(FLAGS_service_time);
  if (!service_time.ok()) return service_time.status();
  options.min_service_time = service_time->min;
  options.max_service_time = service_time->max;
  if (FLAGS_etag == "acceptance") {
    options.etag_moves = EtagMoves::kAtAcceptance;
  } else if (FLAGS_etag == "completion") {
    options.etag_moves = EtagMoves::kAtCompletion;
  } else if (FLAGS_etag != "both") {
    return Unknown("etag", FLAGS_etag, "acceptance, completion, both");
  }
  if (FLAGS_limit_refusal == "work_request") {
    options.limit_refusal = LimitRefusal::kFailedWorkRequest;
  } else if (FLAGS_limit_refusal != "at_once") {
    return Unknown("limit_refusal", FLAGS_limit_refusal, "at_once, work_request");
  }
  options.max_backends_per_set = FLAGS_max_backends_per_set;
  options.max_backends_per_load_balancer = FLAGS_max_backends_per_load_balancer;
  options.seed = FLAGS_seed;
  return options;
}

absl::StatusOr<ServerOptions> ReadServerOptions() {
  if (FLAGS_port < 0 || FLAGS_port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("--port=", FLAGS_port, ": not a port"));
  }
  ServerOptions options;
  options.port = static_cast<uint16_t>(FLAGS_port);
  if (FLAGS_tls) {
    const CertificateAndKey authority =
        MakeCertificate({.common_name = "fake_oci authority", .is_authority = true});
    const CertificateAndKey own = MakeCertificate(
        {.common_name = "fake_oci", .names = {"localhost", "127.0.0.1"}}, &authority);
    options.tls = ServerTls{own.certificate_pem, own.key_pem};
    if (!FLAGS_write_config.empty()) {
      absl::Status status = WriteFile(FLAGS_write_config + "/ca.pem", authority.certificate_pem);
      if (!status.ok()) return status;
    }
  } else if (!FLAGS_tls_cert.empty() || !FLAGS_tls_key.empty()) {
    const auto certificate = ReadFile(FLAGS_tls_cert);
    if (!certificate.ok()) return certificate.status();
    const auto key = ReadFile(FLAGS_tls_key);
    if (!key.ok()) return key.status();
    options.tls = ServerTls{*certificate, *key};
  }
  return options;
}

absl::Status AddLoadBalancers(FakeLoadBalancer& core) {
  if (FLAGS_state.empty()) return absl::InvalidArgumentError("--state is missing");
  const auto text = ReadFile(FLAGS_state);
  if (!text.ok()) return text.status();
  const auto parsed = base::ParseJson(*text, FLAGS_state);
  if (!parsed.ok()) return parsed.status();
  const absl::Time now = base::RealClock().Now();
  if (!parsed->IsArray()) return core.AddLoadBalancer(*text, now);
  for (const auto& load_balancer : parsed->GetArray()) {
    absl::Status status = core.AddLoadBalancer(base::WriteJson(load_balancer), now);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status WriteConfig(SignatureVerifier& keys) {
  const OciUser user;
  const absl::Status status = user.WriteConfig(FLAGS_write_config);
  return status.ok() ? user.AddTo(keys, "config") : status;
}

absl::Status AddKeys(SignatureVerifier& keys) {
  if (!FLAGS_write_config.empty()) {
    if (absl::Status status = WriteConfig(keys); !status.ok()) return status;
  }
  if (FLAGS_public_key.empty()) return absl::OkStatus();
  const auto pem = ReadFile(FLAGS_public_key);
  return pem.ok() ? keys.AddKey(FLAGS_key_id, FLAGS_key_id, *pem) : pem.status();
}

// The ingress controller's writer with all it needs.
struct RivalParts {
  std::unique_ptr<http::Transport> kube;
  std::unique_ptr<http::Transport> load_balancer;
  std::unique_ptr<KubeRivalWorld> world;
  std::unique_ptr<RivalThread> thread;
};

absl::StatusOr<RivalParts> StartRival(FakeLoadBalancerServer& server) {
  RivalParts parts;
  if (FLAGS_rival == "none") return parts;
  RivalOptions options;
  options.seed = FLAGS_seed;
  if (FLAGS_rival == "drops_cache") {
    options.variant = RivalVariant::kDropsCacheOnConflict;
  } else if (FLAGS_rival == "drains") {
    options.variant = RivalVariant::kDrainsByItself;
  } else if (FLAGS_rival != "unmodified") {
    return Unknown("rival", FLAGS_rival, "none, unmodified, drops_cache, drains");
  }
  auto kube = http::MakeCpprestTransport({.base_url = FLAGS_rival_kube});
  if (!kube.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--rival_kube: ", kube.status().message()));
  }
  parts.kube = *std::move(kube);
  parts.load_balancer = server.TrustedTransport("rival");
  parts.world = std::make_unique<KubeRivalWorld>(*parts.kube);
  parts.thread = std::make_unique<RivalThread>(options, *parts.world, *parts.load_balancer);
  return parts;
}

absl::Status Run() {
  BlockEndSignals();
  const auto options = ReadOptions();
  if (!options.ok()) return options.status();
  auto server_options = ReadServerOptions();
  if (!server_options.ok()) return server_options.status();
  LineFile requests(FLAGS_request_log);
  LineFile writes(FLAGS_write_log);
  if (!requests.status().ok()) return requests.status();
  if (!writes.status().ok()) return writes.status();
  auto server =
      FakeLoadBalancerServer::Start(*options, base::RealClock(), *std::move(server_options));
  if (!server.ok()) return server.status();
  absl::Status status = (*server)->With([&](FakeLoadBalancer& core,
                                            FakeLoadBalancerHttp& http) -> absl::Status {
    core.SetOnFinished([&](const WriteRecord& record) { writes.Add(WriteLogLine(record)); });
    http.SetOnAnswered([&](const RequestRecord& record) { requests.Add(RequestLogLine(record)); });
    absl::Status added = AddLoadBalancers(core);
    return added.ok() ? AddKeys(http.keys()) : added;
  });
  if (!status.ok()) return status;
  auto rival = StartRival(**server);
  if (!rival.ok()) return rival.status();
  std::cout << "listening on 127.0.0.1:" << (*server)->port() << std::endl;
  WaitForEnd(FLAGS_exit_with_stdin);
  // The rival ends before what it writes to, the server before its logs.
  rival->thread.reset();
  server->reset();
  return absl::OkStatus();
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  gflags::SetUsageMessage("The OCI Load Balancer API as a stateful fake on loopback.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  absl::Status status =
      argc > 1 ? absl::InvalidArgumentError(absl::StrCat("'", argv[1], "' is not a flag"))
               : sim::Run();
  if (status.ok()) return 0;
  std::cerr << "fake_oci: " << status.message() << "; --help lists the flags\n";
  return 2;
}
