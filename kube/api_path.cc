#include "kube/api_path.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "http/url.h"
#include "kube/encoder.h"

namespace kube {
namespace {

constexpr size_t kMaxNameBytes = 253;
constexpr absl::string_view kCore = "/api/v1";
constexpr absl::string_view kCoordination = "/apis/coordination.k8s.io/v1";

absl::string_view GroupOf(Resource resource) {
  switch (resource) {
    case Resource::kServices:
    case Resource::kPods:
      return kCore;
    case Resource::kIngresses:
    case Resource::kIngressClasses:
      return "/apis/networking.k8s.io/v1";
    case Resource::kEndpointSlices:
      return "/apis/discovery.k8s.io/v1";
    case Resource::kLeases:
      return kCoordination;
    case Resource::kDeployments:
    case Resource::kStatefulSets:
    case Resource::kReplicaSets:
      break;
  }
  return "/apis/apps/v1";
}

absl::string_view GroupOf(Collection collection) {
  switch (collection) {
    case Collection::kEvents:
      return "/apis/events.k8s.io/v1";
    case Collection::kAutoscalers:
      return "/apis/autoscaling/v2";
    case Collection::kDisruptionBudgets:
      return "/apis/policy/v1";
    case Collection::kLeases:
      return kCoordination;
    case Collection::kPods:
    case Collection::kEndpoints:
    case Collection::kConfigMaps:
      break;
  }
  return kCore;
}

}  // namespace

absl::string_view CollectionName(Collection collection) {
  switch (collection) {
    case Collection::kPods:
      return "pods";
    case Collection::kEndpoints:
      return "endpoints";
    case Collection::kConfigMaps:
      return "configmaps";
    case Collection::kAutoscalers:
      return "horizontalpodautoscalers";
    case Collection::kDisruptionBudgets:
      return "poddisruptionbudgets";
    case Collection::kLeases:
      return "leases";
    case Collection::kEvents:
      break;
  }
  return "events";
}

namespace {

// What Kubernetes allows as one part of a path; anything else would address
// another object than was meant.
absl::Status CheckName(absl::string_view name, absl::string_view what) {
  const bool usable = !name.empty() && name.size() <= kMaxNameBytes && name != "." &&
                      name != ".." && name.find_first_of("/%?#") == absl::string_view::npos;
  if (usable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name.substr(0, kMaxNameBytes), "\" cannot be the name of a ", what));
}

absl::StatusOr<std::string> ResourceTarget(Resource resource, absl::string_view ns) {
  if (ns.empty()) return absl::StrCat(GroupOf(resource), "/", ResourceName(resource));
  if (resource == Resource::kIngressClasses) {
    return absl::InvalidArgumentError("ingressclasses have no namespace");
  }
  if (absl::Status status = CheckName(ns, "namespace"); !status.ok()) return status;
  return absl::StrCat(GroupOf(resource), "/namespaces/", http::EncodePathSegment(ns), "/",
                      ResourceName(resource));
}

void AppendName(const std::string& name, std::string& target) {
  if (name.empty()) return;
  absl::StrAppend(&target, "&fieldSelector=", http::EncodeQueryValue("metadata.name=" + name));
}

}  // namespace

absl::StatusOr<std::string> ListTarget(const ListRequest& request) {
  absl::StatusOr<std::string> target = ResourceTarget(request.resource, request.ns);
  if (!target.ok()) return target;
  absl::StrAppend(&*target, "?limit=", request.limit);
  if (!request.continue_token.empty()) {
    absl::StrAppend(&*target, "&continue=", http::EncodeQueryValue(request.continue_token));
  }
  AppendName(request.name, *target);
  return target;
}

absl::StatusOr<std::string> WatchTarget(const WatchRequest& request) {
  absl::StatusOr<std::string> target = ResourceTarget(request.resource, request.ns);
  if (!target.ok()) return target;
  const int64_t seconds = std::max<int64_t>(1, absl::ToInt64Seconds(request.timeout));
  absl::StrAppend(&*target, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=", seconds,
                  "&resourceVersion=", http::EncodeQueryValue(request.resource_version));
  AppendName(request.name, *target);
  return target;
}

absl::StatusOr<std::string> CollectionTarget(Collection collection, absl::string_view ns) {
  if (absl::Status status = CheckName(ns, "namespace"); !status.ok()) return status;
  return absl::StrCat(GroupOf(collection), "/namespaces/", http::EncodePathSegment(ns), "/",
                      CollectionName(collection));
}

absl::StatusOr<std::string> WholeTarget(Collection collection, absl::string_view ns) {
  absl::StatusOr<std::string> target = CollectionTarget(collection, ns);
  if (target.ok()) absl::StrAppend(&*target, "?limit=500");
  return target;
}

absl::StatusOr<std::string> ObjectTarget(Collection collection, const ObjectKey& key) {
  absl::StatusOr<std::string> target = CollectionTarget(collection, key.ns);
  if (!target.ok()) return target;
  if (absl::Status status = CheckName(key.name, "object"); !status.ok()) return status;
  absl::StrAppend(&*target, "/", http::EncodePathSegment(key.name));
  return target;
}

absl::StatusOr<std::string> PodStatusTarget(const PodCondition& condition) {
  absl::StatusOr<std::string> target = ObjectTarget(Collection::kPods, condition.pod);
  if (!target.ok()) return target;
  absl::StrAppend(&*target,
                  "/status?fieldManager=", http::EncodeQueryValue(FieldManagerOf(condition.type)));
  return target;
}

}  // namespace kube
