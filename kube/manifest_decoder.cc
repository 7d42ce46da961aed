#include "kube/manifest_decoder.h"

#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/json_fields.h"
#include "kube/object_decoder.h"
#include "kube/yaml_view.h"

namespace kube {
namespace {

constexpr char kDefaultNamespace[] = "default";
constexpr absl::string_view kUnforeseen[] = {"DaemonSet", "Rollout", "Pod", "ReplicaSet",
                                             "ReplicationController"};

template <typename T>
absl::StatusOr<T> Decode(Resource resource, const rapidjson::Value& object) {
  absl::StatusOr<Object> decoded = DecodeObject(resource, object);
  if (!decoded.ok()) return decoded.status();
  T value = std::get<T>(*std::move(decoded));
  if (value.key.ns.empty()) value.key.ns = kDefaultNamespace;
  return value;
}

template <typename T>
absl::Status Append(absl::StatusOr<T> value, std::vector<T>& list) {
  if (!value.ok()) return value.status();
  list.push_back(*std::move(value));
  return absl::OkStatus();
}

absl::Status AppendWorkload(Resource resource, const rapidjson::Value& object,
                            Manifests& manifests) {
  absl::StatusOr<Workload> workload = Decode<Workload>(resource, object);
  if (!workload.ok()) return workload.status();
  ManifestWorkload result{*std::move(workload), {}};
  absl::Status error;
  const Fields root(object, error);
  const Fields spec = root.Object("spec");
  const Fields pod_template = spec.Object("template");
  const Fields metadata = pod_template.Object("metadata");
  const auto everything = [](absl::string_view) { return true; };
  metadata.ForEachMember("labels", everything, [&](std::string key, std::string value) {
    result.pod_labels.emplace(std::move(key), std::move(value));
  });
  if (!error.ok()) return error;
  manifests.workloads.push_back(std::move(result));
  return absl::OkStatus();
}

absl::Status AddOne(const std::string& kind, const rapidjson::Value& object, Manifests& manifests) {
  if (kind == "Deployment") return AppendWorkload(Resource::kDeployments, object, manifests);
  if (kind == "StatefulSet") return AppendWorkload(Resource::kStatefulSets, object, manifests);
  if (kind == "Service") {
    return Append(Decode<Service>(Resource::kServices, object), manifests.services);
  }
  if (kind == "Ingress") {
    return Append(Decode<Ingress>(Resource::kIngresses, object), manifests.ingresses);
  }
  if (kind == "HorizontalPodAutoscaler") {
    absl::StatusOr<HorizontalPodAutoscaler> autoscaler = DecodeAutoscaler(object);
    if (autoscaler.ok() && autoscaler->key.ns.empty()) autoscaler->key.ns = kDefaultNamespace;
    return Append(std::move(autoscaler), manifests.autoscalers);
  }
  for (const absl::string_view unforeseen : kUnforeseen) {
    if (kind != unforeseen) continue;
    ObjectKey key = IdentityOf(object).key;
    if (key.ns.empty()) key.ns = kDefaultNamespace;
    manifests.unforeseen.push_back(absl::StrCat(kind, " ", key.ToString()));
  }
  return absl::OkStatus();
}

absl::Status AddDocument(const YamlView& document, Manifests& manifests) {
  const std::string kind = document["kind"].Text().value_or("");
  if (kind.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", document.line(), ": no manifest: it has no kind"));
  }
  if (kind == "List") {
    for (const YamlView& item : document["items"].Elements()) {
      const absl::Status status = AddDocument(item, manifests);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> json = document.ToJson();
  if (!json.ok()) return json.status();
  const absl::StatusOr<rapidjson::Document> object = base::ParseJson(*json, kind);
  if (!object.ok()) return object.status();
  const absl::Status status = AddOne(kind, *object, manifests);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(kind, " ", IdentityOf(*object).key.ToString(),
                                                 " (line ", document.line(),
                                                 "): ", status.message()));
}

}  // namespace

absl::Status AddManifests(const std::string& text, Manifests& manifests) {
  const absl::StatusOr<std::vector<YamlView>> documents = ParseYamlDocuments(text);
  if (!documents.ok()) return documents.status();
  for (const YamlView& document : *documents) {
    const absl::Status status = AddDocument(document, manifests);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace kube
