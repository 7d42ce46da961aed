// Clients of Kubernetes and OCI as the flags say, shared by the programs.
#ifndef OCI_BACKEND_DRAIN_CMD_CLIENTS_H_
#define OCI_BACKEND_DRAIN_CMD_CLIENTS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/server_clock.h"
#include "http/transport.h"
#include "kube/kube_api.h"
#include "kube/rest_kube_api.h"
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

  // With that one of the two which can be made, for a diagnosis; the statuses say why
  // the other is missing, whose functions may not be called then.
  static std::unique_ptr<Clients> AsFarAsPossible(absl::Duration token_patience, absl::Status& kube,
                                                  absl::Status& oci);
  bool has_kube() const { return kube_ != nullptr; }
  bool has_oci() const { return oci_ != nullptr; }

  // Whether the API server can be reached and knows us; the message names it.
  absl::Status Probe();

  kube::KubeApi& kube() { return *kube_; }
  kube::RestKubeApi& rest_kube() { return *kube_; }
  // On connections of its own, with kLeaseTimeout: a renewal must not wait behind
  // other calls, nor for one that hangs.
  kube::KubeApi& lease_kube() { return *lease_kube_; }
  static constexpr absl::Duration kLeaseTimeout = absl::Seconds(4);
  oci::LoadBalancerApi& oci() { return *oci_; }

  // Calls in flight end, and later ones fail: for a process that ends.
  void EndCalls();

  // Where the cluster's address came from, and the address: for messages.
  const std::string& cluster() const { return cluster_; }
  // "us-ashburn-1", or empty where only an endpoint is given.
  const std::string& region() const { return region_; }
  const std::string& endpoint() const { return endpoint_; }
  // Who speaks to OCI, in words that hold no secret; may fetch a token.
  absl::StatusOr<std::string> WhoAmI();
  // By the last answer; nullopt: none has come.
  std::optional<http::ClockReading> kube_clock() const { return kube_dates_->last(); }
  std::optional<http::ClockReading> oci_clock() const { return oci_transport_->last(); }

 private:
  Clients() = default;
  absl::Status MakeKube();
  absl::Status MakeOci(absl::Duration token_patience);

  std::string cluster_;
  std::shared_ptr<http::DatedTransport> kube_dates_;
  std::unique_ptr<kube::RestKubeApi> kube_;
  std::unique_ptr<kube::KubeApi> lease_kube_;
  std::string region_;
  std::string endpoint_;
  std::unique_ptr<http::DatedTransport> oci_transport_;
  std::unique_ptr<oci::CredentialsProvider> credentials_;
  std::unique_ptr<oci::LoadBalancerApi> oci_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CLIENTS_H_
