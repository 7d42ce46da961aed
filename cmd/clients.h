// Clients of Kubernetes and OCI as the flags say, shared by the programs.
#ifndef OCI_BACKEND_DRAIN_CMD_CLIENTS_H_
#define OCI_BACKEND_DRAIN_CMD_CLIENTS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/transport.h"
#include "kube/kube_api.h"
#include "oci/credentials.h"
#include "oci/load_balancer_api.h"

namespace cmd {

class Clients {
 public:
  // Errors name the file or field and the cure. Nothing has been sent yet.
  static absl::StatusOr<std::unique_ptr<Clients>> FromFlags();

  // Whether the API server can be reached and knows us; the message names it.
  absl::Status Probe();

  kube::KubeApi& kube() { return *kube_; }
  oci::LoadBalancerApi& oci() { return *oci_; }

 private:
  Clients() = default;
  absl::Status MakeKube();
  absl::Status MakeOci();

  std::string cluster_;  // where the cluster's address came from, for messages
  std::unique_ptr<kube::KubeApi> kube_;
  std::unique_ptr<http::Transport> oci_transport_;
  std::unique_ptr<oci::CredentialsProvider> credentials_;
  std::unique_ptr<oci::LoadBalancerApi> oci_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CLIENTS_H_
