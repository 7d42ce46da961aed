#include "cmd/clients.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "cmd/command_line.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "kube/config.h"
#include "kube/rest_kube_api.h"
#include "oci/config_file.h"
#include "oci/endpoint.h"
#include "oci/rest_load_balancer_api.h"

DEFINE_string(kubeconfig, "",
              "Kubeconfig file; empty: $KUBECONFIG, the Pod's service account, ~/.kube/config");
DEFINE_string(context, "", "Context of the kubeconfig; empty: its current-context");
DEFINE_string(oci_config_file, "", "OCI configuration file; empty: ~/.oci/config");
DEFINE_string(oci_profile, "DEFAULT", "Profile of the OCI configuration file");
DEFINE_string(
    oci_endpoint, "",
    "Address of the load-balancer API, such as https://iaas.us-ashburn-1.oraclecloud.com; "
    "empty: that of the profile's region");
DEFINE_string(oci_ca_file, "",
              "PEM file of the CAs to trust for OCI instead of the system's; empty: the system's");

namespace cmd {
namespace {

absl::StatusOr<std::string> EndpointFor(const oci::ConfigFileCredentials& credentials) {
  if (!FLAGS_oci_endpoint.empty()) return FLAGS_oci_endpoint;
  const char* realm = std::getenv("OCI_DEFAULT_REALM");
  absl::StatusOr<std::string> endpoint =
      oci::LoadBalancerEndpoint(credentials.region(), realm == nullptr ? "" : realm);
  if (endpoint.ok()) return endpoint;
  return absl::InvalidArgumentError(
      absl::StrCat(endpoint.status().message(),
                   "; set region in the OCI configuration file, or --oci_endpoint"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Clients>> Clients::FromFlags() {
  std::unique_ptr<Clients> clients(new Clients);
  absl::Status status = clients->MakeKube();
  if (!status.ok()) return status;
  status = clients->MakeOci();
  if (!status.ok()) return status;
  return clients;
}

absl::Status Clients::MakeKube() {
  kube::ConfigOptions options;
  options.kubeconfig = FLAGS_kubeconfig;
  options.context = FLAGS_context;
  absl::StatusOr<kube::ConnectionConfig> config = kube::LoadConfig(options, base::RealClock());
  if (!config.ok()) return config.status();
  cluster_ = absl::StrCat(config->server, " (", config->source, ")");
  http::TransportOptions transport;
  transport.base_url = config->server;
  transport.ca_pem = config->ca_pem;
  transport.client_certificate_pem = config->client_certificate_pem;
  transport.client_key_pem = config->client_key_pem;
  absl::StatusOr<std::unique_ptr<http::Transport>> calls = http::MakeCpprestTransport(transport);
  if (!calls.ok()) return Prefixed(config->source, calls.status());
  absl::StatusOr<std::unique_ptr<http::Transport>> watches = http::MakeCpprestTransport(transport);
  if (!watches.ok()) return Prefixed(config->source, watches.status());
  kube_ = std::make_unique<kube::RestKubeApi>(*std::move(calls), *std::move(watches),
                                              std::move(config->token_source));
  return absl::OkStatus();
}

absl::Status Clients::MakeOci() {
  oci::ConfigFileOptions options;
  options.path = FLAGS_oci_config_file;
  options.profile = FLAGS_oci_profile;
  absl::StatusOr<std::unique_ptr<oci::ConfigFileCredentials>> credentials =
      oci::ConfigFileCredentials::Load(options);
  if (!credentials.ok()) return credentials.status();
  const absl::StatusOr<std::string> endpoint = EndpointFor(**credentials);
  if (!endpoint.ok()) return endpoint.status();
  http::TransportOptions transport;
  transport.base_url = *endpoint;
  if (!FLAGS_oci_ca_file.empty()) {
    absl::StatusOr<std::string> ca = base::ReadFile(FLAGS_oci_ca_file);
    if (!ca.ok()) return Prefixed("--oci_ca_file", ca.status());
    transport.ca_pem = *std::move(ca);
  }
  const absl::StatusOr<http::ServerUrl> url = http::ParseServerUrl(*endpoint);
  if (!url.ok()) return Prefixed("--oci_endpoint", url.status());
  absl::StatusOr<std::unique_ptr<http::Transport>> made = http::MakeCpprestTransport(transport);
  if (!made.ok()) return Prefixed("OCI endpoint", made.status());
  oci_transport_ = *std::move(made);
  credentials_ = *std::move(credentials);
  oci::RestOptions rest;
  rest.authority = url->Authority();
  rest.seed = base::SeedFromSystem();
  oci_ = oci::MakeRestLoadBalancerApi(*oci_transport_, *credentials_, base::RealClock(), rest);
  return absl::OkStatus();
}

absl::Status Clients::Probe() {
  kube::ListRequest request;
  request.resource = kube::Resource::kIngressClasses;
  request.limit = 1;
  const absl::Status status = kube_->List(request).status();
  return status.ok() ? status : Prefixed(absl::StrCat("cluster ", cluster_), status);
}

}  // namespace cmd
