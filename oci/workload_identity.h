// Sessions of an OKE workload: of the Pod's service account.
//
// The cluster's control plane gives a token for a key pair made here, if the Pod shows
// its service account's token:
//
//   POST https://$KUBERNETES_SERVICE_HOST:12250/resourcePrincipalSessionTokens
//        authorization: Bearer <service account token>
//        {"podKey": "-----BEGIN PUBLIC KEY-----..."}
//   <-   "<base64 of {"token":"ST$<jwt>"}>"
#ifndef OCI_BACKEND_DRAIN_OCI_WORKLOAD_IDENTITY_H_
#define OCI_BACKEND_DRAIN_OCI_WORKLOAD_IDENTITY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "http/transport.h"
#include "oci/environment.h"
#include "oci/security_token.h"
#include "oci/session_source.h"

namespace oci {

struct WorkloadIdentityOptions {
  // Read are OCI_RESOURCE_PRINCIPAL_VERSION (1.1 or 2.2), KUBERNETES_SERVICE_HOST and
  // OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH (else ca.crt of the folder).
  Environment environment = ProcessEnvironment();
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  int port = 12250;
  absl::Duration timeout = absl::Seconds(30);  // of the request
  uint64_t seed = 0;                           // of the request ids
};

class WorkloadIdentity final : public SessionSource {
 public:
  // InvalidArgument names the variable that is missing or wrong, NotFound the file.
  // Nothing is sent. `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<WorkloadIdentity>> Make(
      const WorkloadIdentityOptions& options, base::Clock& clock);

  // $OCI_RESOURCE_PRINCIPAL_REGION, an identifier or a short code. InvalidArgument if it
  // is not set.
  static absl::StatusOr<std::string> Region(const Environment& environment);

  std::string name() const override { return "workload identity"; }

  // The service account's token is read each time: the kubelet replaces it. It has to be
  // valid for another five minutes.
  absl::StatusOr<Session> Fetch() override;
  void EndCalls() override { transport_->EndCalls(); }

 private:
  WorkloadIdentity(const WorkloadIdentityOptions& options,
                   std::unique_ptr<http::Transport> transport, base::Clock& clock);

  absl::StatusOr<SecurityToken> ServiceAccountToken() const;
  absl::Status NotReached(const absl::Status& status) const;
  std::string RequestId();

  const std::string token_path_;
  const absl::Duration timeout_;
  const std::unique_ptr<http::Transport> transport_;
  base::Clock& clock_;
  base::Random random_;  // of Fetch's thread
};

// The token in an answer of the form above. InvalidArgument, which shows nothing of it,
// for anything else.
absl::StatusOr<SecurityToken> ParseWorkloadAnswer(absl::string_view body);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_WORKLOAD_IDENTITY_H_
