// The calls of the Kubernetes API that this project makes.
#ifndef OCI_BACKEND_DRAIN_KUBE_KUBE_API_H_
#define OCI_BACKEND_DRAIN_KUBE_KUBE_API_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"
#include "kube/types.h"

namespace kube {

enum class Resource {
  kServices,
  kIngresses,
  kIngressClasses,
  kEndpointSlices,
  kPods,  // metadata only
  kDeployments,
  kStatefulSets,
  kReplicaSets,  // metadata only
  kLeases,
};

// "pods", "ingressclasses", ...: as RBAC rules and messages name it.
absl::string_view ResourceName(Resource resource);

struct ListRequest {
  Resource resource = Resource::kServices;
  std::string ns = {};  // empty: all namespaces
  int limit = 500;
  std::string continue_token = {};  // empty: first page
  std::string name = {};            // that object alone; empty: all
};

struct WatchRequest {
  Resource resource = Resource::kServices;
  std::string ns = {};
  std::string resource_version = {};
  // The server ends the watch after this; silence longer than it plus a margin
  // is a dead connection.
  absl::Duration timeout = absl::Minutes(5);
  // A connection without a byte (bookmarks come about once a minute) for so long
  // is given up.
  absl::Duration silence = absl::Seconds(90);
  std::string name = {};  // that object alone; empty: all
};

// A collection of objects that are read or written one at a time, or listed whole.
enum class Collection {
  kPods,
  kEndpoints,
  kConfigMaps,
  kEvents,
  kAutoscalers,        // autoscaling/v2
  kDisruptionBudgets,  // policy/v1
  kLeases,             // coordination.k8s.io/v1
};

// Thread-safe; calls block the calling thread. Statuses as in
// oci/load_balancer_api.h, with these of Kubernetes:
//   AlreadyExists      409 reason AlreadyExists.
//   Aborted            409 Conflict: read again.
//   OutOfRange         410 Gone / Expired: list again.
//   PermissionDenied   403; the message names verb, resource and namespace.
class KubeApi {
 public:
  virtual ~KubeApi() = default;

  // One page, as the server's JSON text; decoder.h reads it.
  virtual absl::StatusOr<std::string> List(const ListRequest& request) = 0;

  // Calls on_bytes with pieces of the stream (they end anywhere, also within a
  // line) until the server ends it (OK), an error, or cancellation (Cancelled).
  virtual absl::Status Watch(const WatchRequest& request,
                             const std::function<absl::Status(absl::string_view)>& on_bytes,
                             std::shared_ptr<http::Cancellation> cancellation) = 0;

  virtual absl::StatusOr<PodDetails> GetPod(const ObjectKey& pod) = 0;
  virtual absl::StatusOr<Endpoints> GetEndpoints(const ObjectKey& service) = 0;

  virtual absl::StatusOr<ConfigMap> GetConfigMap(const ObjectKey& key) = 0;
  // Creates (empty resource_version) or replaces under that resource_version.
  // Answers the object as stored. Aborted: somebody else wrote it.
  virtual absl::StatusOr<ConfigMap> PutConfigMap(const ConfigMap& config_map) = 0;

  virtual absl::StatusOr<Lease> GetLease(const ObjectKey& key) = 0;
  // Like PutConfigMap.
  virtual absl::StatusOr<Lease> PutLease(const Lease& lease) = 0;

  // All of a namespace in one page of at most 500; decoder.h reads it. NotFound: the
  // cluster does not serve this kind.
  virtual absl::StatusOr<std::string> ListObjects(Collection collection, const std::string& ns) = 0;
  // Takes a label away from the Pod if it has this UID; one without the label stays
  // as it is. NotFound or Aborted: the Pod is gone, or another one has its name.
  virtual absl::Status RemovePodLabel(const ObjectKey& pod, const std::string& uid,
                                      absl::string_view label) = 0;

  virtual absl::Status CreateEvent(const Event& event) = 0;
  // Counts a repetition on an event created before. NotFound: it has expired.
  virtual absl::Status PatchEventSeries(const ObjectKey& event, int count,
                                        absl::Time last_observed) = 0;

  // Server-side apply on pods/status: this condition and nothing else is ours, under
  // a field manager of its type's own. NotFound: no such Pod. InvalidArgument: the
  // name belongs to a Pod with another UID. Aborted: another manager has the entry.
  virtual absl::Status ApplyPodCondition(const PodCondition& condition) = 0;

  // See http::Transport.
  virtual void EndCalls() {}
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_KUBE_API_H_
