#include "sim/demo_setup.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "oci/backend_set_name.h"
#include "sim/workload_controllers.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

constexpr char kLoadBalancerAnnotation[] = "oci-native-ingress.oraclecloud.com/id";
constexpr char kNewTag[] = ":1.1.0";

// The first of that kind, or null.
const JsonTree& FindKind(const std::vector<JsonTree>& objects, absl::string_view kind) {
  static const JsonTree kNone;
  for (const JsonTree& object : objects) {
    if (object["kind"].AsString() == kind) return object;
  }
  return kNone;
}

const JsonTree& First(const JsonTree& list) {
  static const JsonTree kNone;
  return list.items().empty() ? kNone : list.items().front();
}

const JsonTree& FirstContainer(const JsonTree& deployment) {
  return First(deployment["spec"]["template"]["spec"]["containers"]);
}

// The number of a port that is a number or the name of a container's port.
int ResolveContainerPort(const JsonTree& port, const JsonTree& deployment) {
  if (port.is_int()) return static_cast<int>(port.AsInt());
  for (const JsonTree& candidate : FirstContainer(deployment)["ports"].items()) {
    if (candidate["name"] == port) return static_cast<int>(candidate["containerPort"].AsInt());
  }
  return 0;
}

}  // namespace

absl::StatusOr<DemoManifests> ReadDemoManifests(const std::string& folder) {
  auto objects = ReadManifests(folder);
  if (!objects.ok()) return objects.status();
  DemoManifests manifests;
  manifests.objects = *std::move(objects);
  const JsonTree& deployment = FindKind(manifests.objects, "Deployment");
  const JsonTree& service = FindKind(manifests.objects, "Service");
  const JsonTree& ingress = FindKind(manifests.objects, "Ingress");
  const JsonTree& backend =
      First(First(ingress["spec"]["rules"])["http"]["paths"])["backend"]["service"];
  const JsonTree& service_port = First(service["spec"]["ports"]);
  DemoService& out = manifests.service;
  out.ns = deployment["metadata"]["namespace"].AsString();
  out.deployment = deployment["metadata"]["name"].AsString();
  out.port = ResolveContainerPort(service_port["targetPort"], deployment);
  out.replicas = static_cast<int>(deployment["spec"]["replicas"].AsInt(1));
  out.max_unavailable = static_cast<int>(ResolveCount(
      deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], out.replicas, false));
  if (out.deployment.empty() || out.port == 0 || backend["name"].AsString().empty() ||
      backend["name"] != service["metadata"]["name"]) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder,
        ": expected a Deployment, its Service, and an Ingress whose first path leads there"));
  }
  out.backend_set = oci::GenerateBackendSetName(out.ns, backend["name"].AsString(),
                                                static_cast<int>(service_port["port"].AsInt()))
                        .value();
  return manifests;
}

std::string LoadBalancerOf(const std::vector<JsonTree>& objects) {
  return FindKind(objects, "IngressClass")["metadata"]["annotations"][kLoadBalancerAnnotation]
      .AsString();
}

JsonTree NewImagePatch(const DemoManifests& manifests) {
  const JsonTree& container = FirstContainer(FindKind(manifests.objects, "Deployment"));
  const std::string& image = container["image"].AsString();
  JsonTree patched =
      JsonTree::Object{{"name", container["name"]},
                       {"image", absl::StrCat(image.substr(0, image.rfind(':')), kNewTag)}};
  JsonTree patch;
  patch.Child("spec")
      .Child("template")
      .Child("spec")
      .Child("containers")
      .Append(std::move(patched));
  return patch;
}

}  // namespace sim
