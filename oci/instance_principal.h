// Sessions of the instance that this runs on.
//
// The metadata service gives the instance's certificate and key; OCI's federation
// endpoint gives a token for a key pair made here, if the request is signed with them:
//
//   GET  .../identity/cert.pem, key.pem, intermediate.pem
//   POST https://auth.REGION.DOMAIN/v1/x509      signed by the instance's key, without
//        {"certificate", "intermediateCertificates", "publicKey"}     the host header
//   <-   {"token": "<jwt>"}
#ifndef OCI_BACKEND_DRAIN_OCI_INSTANCE_PRINCIPAL_H_
#define OCI_BACKEND_DRAIN_OCI_INSTANCE_PRINCIPAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "oci/certificate.h"
#include "oci/environment.h"
#include "oci/metadata_service.h"
#include "oci/private_key.h"
#include "oci/session_source.h"

namespace oci {

struct InstancePrincipalOptions {
  // "https://auth.us-ashburn-1.oraclecloud.com". $OCI_SDK_AUTH_CLIENT_REGION_URL, if it
  // is set, is taken in its place: whoever makes the source sees to that.
  std::string federation_url = {};
  std::string ca_pem = {};                     // empty: the system's CAs
  absl::Duration timeout = absl::Seconds(10);  // of the federation request
};

class InstancePrincipal final : public SessionSource {
 public:
  // InvalidArgument if the address or the CAs cannot be used. Nothing is sent.
  // `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<InstancePrincipal>> Make(
      std::unique_ptr<MetadataService> metadata, const InstancePrincipalOptions& options,
      base::Clock& clock);

  std::string name() const override { return "instance principal"; }

  // Certificate and key are asked for each time, since they are replaced every few
  // hours; where they were replaced in between and do not fit, they are asked for again.
  // FailedPrecondition if the certificate speaks for another tenancy than the last.
  absl::StatusOr<Session> Fetch() override;
  void EndCalls() override;

 private:
  // Of one moment, and seen to fit.
  struct Leaf {
    Certificate certificate;
    std::shared_ptr<const PrivateKey> key;
    std::vector<Certificate> intermediates;
  };

  InstancePrincipal(std::unique_ptr<MetadataService> metadata,
                    std::unique_ptr<http::Transport> federation, absl::Duration timeout,
                    base::Clock& clock);

  absl::StatusOr<Leaf> ReadLeaf();
  absl::Status CheckTenancy(const Leaf& leaf);
  absl::StatusOr<Session> Exchange(const Leaf& leaf);

  const std::unique_ptr<MetadataService> metadata_;
  const std::unique_ptr<http::Transport> federation_;
  const absl::Duration timeout_;
  base::Clock& clock_;
  absl::Mutex mutex_;
  std::string tenancy_ ABSL_GUARDED_BY(mutex_);  // of the first certificate
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_INSTANCE_PRINCIPAL_H_
