// KubeApi over HTTP.
#ifndef OCI_BACKEND_DRAIN_KUBE_REST_KUBE_API_H_
#define OCI_BACKEND_DRAIN_KUBE_REST_KUBE_API_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "http/transport.h"
#include "kube/access.h"
#include "kube/api_path.h"
#include "kube/encoder.h"
#include "kube/kube_api.h"
#include "kube/token_source.h"

namespace kube {

struct RestOptions {
  Reporter reporter;
  std::string user_agent = "oci-backend-drain";
  absl::Duration call_timeout = absl::Seconds(20);
  // Of a page of a list, which can be large.
  absl::Duration list_timeout = absl::Seconds(60);
  size_t max_page_bytes = 64 << 20;
};

// Pods and ReplicaSets are listed and watched as metadata only. A request that is
// answered with 401 is sent once more with a new token.
class RestKubeApi final : public KubeApi {
 public:
  // `calls` and `watches` may be the same transport; two keep a burst of calls
  // from waiting behind open watches. `token_source` may be null: no token is
  // sent (client certificates).
  RestKubeApi(std::shared_ptr<http::Transport> calls, std::shared_ptr<http::Transport> watches,
              std::shared_ptr<TokenSource> token_source, RestOptions options = {});

  absl::StatusOr<std::string> List(const ListRequest& request) override;
  absl::Status Watch(const WatchRequest& request,
                     const std::function<absl::Status(absl::string_view)>& on_bytes,
                     std::shared_ptr<http::Cancellation> cancellation) override;
  absl::StatusOr<PodDetails> GetPod(const ObjectKey& pod) override;
  absl::StatusOr<Endpoints> GetEndpoints(const ObjectKey& service) override;
  absl::StatusOr<ConfigMap> GetConfigMap(const ObjectKey& key) override;
  absl::StatusOr<ConfigMap> PutConfigMap(const ConfigMap& config_map) override;
  absl::StatusOr<Lease> GetLease(const ObjectKey& key) override;
  absl::StatusOr<Lease> PutLease(const Lease& lease) override;
  absl::StatusOr<std::string> ListObjects(Collection collection, const std::string& ns) override;
  absl::Status RemovePodLabel(const ObjectKey& pod, const std::string& uid,
                              absl::string_view label) override;
  absl::Status CreateEvent(const Event& event) override;
  absl::Status PatchEventSeries(const ObjectKey& event, int count,
                                absl::Time last_observed) override;
  absl::Status ApplyPodCondition(const PodCondition& condition) override;
  void EndCalls() override;

  // What the server says it is.
  absl::StatusOr<ServerVersion> GetVersion();
  // Whether we have a right: a SelfSubjectAccessReview, which stores nothing.
  absl::StatusOr<AccessAnswer> ReviewAccess(const AccessQuestion& question);

 private:
  http::Request MakeRequest(std::string method, std::string target) const;
  // Adds the Authorization header. Unauthenticated if there is no token to add.
  absl::Status Authorize(http::Request& request);
  // The body of a 2xx answer; else the status of http_status.h, with `what`.
  absl::StatusOr<std::string> Send(http::Request request, absl::string_view what);
  absl::StatusOr<std::string> GetObject(Collection collection, const ObjectKey& key);
  // Creates or replaces; Aborted if somebody else was faster.
  absl::StatusOr<std::string> PutObject(Collection collection, const ObjectKey& key, bool is_new,
                                        std::string body);

  const std::shared_ptr<http::Transport> calls_;
  const std::shared_ptr<http::Transport> watches_;
  const std::shared_ptr<TokenSource> token_source_;
  const RestOptions options_;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_REST_KUBE_API_H_
