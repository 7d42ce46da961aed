#include "sim/kube_resources.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

constexpr absl::string_view kEmptyPod = R"("spec":{"containers":null},"status":{})";
constexpr absl::string_view kEmptyBalanced = R"("spec":{},"status":{"loadBalancer":{}})";
constexpr absl::string_view kEmptySlice = R"("addressType":"","endpoints":null,"ports":null)";
constexpr absl::string_view kEmptyDeployment =
    R"("spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},)"
    R"("strategy":{}},"status":{})";
constexpr absl::string_view kEmptyReplicaSet =
    R"("spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},)"
    R"("status":{"replicas":0})";
constexpr absl::string_view kEmptyStatefulSet =
    R"("spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},)"
    R"("serviceName":"","updateStrategy":{}},"status":{"replicas":0})";
constexpr absl::string_view kEmptyEvent =
    R"("eventTime":null,"deprecatedSource":{},)"
    R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null)";

using Traits = KubeTraits;
constexpr Traits kGeneric = {};
constexpr Traits kStatus = {.status = true};
constexpr Traits kStatusAndGeneration = {.status = true, .generation = true};
constexpr Traits kGeneration = {.generation = true};
constexpr Traits kPutCreates = {.put_creates = true};
constexpr Traits kService = {.status = true, .put_creates = true};
constexpr Traits kLease = {.put_creates = true, .put_needs_version = true};
constexpr Traits kClass = {.namespaced = false, .generation = true};
constexpr Traits kNamespace = {.namespaced = false, .status = true};

// clang-format off
constexpr KubeResource kTable[] = {
    {"", "v1", "pods", "Pod", "po", kStatusAndGeneration, kEmptyPod},
    {"", "v1", "services", "Service", "svc", kService, kEmptyBalanced},
    {"", "v1", "endpoints", "Endpoints", "ep", kPutCreates, ""},
    {"", "v1", "configmaps", "ConfigMap", "cm", kGeneric, ""},
    {"", "v1", "namespaces", "Namespace", "ns", kNamespace, R"("spec":{},"status":{})"},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "", kGeneration, kEmptySlice},
    {"apps", "v1", "deployments", "Deployment", "deploy", kStatusAndGeneration, kEmptyDeployment},
    {"apps", "v1", "replicasets", "ReplicaSet", "rs", kStatusAndGeneration, kEmptyReplicaSet},
    {"apps", "v1", "statefulsets", "StatefulSet", "sts", kStatusAndGeneration, kEmptyStatefulSet},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", "ing", kStatusAndGeneration, kEmptyBalanced},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", "", kClass, R"("spec":{})"},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "hpa", kStatus, ""},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", kStatusAndGeneration, ""},
    {"events.k8s.io", "v1", "events", "Event", "ev", kPutCreates, kEmptyEvent},
    {"coordination.k8s.io", "v1", "leases", "Lease", "", kLease, R"("spec":{})"},
};
// clang-format on

const KubeResource& Known(absl::string_view group, absl::string_view plural) {
  const KubeResource* found = FindKubeResource(group, "v1", plural);
  if (found == nullptr) std::abort();
  return *found;
}

std::string PercentDecode(absl::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      out += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string VerbOf(const http::Request& request, const KubeRequestInfo& info) {
  if (request.method == "GET") {
    if (!info.name.empty()) return "get";
    const std::string& watch = info.Parameter("watch");
    return watch == "1" || watch == "true" ? "watch" : "list";
  }
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "DELETE" && info.name.empty()) return "deletecollection";
  return absl::AsciiStrToLower(request.method);
}

// Fills resource, ns, name and subresource from the segments after the version.
void TakeResource(absl::string_view group, absl::string_view version, std::vector<std::string> rest,
                  KubeRequestInfo& info) {
  if (rest.size() >= 3 && rest[0] == "namespaces" &&
      (rest[2] != "status" && rest[2] != "finalize")) {
    info.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  if (rest.empty() || rest.size() > 3) return;
  const KubeResource* resource = FindKubeResource(group, version, rest[0]);
  if (resource == nullptr) return;
  if (resource->traits.namespaced == false && !info.ns.empty()) return;
  if (rest.size() > 1) info.name = rest[1];
  if (rest.size() > 2) info.subresource = rest[2];
  // An object is addressed in its namespace only.
  if (resource->traits.namespaced && info.ns.empty() && !info.name.empty()) return;
  info.resource = resource;
}

}  // namespace

std::string KubeResource::api_version() const {
  return group.empty() ? std::string(version) : absl::StrCat(group, "/", version);
}

std::string KubeResource::group_resource() const {
  return group.empty() ? std::string(plural) : absl::StrCat(plural, ".", group);
}

std::string KubeResource::group_kind() const {
  // Events of both groups are validated as core ones, and say so.
  return group.empty() || kind == "Event" ? std::string(kind) : absl::StrCat(kind, ".", group);
}

absl::Span<const KubeResource> KubeResources() { return kTable; }

const KubeResource* FindKubeResource(absl::string_view group, absl::string_view version,
                                     absl::string_view plural) {
  for (const KubeResource& resource : KubeResources()) {
    if (resource.group == group && resource.version == version && resource.plural == plural) {
      return &resource;
    }
  }
  return nullptr;
}

const KubeResource* FindKubeKind(absl::string_view api_version, absl::string_view kind) {
  for (const KubeResource& resource : KubeResources()) {
    if (resource.kind == kind && resource.api_version() == api_version) return &resource;
  }
  return nullptr;
}

namespace resources {
const KubeResource& Pods() { return Known("", "pods"); }
const KubeResource& Services() { return Known("", "services"); }
const KubeResource& Endpoints() { return Known("", "endpoints"); }
const KubeResource& EndpointSlices() { return Known("discovery.k8s.io", "endpointslices"); }
const KubeResource& Deployments() { return Known("apps", "deployments"); }
const KubeResource& ReplicaSets() { return Known("apps", "replicasets"); }
const KubeResource& StatefulSets() { return Known("apps", "statefulsets"); }
const KubeResource& Namespaces() { return Known("", "namespaces"); }
const KubeResource& Events() { return Known("events.k8s.io", "events"); }
}  // namespace resources

const std::string& KubeRequestInfo::Parameter(const std::string& name) const {
  static const std::string* const empty = new std::string();
  const auto found = query.find(name);
  return found == query.end() ? *empty : found->second;
}

KubeRequestInfo ParseKubeRequest(const http::Request& request) {
  KubeRequestInfo info;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(request.target, absl::MaxSplits('?', 1));
  info.path = PercentDecode(parts.first, false);
  for (const absl::string_view parameter : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(parameter, absl::MaxSplits('=', 1));
    info.query[PercentDecode(pair.first, true)] = PercentDecode(pair.second, true);
  }
  std::vector<std::string> segments;
  for (const absl::string_view segment : absl::StrSplit(parts.first, '/', absl::SkipEmpty())) {
    segments.push_back(PercentDecode(segment, false));
  }
  if (segments.size() >= 3 && segments[0] == "api") {
    TakeResource("", segments[1], {segments.begin() + 2, segments.end()}, info);
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    TakeResource(segments[1], segments[2], {segments.begin() + 3, segments.end()}, info);
  }
  info.verb =
      info.resource == nullptr ? absl::AsciiStrToLower(request.method) : VerbOf(request, info);
  return info;
}

}  // namespace sim
