// The resources that the fake Kubernetes API serves, and what a request's URL
// asks of them.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_RESOURCES_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_RESOURCES_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "http/transport.h"

namespace sim {

// How a resource behaves.
struct KubeTraits {
  bool namespaced = true;
  bool status = false;             // has a status subresource
  bool generation = false;         // metadata.generation counts changes of the spec
  bool put_creates = false;        // PUT on a missing object creates it
  bool put_needs_version = false;  // PUT without resourceVersion is refused
};

// Rows of a constant table: compare by address.
struct KubeResource {
  absl::string_view group;  // empty: the core group
  absl::string_view version;
  absl::string_view plural;
  absl::string_view kind;
  absl::string_view short_name;  // empty: none
  KubeTraits traits;
  // What Go writes for an empty object beside its metadata; bookmarks carry it.
  absl::string_view empty_members;

  std::string api_version() const;     // "v1", "apps/v1"
  std::string group_resource() const;  // "pods", "leases.coordination.k8s.io"
  std::string group_kind() const;      // "Pod", "Deployment.apps"
};

absl::Span<const KubeResource> KubeResources();
// nullptr if there is none.
const KubeResource* FindKubeResource(absl::string_view group, absl::string_view version,
                                     absl::string_view plural);
const KubeResource* FindKubeKind(absl::string_view api_version, absl::string_view kind);

// These are there.
namespace resources {
const KubeResource& Pods();
const KubeResource& Services();
const KubeResource& Endpoints();
const KubeResource& EndpointSlices();
const KubeResource& Deployments();
const KubeResource& ReplicaSets();
const KubeResource& StatefulSets();
const KubeResource& Namespaces();
const KubeResource& Events();
}  // namespace resources

// One object, there or not.
struct KubeObjectRef {
  const KubeResource* resource = nullptr;
  std::string ns;  // empty for cluster-scoped objects
  std::string name;
};

// A request's URL, taken apart.
struct KubeRequestInfo {
  // "get", "list", "watch", "create", "update", "patch", "delete"; for a path
  // that is no resource's the HTTP method in small letters.
  std::string verb;
  const KubeResource* resource = nullptr;  // null: no resource's path
  std::string ns;
  std::string name;
  std::string subresource;
  std::string path;  // decoded, without the query
  std::map<std::string, std::string> query;

  // The parameter's value or empty.
  const std::string& Parameter(const std::string& name) const;
  KubeObjectRef ref() const { return {resource, ns, name}; }
};

KubeRequestInfo ParseKubeRequest(const http::Request& request);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_RESOURCES_H_
