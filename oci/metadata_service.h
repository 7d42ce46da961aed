// The metadata service of an OCI instance: who and where this machine is.
#ifndef OCI_BACKEND_DRAIN_OCI_METADATA_SERVICE_H_
#define OCI_BACKEND_DRAIN_OCI_METADATA_SERVICE_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "oci/environment.h"
#include "oci/region_table.h"

namespace oci {

// PEM texts of one moment; the key is a secret.
struct InstanceIdentity {
  std::string certificate_pem;
  std::string key_pem;
  std::string intermediate_pem;
};

struct MetadataOptions {
  // $OCI_METADATA_BASE_URL is read; http://169.254.169.254/opc/v2 if it is not set.
  Environment environment = ProcessEnvironment();
  absl::Duration timeout = absl::Seconds(3);  // of each request
};

// Thread-safe. Every answer has a bound and is checked before it is used. Errors say
// what was asked, of whom, and what to do.
class MetadataService {
 public:
  // InvalidArgument if the variable is no address, or one that the key would be sent
  // from in the clear: http:// is for 169.254.0.0/16 and this machine only. `clock` must
  // outlive the service. Nothing is sent.
  static absl::StatusOr<std::unique_ptr<MetadataService>> Make(const MetadataOptions& options,
                                                               base::Clock& clock);

  // "us-ashburn-1", or a short code. Tried three times, a second apart. Where version 2
  // has no such page, version 1 is asked from then on.
  absl::StatusOr<std::string> Region();

  // What it tells of a region that RegionTable does not know. Once.
  absl::StatusOr<RegionMetadata> RegionInfo();

  // Certificate, key and intermediate certificates of this instance. Once.
  absl::StatusOr<InstanceIdentity> Identity();

  // Ends calls under way, and every later one, with Cancelled.
  void EndCalls() { transport_->EndCalls(); }

 private:
  MetadataService(std::unique_ptr<http::Transport> transport, std::string path,
                  absl::Duration timeout, base::Clock& clock);

  // The text at `page`, of the version in use.
  absl::StatusOr<std::string> Get(absl::string_view page);
  absl::StatusOr<std::string> RegionOnce();

  const std::unique_ptr<http::Transport> transport_;
  const absl::Duration timeout_;
  base::Clock& clock_;
  absl::Mutex mutex_;
  std::string path_ ABSL_GUARDED_BY(mutex_);  // "/opc/v2"
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_METADATA_SERVICE_H_
