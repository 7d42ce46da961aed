// Credentials in the layout of the ingress controller's Secret (its --authType=user):
//
//   stringData:
//     config: |
//       auth:
//         region: us-ashburn-1
//         tenancy: ocid1.tenancy.oc1..bbbb
//         user: ocid1.user.oc1..aaaa
//         fingerprint: 20:3b:97:13:...
//         passphrase: ...             (only if the key is encrypted)
//     private-key: |
//       -----BEGIN RSA PRIVATE KEY-----
//
// read from the folder where the Secret is mounted: that needs no right to read Secrets.
#ifndef OCI_BACKEND_DRAIN_OCI_INGRESS_SECRET_H_
#define OCI_BACKEND_DRAIN_OCI_INGRESS_SECRET_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "oci/config_file.h"
#include "oci/credentials.h"

namespace oci {

// The values of `config`. InvalidArgument, beginning with `what` and showing no value,
// if it is no YAML, has no map `auth`, or one of its fields is no text.
absl::StatusOr<ConfigProfile> ParseIngressSecretConfig(const std::string& yaml,
                                                       absl::string_view what);

class IngressSecretCredentials final : public CredentialsProvider {
 public:
  // Reads both files, of one version of the Secret: the kubelet replaces them together
  // by turning a link (..data). Errors name the folder, the key and what to put there.
  static absl::StatusOr<std::unique_ptr<IngressSecretCredentials>> Load(const std::string& folder);

  const std::string& region() const { return region_; }  // as of Load

  absl::StatusOr<Credentials> Get() override;
  // Reads the files again.
  absl::Status Refresh(const Credentials& refused) override;

 private:
  IngressSecretCredentials(std::string folder, std::string region, Credentials credentials);

  const std::string folder_;
  const std::string region_;
  absl::Mutex mutex_;
  Credentials credentials_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_INGRESS_SECRET_H_
