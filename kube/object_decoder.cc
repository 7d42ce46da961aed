#include "kube/object_decoder.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/int_or_percent.h"
#include "kube/json_fields.h"

namespace kube {
namespace {

constexpr Fields::Range kPortRange{0, 65535};
constexpr Fields::Range kReplicasRange{0, std::numeric_limits<int32_t>::max()};
constexpr Fields::Range kSecondsRange{0, std::numeric_limits<int32_t>::max()};
constexpr absl::string_view kServiceNameLabel = "kubernetes.io/service-name";
constexpr absl::string_view kOverCapacityAnnotation = "endpoints.kubernetes.io/over-capacity";

bool Everything(absl::string_view) { return true; }

bool IsKeptAnnotation(absl::string_view name) {
  return absl::StartsWith(name, kAnnotationPrefix) || name == kDefaultClassAnnotation;
}

struct Metadata {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  absl::Time deletion_timestamp = absl::InfiniteFuture();
  absl::Duration deletion_grace = absl::ZeroDuration();

  bool deleting() const { return deletion_timestamp != absl::InfiniteFuture(); }
};

Metadata ReadMetadata(const Fields& metadata) {
  Metadata result;
  result.key.name = metadata.RequiredString("name");
  result.key.ns = metadata.String("namespace");
  result.uid = metadata.String("uid");
  result.resource_version = metadata.String("resourceVersion");
  result.deletion_timestamp = metadata.Time("deletionTimestamp");
  result.deletion_grace =
      absl::Seconds(metadata.Int("deletionGracePeriodSeconds", kSecondsRange, 0));
  return result;
}

Annotations ReadAnnotations(const Fields& metadata) {
  Annotations annotations;
  metadata.ForEachMember("annotations", IsKeptAnnotation, [&](std::string key, std::string value) {
    annotations.emplace(std::move(key), std::move(value));
  });
  return annotations;
}

std::optional<OwnerReference> ReadController(const Fields& metadata) {
  std::optional<OwnerReference> controller;
  metadata.ForEach("ownerReferences", [&](const Fields& owner) {
    if (!owner.Bool("controller", false)) return;
    controller = OwnerReference{owner.String("kind"), owner.String("name"), owner.String("uid")};
  });
  return controller;
}

uint64_t Fnv1a(absl::string_view text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

uint64_t ContentHash(const Fields& root, const Annotations& annotations, bool deleting) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  if (const rapidjson::Value* spec = root.Raw("spec")) hash = Fnv1a(base::WriteJson(*spec), hash);
  for (const auto& [key, value] : annotations) {
    hash = Fnv1a(absl::StrCat("\n", key, "=", value), hash);
  }
  return Fnv1a(deleting ? "\ndeleting" : "", hash);
}

ServicePort ReadServicePort(const Fields& port) {
  ServicePort result;
  result.name = port.String("name");
  result.port = static_cast<int>(port.Int("port", {1, 65535}, 0));
  const rapidjson::Value* target = port.Raw("targetPort");
  if (target != nullptr && target->IsString()) {
    result.target_port_name = port.String("targetPort");
  } else {
    result.target_port = static_cast<int>(port.Int("targetPort", kPortRange, 0));
  }
  // As the API server defaults it.
  if (result.target_port == 0 && result.target_port_name.empty()) result.target_port = result.port;
  return result;
}

Service ReadService(const Fields& root) {
  Service service;
  const Fields metadata = root.Object("metadata");
  Metadata common = ReadMetadata(metadata);
  service.key = std::move(common.key);
  service.uid = std::move(common.uid);
  service.annotations = ReadAnnotations(metadata);
  const Fields spec = root.Object("spec");
  spec.ForEach("ports",
               [&](const Fields& port) { service.ports.push_back(ReadServicePort(port)); });
  spec.ForEachMember("selector", Everything, [&](std::string key, std::string value) {
    service.selector.emplace(std::move(key), std::move(value));
  });
  service.publish_not_ready_addresses = spec.Bool("publishNotReadyAddresses", false);
  return service;
}

// Empty if the backend is a resource and not a Service.
std::optional<IngressBackend> ReadIngressBackend(const Fields& backend) {
  if (backend.Raw("service") == nullptr) return std::nullopt;
  const Fields service = backend.Object("service");
  IngressBackend result;
  result.service = service.RequiredString("name");
  const Fields port = service.Object("port");
  result.port_number = static_cast<int>(port.Int("number", kPortRange, 0));
  result.port_name = port.String("name");
  return result;
}

Ingress ReadIngress(const Fields& root) {
  Ingress ingress;
  const Fields metadata = root.Object("metadata");
  Metadata common = ReadMetadata(metadata);
  ingress.deleting = common.deleting();
  ingress.key = std::move(common.key);
  ingress.uid = std::move(common.uid);
  const Fields spec = root.Object("spec");
  if (spec.Raw("ingressClassName") != nullptr) ingress.class_name = spec.String("ingressClassName");
  ingress.default_backend = ReadIngressBackend(spec.Object("defaultBackend"));
  spec.ForEach("rules", [&](const Fields& rule) {
    rule.Object("http").ForEach("paths", [&](const Fields& path) {
      std::optional<IngressBackend> backend = ReadIngressBackend(path.Object("backend"));
      if (backend.has_value()) ingress.paths.push_back(*std::move(backend));
    });
  });
  ingress.content_hash = ContentHash(root, ReadAnnotations(metadata), ingress.deleting);
  return ingress;
}

IngressClass ReadIngressClass(const Fields& root) {
  IngressClass result;
  const Fields metadata = root.Object("metadata");
  Metadata common = ReadMetadata(metadata);
  result.name = std::move(common.key.name);
  result.uid = std::move(common.uid);
  result.annotations = ReadAnnotations(metadata);
  result.controller = root.Object("spec").String("controller");
  const auto is_default = result.annotations.find(std::string(kDefaultClassAnnotation));
  result.is_default = is_default != result.annotations.end() && is_default->second == "true";
  result.content_hash = ContentHash(root, result.annotations, common.deleting());
  return result;
}

Endpoint ReadEndpoint(const Fields& endpoint) {
  Endpoint result;
  endpoint.ForEachString(
      "addresses", [&](std::string address) { result.addresses.push_back(std::move(address)); });
  const Fields conditions = endpoint.Object("conditions");
  result.ready = conditions.Bool("ready", true);
  result.serving = conditions.Bool("serving", result.ready);
  result.terminating = conditions.Bool("terminating", false);
  const Fields target = endpoint.Object("targetRef");
  result.target_kind = target.String("kind");
  result.target_namespace = target.String("namespace");
  result.target_name = target.String("name");
  result.target_uid = target.String("uid");
  return result;
}

EndpointPort ReadEndpointPort(const Fields& port) {
  return {port.String("name"), static_cast<int>(port.Int("port", kPortRange, 0))};
}

EndpointSlice ReadEndpointSlice(const Fields& root) {
  EndpointSlice slice;
  const Fields metadata = root.Object("metadata");
  slice.key = ReadMetadata(metadata).key;
  slice.service = metadata.Object("labels").String(kServiceNameLabel);
  slice.address_type = root.String("addressType");
  root.ForEach("ports", [&](const Fields& port) { slice.ports.push_back(ReadEndpointPort(port)); });
  root.ForEach("endpoints",
               [&](const Fields& endpoint) { slice.endpoints.push_back(ReadEndpoint(endpoint)); });
  return slice;
}

PodMetadata ReadPodMetadata(const Fields& root) {
  const Fields metadata = root.Object("metadata");
  Metadata common = ReadMetadata(metadata);
  PodMetadata pod;
  pod.key = std::move(common.key);
  pod.uid = std::move(common.uid);
  pod.resource_version = std::move(common.resource_version);
  pod.deletion_timestamp = common.deletion_timestamp;
  pod.deletion_grace = common.deletion_grace;
  pod.controller = ReadController(metadata);
  return pod;
}

ReplicaSetMetadata ReadReplicaSet(const Fields& root) {
  const Fields metadata = root.Object("metadata");
  Metadata common = ReadMetadata(metadata);
  return {std::move(common.key), std::move(common.uid), ReadController(metadata)};
}

// The keys of a label selector, of both its forms.
std::vector<std::string> ReadSelectorLabels(const Fields& spec) {
  std::vector<std::string> labels;
  const Fields selector = spec.Object("selector");
  selector.ForEachMember("matchLabels", Everything, [&](std::string key, const std::string&) {
    labels.push_back(std::move(key));
  });
  selector.ForEach("matchExpressions",
                   [&](const Fields& expression) { labels.push_back(expression.String("key")); });
  return labels;
}

Workload ReadWorkload(const Fields& root) {
  Workload workload;
  Metadata common = ReadMetadata(root.Object("metadata"));
  workload.deleting = common.deleting();
  workload.key = std::move(common.key);
  workload.uid = std::move(common.uid);
  const Fields spec = root.Object("spec");
  workload.replicas = static_cast<int>(spec.Int("replicas", kReplicasRange, 1));
  workload.min_ready = absl::Seconds(spec.Int("minReadySeconds", kSecondsRange, 0));
  workload.selector_labels = ReadSelectorLabels(spec);
  const Fields pod_template = spec.Object("template");
  const Fields pod = pod_template.Object("spec");
  workload.grace = absl::Seconds(pod.Int("terminationGracePeriodSeconds", kSecondsRange, 30));
  pod.ForEach("readinessGates", [&](const Fields& gate) {
    workload.readiness_gates.push_back(gate.String("conditionType"));
  });
  if (workload.readiness_gates.empty()) return workload;
  pod_template.Object("metadata")
      .ForEachMember("labels", Everything, [&](std::string key, std::string value) {
        workload.gated_labels[std::move(key)] = std::move(value);
      });
  return workload;
}

Workload ReadDeployment(const Fields& root) {
  Workload deployment = ReadWorkload(root);
  deployment.kind = "Deployment";
  const Fields spec = root.Object("spec");
  const Fields strategy = spec.Object("strategy");
  deployment.recreate = strategy.String("type") == "Recreate";
  if (deployment.recreate) return deployment;
  const Fields rolling = strategy.Object("rollingUpdate");
  deployment.written_max_unavailable =
      ReadIntOrPercent(rolling, "maxUnavailable", IntOrPercent::Percent(25));
  deployment.written_max_surge = ReadIntOrPercent(rolling, "maxSurge", IntOrPercent::Percent(25));
  const RolloutLimits limits = ResolveRolloutLimits(
      deployment.written_max_unavailable, deployment.written_max_surge, deployment.replicas);
  deployment.max_unavailable = limits.max_unavailable;
  deployment.max_surge = limits.max_surge;
  return deployment;
}

Workload ReadStatefulSet(const Fields& root) {
  Workload set = ReadWorkload(root);
  set.kind = "StatefulSet";
  const Fields spec = root.Object("spec");
  const Fields strategy = spec.Object("updateStrategy");
  const Fields rolling = strategy.Object("rollingUpdate");
  set.written_max_unavailable = ReadIntOrPercent(rolling, "maxUnavailable", IntOrPercent::Count(1));
  set.max_unavailable = std::max(1, set.written_max_unavailable.RoundedDown(set.replicas));
  set.partition = static_cast<int>(rolling.Int("partition", kReplicasRange, 0));
  set.on_delete = strategy.String("type") == "OnDelete";
  return set;
}

Lease ReadLease(const Fields& root) {
  Metadata common = ReadMetadata(root.Object("metadata"));
  Lease lease;
  lease.key = std::move(common.key);
  lease.resource_version = std::move(common.resource_version);
  const Fields spec = root.Object("spec");
  lease.holder = spec.String("holderIdentity");
  lease.duration = absl::Seconds(spec.Int("leaseDurationSeconds", kSecondsRange, 0));
  lease.acquired = spec.Time("acquireTime");
  lease.renewed = spec.Time("renewTime");
  lease.transitions =
      static_cast<int>(spec.Int("leaseTransitions", {0, std::numeric_limits<int>::max()}, 0));
  return lease;
}

Object ReadObject(Resource resource, const Fields& root) {
  switch (resource) {
    case Resource::kServices:
      return ReadService(root);
    case Resource::kIngresses:
      return ReadIngress(root);
    case Resource::kIngressClasses:
      return ReadIngressClass(root);
    case Resource::kEndpointSlices:
      return ReadEndpointSlice(root);
    case Resource::kPods:
      return ReadPodMetadata(root);
    case Resource::kDeployments:
      return ReadDeployment(root);
    case Resource::kStatefulSets:
      return ReadStatefulSet(root);
    case Resource::kReplicaSets:
      return ReadReplicaSet(root);
    case Resource::kLeases:
      return ReadLease(root);
  }
  return Service{};
}

EndpointsAddress ReadEndpointsAddress(const Fields& address) {
  EndpointsAddress result;
  result.ip = address.String("ip");
  const Fields target = address.Object("targetRef");
  result.target_kind = target.String("kind");
  result.target_namespace = target.String("namespace");
  result.target_name = target.String("name");
  result.target_uid = target.String("uid");
  return result;
}

}  // namespace

Identity IdentityOf(const rapidjson::Value& object) {
  Identity identity;
  const rapidjson::Value* metadata = base::FindMember(object, "metadata");
  if (metadata == nullptr) return identity;
  identity.key.ns = base::ReadString(*metadata, "namespace").value_or("");
  identity.key.name = base::ReadString(*metadata, "name").value_or("");
  identity.uid = base::ReadString(*metadata, "uid").value_or("");
  identity.resource_version = base::ReadString(*metadata, "resourceVersion").value_or("");
  return identity;
}

absl::StatusOr<Object> DecodeObject(Resource resource, const rapidjson::Value& object) {
  if (!object.IsObject()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected an object, got ", JsonTypeName(object)));
  }
  absl::Status error;
  const Fields root(object, error);
  Object result = ReadObject(resource, root);
  if (!error.ok()) return error;
  if (auto* lease = std::get_if<Lease>(&result)) lease->document = base::WriteJson(object);
  return result;
}

absl::StatusOr<HorizontalPodAutoscaler> DecodeAutoscaler(const rapidjson::Value& object) {
  absl::Status error;
  const Fields root(object, error);
  HorizontalPodAutoscaler autoscaler;
  Metadata common = ReadMetadata(root.Object("metadata"));
  autoscaler.key = std::move(common.key);
  autoscaler.uid = std::move(common.uid);
  const Fields spec = root.Object("spec");
  autoscaler.max_replicas = static_cast<int>(spec.Int("maxReplicas", kReplicasRange, 0));
  const Fields target = spec.Object("scaleTargetRef");
  autoscaler.target_kind = target.String("kind");
  autoscaler.target_name = target.String("name");
  if (!error.ok()) return error;
  return autoscaler;
}

absl::StatusOr<DisruptionBudget> DecodeDisruptionBudget(const rapidjson::Value& object) {
  absl::Status error;
  const Fields root(object, error);
  DisruptionBudget budget;
  budget.key = ReadMetadata(root.Object("metadata")).key;
  const Fields spec = root.Object("spec");
  budget.selector_labels = ReadSelectorLabels(spec);
  if (!error.ok()) return error;
  return budget;
}

absl::StatusOr<PodDetails> DecodePodDetails(const rapidjson::Value& object) {
  absl::Status error;
  const Fields root(object, error);
  Metadata common = ReadMetadata(root.Object("metadata"));
  PodDetails pod;
  pod.key = std::move(common.key);
  pod.uid = std::move(common.uid);
  pod.resource_version = std::move(common.resource_version);
  pod.deletion_timestamp = common.deletion_timestamp;
  pod.deletion_grace = common.deletion_grace;
  root.Object("spec").ForEach("readinessGates", [&](const Fields& gate) {
    pod.readiness_gates.push_back(gate.String("conditionType"));
  });
  const Fields status = root.Object("status");
  pod.phase = status.String("phase");
  status.ForEach("podIPs", [&](const Fields& ip) { pod.pod_ips.push_back(ip.String("ip")); });
  const std::string pod_ip = status.String("podIP");
  if (pod.pod_ips.empty() && !pod_ip.empty()) pod.pod_ips.push_back(pod_ip);
  status.ForEach("conditions", [&](const Fields& condition) {
    if (condition.String("status") != "True") return;
    pod.true_conditions.push_back(condition.String("type"));
    if (pod.true_conditions.back() == "DisruptionTarget") pod.disruption_target = true;
  });
  if (!error.ok()) return error;
  return pod;
}

absl::StatusOr<Endpoints> DecodeEndpointsObject(const rapidjson::Value& object) {
  absl::Status error;
  const Fields root(object, error);
  const Fields metadata = root.Object("metadata");
  Endpoints endpoints;
  endpoints.key = ReadMetadata(metadata).key;
  endpoints.truncated =
      metadata.Object("annotations").String(kOverCapacityAnnotation) == "truncated";
  root.ForEach("subsets", [&](const Fields& subset) {
    EndpointsSubset& result = endpoints.subsets.emplace_back();
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      subset.ForEach(list, [&](const Fields& address) {
        result.addresses.push_back(ReadEndpointsAddress(address));
      });
    }
    subset.ForEach("ports",
                   [&](const Fields& port) { result.ports.push_back(ReadEndpointPort(port)); });
  });
  if (!error.ok()) return error;
  return endpoints;
}

absl::StatusOr<ConfigMap> DecodeConfigMapObject(const rapidjson::Value& object) {
  absl::Status error;
  const Fields root(object, error);
  ConfigMap config_map;
  Metadata common = ReadMetadata(root.Object("metadata"));
  config_map.key = std::move(common.key);
  config_map.resource_version = std::move(common.resource_version);
  root.ForEachMember("data", Everything, [&](std::string key, std::string value) {
    config_map.data.emplace(std::move(key), std::move(value));
  });
  if (!error.ok()) return error;
  return config_map;
}

absl::StatusOr<Lease> DecodeLeaseObject(const rapidjson::Value& object) {
  absl::Status error;
  Lease lease = ReadLease(Fields(object, error));
  if (!error.ok()) return error;
  lease.document = base::WriteJson(object);
  return lease;
}

}  // namespace kube
