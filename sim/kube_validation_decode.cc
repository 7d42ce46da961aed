// Values whose type the field has not: a real server fails to decode them.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/kube_validation.h"

namespace sim {
namespace {

struct TypedField {
  absl::string_view kinds;  // separated by commas; empty: all
  absl::string_view path;   // "*" is every member or item
  absl::string_view type;   // as JsonTree::TypeName; "integer"
  absl::string_view go;     // "ObjectMeta.metadata.annotations of type string"
};

constexpr TypedField kFields[] = {
    {"", "metadata", "object", "Object.metadata of type v1.ObjectMeta"},
    {"", "metadata.name", "string", "ObjectMeta.metadata.name of type string"},
    {"", "metadata.labels", "object", "ObjectMeta.metadata.labels of type map[string]string"},
    {"", "metadata.labels.*", "string", "ObjectMeta.metadata.labels of type string"},
    {"", "metadata.annotations", "object",
     "ObjectMeta.metadata.annotations of type map[string]string"},
    {"", "metadata.annotations.*", "string", "ObjectMeta.metadata.annotations of type string"},
    {"ConfigMap", "data.*", "string", "ConfigMap.data of type string"},
    {"Service,Pod,Deployment,ReplicaSet,StatefulSet,Ingress,IngressClass,Lease", "spec", "object",
     "Object.spec"},
    {"Service", "spec.publishNotReadyAddresses", "bool",
     "ServiceSpec.spec.publishNotReadyAddresses of type bool"},
    {"Service", "spec.selector.*", "string", "ServiceSpec.spec.selector of type string"},
    {"Service", "spec.ports", "array", "ServiceSpec.spec.ports of type []v1.ServicePort"},
    {"Service", "spec.ports.*.port", "integer", "ServicePort.spec.ports.port of type int32"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.replicas", "integer",
     "Spec.spec.replicas of type int32"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.template.metadata.labels.*", "string",
     "ObjectMeta.spec.template.metadata.labels of type string"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.template.metadata.annotations.*", "string",
     "ObjectMeta.spec.template.metadata.annotations of type string"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.template.spec.terminationGracePeriodSeconds",
     "integer", "PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.template.spec.containers", "array",
     "PodSpec.spec.template.spec.containers of type []v1.Container"},
    {"Deployment,ReplicaSet,StatefulSet", "spec.template.spec.containers.*.env.*.value", "string",
     "EnvVar.spec.template.spec.containers.env.value of type string"},
    {"Pod", "spec.terminationGracePeriodSeconds", "integer",
     "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
    {"Pod", "spec.containers", "array", "PodSpec.spec.containers of type []v1.Container"},
    {"Lease", "spec.leaseDurationSeconds", "integer",
     "LeaseSpec.spec.leaseDurationSeconds of type int32"},
    {"Event", "note", "string", "Event.note of type string"},
};

bool HasType(const JsonTree& value, absl::string_view type) {
  return type == "integer" ? value.is_int() : value.TypeName() == type;
}

// The first value under `path` that is of another type, or nullptr.
const JsonTree* FindMistyped(const JsonTree& value, absl::Span<const absl::string_view> path,
                             absl::string_view type) {
  if (value.is_null()) return nullptr;
  if (path.empty()) return HasType(value, type) ? nullptr : &value;
  if (path[0] != "*") return FindMistyped(value[path[0]], path.subspan(1), type);
  for (const auto& [name, member] : value.members()) {
    if (const JsonTree* found = FindMistyped(member, path.subspan(1), type)) return found;
  }
  for (const JsonTree& item : value.items()) {
    if (const JsonTree* found = FindMistyped(item, path.subspan(1), type)) return found;
  }
  return nullptr;
}

bool IsAmong(absl::string_view kinds, absl::string_view kind) {
  if (kinds.empty()) return true;
  for (const absl::string_view one : absl::StrSplit(kinds, ',')) {
    if (one == kind) return true;
  }
  return false;
}

}  // namespace

std::optional<KubeError> CheckDecodable(const KubeResource& resource, const JsonTree& object) {
  const std::string& api_version = object["apiVersion"].AsString();
  const std::string& kind = object["kind"].AsString();
  const std::string expected = resource.api_version();
  if (!kind.empty() && kind != resource.kind) {
    return kube_error::BadRequest(
        absl::StrCat(kind, " in version \"", api_version.substr(api_version.rfind('/') + 1),
                     "\" cannot be handled as a ", resource.kind, ": no kind \"", kind,
                     "\" is registered for version \"", expected, "\" in this resource"));
  }
  if (!api_version.empty() && api_version != expected) {
    return kube_error::BadRequest(absl::StrCat("the API version in the data (", api_version,
                                               ") does not match the expected API version (",
                                               expected, ")"));
  }
  for (const TypedField& field : kFields) {
    if (!IsAmong(field.kinds, resource.kind)) continue;
    const std::vector<absl::string_view> path = absl::StrSplit(field.path, '.');
    const JsonTree* found = FindMistyped(object, path, field.type);
    if (found == nullptr) continue;
    return kube_error::BadRequest(absl::StrCat(resource.kind, " in version \"", resource.version,
                                               "\" cannot be handled as a ", resource.kind,
                                               ": json: cannot unmarshal ", found->TypeName(),
                                               " into Go struct field ", field.go));
  }
  return std::nullopt;
}

}  // namespace sim
