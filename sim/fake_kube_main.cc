// fake_kube: the fake cluster as a program.
//
//   fake_kube --manifests=testdata/demo --write_kubeconfig=kubeconfig
//   listening on 127.0.0.1:40123

#include <gflags/gflags.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "sim/certificates.h"
#include "sim/fake_api_server_http.h"
#include "sim/kube_log.h"
#include "sim/line_file.h"
#include "sim/program.h"
#include "sim/yaml_manifests.h"

DEFINE_int32(port, 0, "Port on 127.0.0.1; 0 takes a free one.");
DEFINE_string(manifests, "",
              "YAML files and folders of them (not what is in folders below), separated by commas, "
              "created at the start.");
DEFINE_string(write_kubeconfig, "", "File that gets a kubeconfig for this cluster.");
DEFINE_string(token, "", "Bearer token that is asked for; empty: everyone is let in.");
DEFINE_bool(tls, false, "Speak TLS with a certificate made at the start; see --write_kubeconfig.");
DEFINE_bool(client_certificates, false,
            "With --tls: ask for a client certificate; the kubeconfig has one.");
DEFINE_string(startup, "1s", "From a Pod's creation to Running, when it has its address.");
DEFINE_string(
    ready_after, "3s",
    "From a Pod's creation to Ready; the annotation sim/ready-after-seconds overrides it.");
DEFINE_string(shutdown, "1s",
              "From SIGTERM to the end of a process; the annotation sim/shutdown-seconds overrides "
              "it.");
DEFINE_string(removal, "500ms", "From the end of a process to the removal of its Pod.");
DEFINE_string(ip_reuse, "never",
              "When a Pod's address is given to another: never, after_removal or "
              "after_process_end.");
DEFINE_string(slices_lag, "0", "How far EndpointSlices are behind the Pods: 1s, or 0s-2s.");
DEFINE_string(endpoints_lag, "0", "How far Endpoints are behind the Pods: 1s, or 0s-2s.");
DEFINE_bool(dual_stack, false, "Pods have an IPv6 address besides.");
DEFINE_int32(nodes, 3, "How many nodes there are.");
DEFINE_string(bookmark_interval, "60s", "Between the bookmarks of a watch.");
DEFINE_uint64(seed, 1, "Of names, UIDs, addresses and lags.");
DEFINE_string(request_log, "", "File that gets one line of JSON for each request.");
DEFINE_string(pod_log, "", "File that gets one line of JSON for each event in a Pod's life.");
DEFINE_bool(exit_with_stdin, false, "End when standard input does.");

namespace sim {
namespace {

// "--name: why" if it is not one duration.
absl::StatusOr<absl::Duration> OneDuration(const char* name, const std::string& text) {
  const absl::StatusOr<DurationRange> range = ParseDurationRange(text);
  if (range.ok() && range->min == range->max) return range->min;
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, ": '", text, "' is not a duration like 3s"));
}

absl::Status ReadKubelet(KubeletOptions& options) {
  for (const auto& [name, text, into] : {std::tuple<const char*, std::string, absl::Duration*>(
                                             "startup", FLAGS_startup, &options.startup),
                                         {"ready_after", FLAGS_ready_after, &options.ready_after},
                                         {"shutdown", FLAGS_shutdown, &options.shutdown},
                                         {"removal", FLAGS_removal, &options.removal}}) {
    const absl::StatusOr<absl::Duration> duration = OneDuration(name, text);
    if (!duration.ok()) return duration.status();
    *into = *duration;
  }
  if (FLAGS_ip_reuse == "after_removal") {
    options.ip_reuse = IpReuse::kAfterRemoval;
  } else if (FLAGS_ip_reuse == "after_process_end") {
    options.ip_reuse = IpReuse::kAfterProcessEnd;
  } else if (FLAGS_ip_reuse != "never") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ip_reuse=", FLAGS_ip_reuse, ": give one of never, after_removal, after_process_end"));
  }
  if (FLAGS_nodes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("--nodes=", FLAGS_nodes, ": at least 1"));
  }
  options.nodes = FLAGS_nodes;
  options.dual_stack = FLAGS_dual_stack;
  return absl::OkStatus();
}

absl::StatusOr<FakeClusterOptions> ReadOptions() {
  FakeClusterOptions options;
  if (absl::Status status = ReadKubelet(options.controllers.kubelet); !status.ok()) return status;
  EndpointsOptions& endpoints = options.controllers.endpoints;
  const auto slices = ParseDurationRange(FLAGS_slices_lag);
  if (!slices.ok()) return slices.status();
  endpoints.slices_lag_min = slices->min;
  endpoints.slices_lag_max = slices->max;
  const auto addresses = ParseDurationRange(FLAGS_endpoints_lag);
  if (!addresses.ok()) return addresses.status();
  endpoints.endpoints_lag_min = addresses->min;
  endpoints.endpoints_lag_max = addresses->max;
  const auto bookmarks = OneDuration("bookmark_interval", FLAGS_bookmark_interval);
  if (!bookmarks.ok()) return bookmarks.status();
  options.server.bookmark_interval = *bookmarks;
  options.server.seed = options.controllers.seed = endpoints.seed = FLAGS_seed;
  options.server.start = base::RealClock().Now();
  if (!FLAGS_token.empty()) options.server.users_by_token[FLAGS_token] = "admin";
  if (FLAGS_client_certificates) options.server.user_without_token = "admin";
  if (FLAGS_port < 0 || FLAGS_port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("--port=", FLAGS_port, ": not a port"));
  }
  options.socket.port = static_cast<uint16_t>(FLAGS_port);
  if (FLAGS_client_certificates && !FLAGS_tls) {
    return absl::InvalidArgumentError("--client_certificates: give --tls too");
  }
  return options;
}

// Makes the certificates; what clients need of them goes into `kubeconfig`.
void AddTls(ServerOptions& socket, KubeconfigOptions& kubeconfig) {
  const CertificateAndKey authority =
      MakeCertificate({.common_name = "fake_kube authority", .is_authority = true});
  const CertificateAndKey server = MakeCertificate(
      {.common_name = "fake_kube", .names = {"localhost", "127.0.0.1"}}, &authority);
  socket.tls = ServerTls{server.certificate_pem, server.key_pem};
  kubeconfig.ca_pem = authority.certificate_pem;
  if (!FLAGS_client_certificates) return;
  const CertificateAndKey client = MakeCertificate({.common_name = "admin"}, &authority);
  socket.tls->client_ca_pem = authority.certificate_pem;
  kubeconfig.client_certificate_pem = client.certificate_pem;
  kubeconfig.client_key_pem = client.key_pem;
}

absl::Status ApplyManifests(FakeCluster& cluster) {
  std::vector<JsonTree> manifests;
  for (const std::string& path :
       std::vector<std::string>(absl::StrSplit(FLAGS_manifests, ',', absl::SkipEmpty()))) {
    absl::StatusOr<std::vector<JsonTree>> read = ReadManifests(path);
    if (!read.ok()) return read.status();
    for (JsonTree& manifest : *read) manifests.push_back(std::move(manifest));
  }
  return cluster.With([&](FakeApiServer& server, Controllers&) -> absl::Status {
    for (const JsonTree& manifest : manifests) {
      const KubeResult result = server.ApplyManifest(manifest, base::RealClock().Now());
      if (!result.ok()) return absl::InvalidArgumentError(result.error->message);
    }
    return absl::OkStatus();
  });
}

absl::Status Run() {
  BlockEndSignals();
  absl::StatusOr<FakeClusterOptions> options = ReadOptions();
  if (!options.ok()) return options.status();
  KubeconfigOptions kubeconfig{.server = "", .token = FLAGS_token};
  if (FLAGS_tls) AddTls(options->socket, kubeconfig);
  LineFile requests(FLAGS_request_log);
  LineFile pods(FLAGS_pod_log);
  if (!requests.status().ok()) return requests.status();
  if (!pods.status().ok()) return pods.status();
  auto cluster = FakeCluster::Start(*std::move(options), base::RealClock());
  if (!cluster.ok()) return cluster.status();
  (*cluster)->With([&](FakeApiServer& server, Controllers& controllers) {
    server.OnRequest(
        [&](const KubeRequestRecord& record) { requests.Add(KubeRequestLine(record)); });
    controllers.kubelet().OnPodEvent([&](const PodEvent& event) { pods.Add(PodEventLine(event)); });
  });
  if (absl::Status status = ApplyManifests(**cluster); !status.ok()) return status;
  if (!FLAGS_write_kubeconfig.empty()) {
    kubeconfig.server = (*cluster)->url();
    absl::Status status = WriteFile(FLAGS_write_kubeconfig, MakeKubeconfig(kubeconfig));
    if (!status.ok()) return status;
  }
  std::cout << "listening on 127.0.0.1:" << (*cluster)->port() << std::endl;
  WaitForEnd(FLAGS_exit_with_stdin);
  // It ends before its logs.
  cluster->reset();
  return absl::OkStatus();
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  gflags::SetUsageMessage("A Kubernetes API with the controllers of a cluster on loopback.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  absl::Status status =
      argc > 1 ? absl::InvalidArgumentError(absl::StrCat("'", argv[1], "' is not a flag"))
               : sim::Run();
  if (status.ok()) return 0;
  std::cerr << "fake_kube: " << status.message() << "; --help lists the flags\n";
  return 2;
}
