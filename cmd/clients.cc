#include "cmd/clients.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/random.h"
#include "cmd/command_line.h"
#include "cmd/oci_identity.h"
#include "gflags/gflags.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "kube/config.h"
#include "kube/rest_kube_api.h"
#include "oci/rest_load_balancer_api.h"

DEFINE_string(kubeconfig, "",
              "Kubeconfig file; empty: $KUBECONFIG, the Pod's service account, ~/.kube/config");
DEFINE_string(context, "", "Context of the kubeconfig; empty: its current-context");
namespace cmd {
absl::StatusOr<std::unique_ptr<Clients>> Clients::FromFlags(absl::Duration token_patience) {
  absl::StatusOr<std::unique_ptr<Clients>> clients = OfClusterFromFlags();
  if (!clients.ok()) return clients.status();
  const absl::Status status = (*clients)->MakeOci(token_patience);
  if (!status.ok()) return status;
  return clients;
}

absl::StatusOr<std::unique_ptr<Clients>> Clients::OfClusterFromFlags() {
  std::unique_ptr<Clients> clients(new Clients);
  const absl::Status status = clients->MakeKube();
  if (!status.ok()) return status;
  return clients;
}

std::unique_ptr<Clients> Clients::AsFarAsPossible(absl::Duration token_patience, absl::Status& kube,
                                                  absl::Status& oci) {
  std::unique_ptr<Clients> clients(new Clients);
  kube = clients->MakeKube();
  oci = clients->MakeOci(token_patience);
  return clients;
}

void Clients::EndCalls() {
  kube_->EndCalls();
  oci_->EndCalls();
}

absl::StatusOr<std::string> Clients::WhoAmI() {
  const absl::StatusOr<oci::Credentials> credentials = credentials_->Get();
  if (!credentials.ok()) return credentials.status();
  const std::vector<std::string> parts = absl::StrSplit(credentials->key_id, '/');
  // Anything else is a token, which is a secret.
  if (parts.size() != 3 || absl::StartsWith(credentials->key_id, "ST$")) {
    return std::string("has a session token");
  }
  return absl::StrCat("user ", parts[1], ", key ", parts[2], ", tenancy ", parts[0]);
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
  absl::StatusOr<std::unique_ptr<http::Transport>> leases = http::MakeCpprestTransport(transport);
  if (!leases.ok()) return Prefixed(config->source, leases.status());
  const std::shared_ptr<http::Transport> for_leases = *std::move(leases);
  kube::RestOptions lease_options;
  lease_options.call_timeout = lease_options.list_timeout = kLeaseTimeout;
  lease_kube_ = std::make_unique<kube::RestKubeApi>(for_leases, for_leases, config->token_source,
                                                    lease_options);
  kube_dates_ = std::make_shared<http::DatedTransport>(*std::move(calls), base::RealClock());
  kube_ = std::make_unique<kube::RestKubeApi>(kube_dates_, *std::move(watches),
                                              std::move(config->token_source));
  return absl::OkStatus();
}

absl::Status Clients::MakeOci(absl::Duration token_patience) {
  absl::StatusOr<OciIdentity> identity = OciIdentityFromFlags(token_patience);
  if (!identity.ok()) return identity.status();
  const absl::StatusOr<http::ServerUrl> url = http::ParseServerUrl(identity->endpoint);
  if (!url.ok()) return Prefixed("OCI endpoint", url.status());
  http::TransportOptions transport;
  transport.base_url = identity->endpoint;
  transport.ca_pem = identity->ca_pem;
  absl::StatusOr<std::unique_ptr<http::Transport>> made = http::MakeCpprestTransport(transport);
  if (!made.ok()) return Prefixed("OCI endpoint", made.status());
  oci_transport_ = std::make_unique<http::DatedTransport>(*std::move(made), base::RealClock());
  region_ = identity->region;
  endpoint_ = identity->endpoint;
  credentials_ = std::move(identity->credentials);
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
