// JSON of the Kubernetes API -> values of types.h.
//
// An object that cannot be decoded is told apart from a document that cannot be
// read: one bad object in a page does not cost the others. Nothing here throws
// or ends the process, whatever the text.
#ifndef OCI_BACKEND_DRAIN_KUBE_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_DECODER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/kube_api.h"
#include "kube/types.h"

namespace kube {

// One object that is left out, and why: "services shop/web: spec.ports[0].port:
// expected an integer, got a string". `key` is as much of it as could be read.
struct BadObject {
  ObjectKey key;
  absl::Status why;
};

struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
  std::vector<Object> objects;
  std::vector<BadObject> bad;
};

// InvalidArgument: not JSON, or not a list (no items, no resourceVersion): a
// document that only looks empty must not empty the cache. Pages of Pods and
// ReplicaSets are read as a stream of tokens that keeps nothing but the fields
// of types.h.
absl::StatusOr<ListPage> DecodeListPage(Resource resource, absl::string_view json);

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kBookmark;
  // Of the object or bookmark: where a broken watch resumes. Empty with kError.
  std::string resource_version;
  // Of the object, also if it is bad; empty with kBookmark and kError.
  ObjectKey key;
  std::string uid;
  // With kAdded and kModified, unless it is bad.
  std::optional<Object> object;
  // kAdded, kModified: why the object is bad. kError: the server's Status, as
  // http_status.h maps it (OutOfRange: list again). OK otherwise.
  absl::Status error;
};

// InvalidArgument: not JSON, or not an event of a known type.
absl::StatusOr<WatchEvent> DecodeWatchEvent(Resource resource, absl::string_view line);

absl::StatusOr<PodDetails> DecodePod(absl::string_view json);
absl::StatusOr<Endpoints> DecodeEndpoints(absl::string_view json);
absl::StatusOr<ConfigMap> DecodeConfigMap(absl::string_view json);
absl::StatusOr<Lease> DecodeLease(absl::string_view json);

// Lists that are read whole, in one page. InvalidArgument also for a list that goes
// on and for one with an object that cannot be read.
absl::StatusOr<std::vector<HorizontalPodAutoscaler>> DecodeAutoscalers(absl::string_view json);
absl::StatusOr<std::vector<DisruptionBudget>> DecodeDisruptionBudgets(absl::string_view json);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_DECODER_H_
