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
  // Errors name the file or field and the cure. Nothing has been sent yet, but to the
  // metadata service of a node whose region is to be known. `token_patience`: how long a
  // call to OCI waits for a token where one has to be fetched.
  static absl::StatusOr<std::unique_ptr<Clients>> FromFlags(
      absl::Duration token_patience = absl::Seconds(2));

  // Without oci(), which must not be called.
  static absl::StatusOr<std::unique_ptr<Clients>> OfClusterFromFlags();

  // Whether the API server can be reached and knows us; the message names it.
  absl::Status Probe();

  kube::KubeApi& kube() { return *kube_; }
  // On connections of its own, with kLeaseTimeout: a renewal must not wait behind
  // other calls, nor for one that hangs.
  kube::KubeApi& lease_kube() { return *lease_kube_; }
  static constexpr absl::Duration kLeaseTimeout = absl::Seconds(4);
  oci::LoadBalancerApi& oci() { return *oci_; }

 private:
  Clients() = default;
  absl::Status MakeKube();
  absl::Status MakeOci(absl::Duration token_patience);

  std::string cluster_;  // where the cluster's address came from, for messages
  std::unique_ptr<kube::KubeApi> kube_;
  std::unique_ptr<kube::KubeApi> lease_kube_;
  std::unique_ptr<http::Transport> oci_transport_;
  std::unique_ptr<oci::CredentialsProvider> credentials_;
  std::unique_ptr<oci::LoadBalancerApi> oci_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CLIENTS_H_
