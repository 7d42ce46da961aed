// Stored objects as the texts that a client asked for.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_RENDER_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_RENDER_H_

#include <string>
#include <variant>

#include "http/transport.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"
#include "sim/kube_resources.h"
#include "sim/kube_selector.h"
#include "sim/kube_store.h"

namespace sim {

// The Accept header's wish.
enum class KubeView { kFull, kMetadata, kMetadataList };

// NotAcceptable if nothing that the header names can be served. A Table is never
// served: clients that prefer one name application/json as second best.
std::variant<KubeView, KubeError> ChooseView(const http::Headers& headers);

// {"kind":...,"apiVersion":...,"metadata":...}
std::string RenderObject(const KubeResource& resource, const JsonTree& object, KubeView view);

// One line of a watch.
std::string RenderEvent(absl::string_view type, absl::string_view object_text);
// What a bookmark has in place of an object.
std::string RenderBookmark(const KubeResource& resource, int64_t resource_version, KubeView view);

// A list by `info`'s limit, continue and resourceVersion.
http::Response RenderList(const KubeStore& store, const KubeRequestInfo& info,
                          const KubeSelector& selector, KubeView view);

http::Response JsonResponse(int status, std::string body);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_RENDER_H_
