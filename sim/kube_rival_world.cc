#include "sim/kube_rival_world.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "oci/backend_set_name.h"

namespace sim {
namespace {

using rapidjson::Value;

constexpr char kController[] = "oci.oraclecloud.com/native-ingress-controller";
constexpr char kLoadBalancerAnnotation[] = "oci-native-ingress.oraclecloud.com/id";
constexpr char kDrainingAnnotation[] = "oci-native-ingress.oraclecloud.com/backend-draining";
constexpr char kIsDefaultClass[] = "ingressclass.kubernetes.io/is-default-class";

std::string TextAt(const Value& object, std::initializer_list<absl::string_view> path) {
  const Value* value = base::FindPath(object, path);
  return value == nullptr ? "" : std::string(base::StringOf(*value));
}

int NumberAt(const Value& object, std::initializer_list<absl::string_view> path) {
  const Value* value = base::FindPath(object, path);
  return value != nullptr && value->IsInt() ? value->GetInt() : 0;
}

// The elements of a list; none if it is missing or something else.
std::vector<const Value*> ElementsAt(const Value& object,
                                     std::initializer_list<absl::string_view> path) {
  std::vector<const Value*> elements;
  const Value* list = base::FindPath(object, path);
  if (list == nullptr || !list->IsArray()) return elements;
  for (const Value& element : list->GetArray()) elements.push_back(&element);
  return elements;
}

bool BelongsTo(const Value& ingress, const Value& ingress_class) {
  const Value* named = base::FindPath(ingress, {"spec", "ingressClassName"});
  if (named != nullptr) {
    return base::StringOf(*named) == TextAt(ingress_class, {"metadata", "name"});
  }
  return TextAt(ingress_class, {"metadata", "annotations", kIsDefaultClass}) == "true";
}

// Of Pods only the metadata is used, and there are many.
std::vector<std::pair<std::string, std::string>> HeadersFor(const std::string& target) {
  if (!absl::EndsWith(target, "/pods")) return {};
  return {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}};
}

std::string NamespaceTarget(const std::string& ns, absl::string_view rest) {
  return absl::StrCat("/api/v1/namespaces/", ns, "/", rest);
}

// The number of the first Endpoints port of that name; 0 if there is none.
int PortByName(const Value& endpoints, const std::string& name) {
  for (const Value* subset : ElementsAt(endpoints, {"subsets"})) {
    for (const Value* port : ElementsAt(*subset, {"ports"})) {
      if (TextAt(*port, {"name"}) == name) return NumberAt(*port, {"port"});
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<KubeRivalWorld::Shared> KubeRivalWorld::Get(const std::string& target) {
  const auto [item, is_new] = known_.try_emplace(target);
  Known& known = item->second;
  if (store_ != nullptr) {
    if (is_new) known.resource = ParseKubeRequest({.method = "GET", .target = target}).resource;
    // How often what is read there has changed.
    const int64_t changes = known.resource == nullptr ? -1 : store_->Changes(*known.resource);
    if (std::exchange(known.changes, changes) != changes) known.document = nullptr;
    if (known.document != nullptr) return known.document;
  }
  const auto response =
      kube_.Send({.method = "GET", .target = target, .headers = HeadersFor(target), .body = ""});
  if (!response.ok()) return response.status();
  if (response->status == 404) return absl::NotFoundError(target);
  if (response->status != 200) {
    return absl::UnavailableError(absl::StrCat(target, ": ", response->status));
  }
  auto parsed = base::ParseJson(response->body, target);
  if (!parsed.ok()) return parsed.status();
  auto document = std::make_shared<const rapidjson::Document>(*std::move(parsed));
  if (store_ != nullptr) known.document = document;
  return document;
}

absl::StatusOr<std::vector<RivalClass>> KubeRivalWorld::Classes() {
  const auto classes = Get("/apis/networking.k8s.io/v1/ingressclasses");
  if (!classes.ok()) return classes.status();
  const auto ingresses = Get("/apis/networking.k8s.io/v1/ingresses");
  if (!ingresses.ok()) return ingresses.status();
  std::vector<RivalClass> found;
  for (const Value* ingress_class : ElementsAt(**classes, {"items"})) {
    if (TextAt(*ingress_class, {"spec", "controller"}) != kController) continue;
    std::vector<const Value*> own;
    for (const Value* ingress : ElementsAt(**ingresses, {"items"})) {
      if (BelongsTo(*ingress, *ingress_class)) own.push_back(ingress);
    }
    found.push_back({TextAt(*ingress_class, {"metadata", "name"}),
                     TextAt(*ingress_class, {"metadata", "annotations", kLoadBalancerAnnotation}),
                     MakePaths(own)});
  }
  return found;
}

std::vector<RivalPath> KubeRivalWorld::MakePaths(const std::vector<const Value*>& ingresses) {
  std::vector<RivalPath> paths;
  for (const Value* ingress : ingresses) {
    const std::string ns = TextAt(*ingress, {"metadata", "namespace"});
    for (const Value* rule : ElementsAt(*ingress, {"spec", "rules"})) {
      for (const Value* path : ElementsAt(*rule, {"http", "paths"})) {
        const Value* service = base::FindPath(*path, {"backend", "service"});
        if (service != nullptr) paths.push_back(MakePath(ns, *service));
      }
    }
  }
  AddDefault(ingresses, paths);
  return paths;
}

// One default backend for all Ingresses of a class, in the namespace of the last
// one that has it; differing ones are ignored, none empties the set.
void KubeRivalWorld::AddDefault(const std::vector<const Value*>& ingresses,
                                std::vector<RivalPath>& paths) {
  const Value* first = nullptr;
  std::string ns;
  for (const Value* ingress : ingresses) {
    const Value* service = base::FindPath(*ingress, {"spec", "defaultBackend", "service"});
    if (service == nullptr) continue;
    if (first != nullptr && !base::SameJson(*first, *service)) return;
    first = service;
    ns = TextAt(*ingress, {"metadata", "namespace"});
  }
  RivalPath path = first == nullptr ? RivalPath() : MakePath(ns, *first);
  path.is_default = true;
  path.backend_set = oci::kDefaultBackendSetName;
  paths.push_back(path);
}

RivalPath KubeRivalWorld::MakePath(const std::string& ns, const Value& service) {
  RivalPath path;
  path.ns = ns;
  path.service = TextAt(service, {"name"});
  path.port = NumberAt(service, {"port", "number"});
  path.port_name = TextAt(service, {"port", "name"});
  const auto object = Get(NamespaceTarget(ns, absl::StrCat("services/", path.service)));
  if (!object.ok()) return path;
  path.drains = TextAt(**object, {"metadata", "annotations", kDrainingAnnotation}) == "true";
  const auto port = Resolve(**object, path);
  if (!port.ok()) return path;
  path.backend_set = oci::GenerateBackendSetName(ns, path.service, port->port).value();
  return path;
}

absl::StatusOr<KubeRivalWorld::ServicePort> KubeRivalWorld::Resolve(const Value& service,
                                                                    const RivalPath& path) {
  for (const Value* port : ElementsAt(service, {"spec", "ports"})) {
    const int number = NumberAt(*port, {"port"});
    const std::string name = TextAt(*port, {"name"});
    if ((number != 0 && number == path.port) || name == path.port_name) {
      return ServicePort{number, name, NumberAt(*port, {"targetPort"})};
    }
  }
  return absl::NotFoundError(absl::StrCat("Service ", path.ns, "/", path.service, " has no port ",
                                          path.port, path.port_name));
}

absl::StatusOr<std::vector<RivalEndpoint>> KubeRivalWorld::Endpoints(const RivalClass&,
                                                                     const RivalPath& path) {
  std::vector<RivalEndpoint> found;
  if (path.is_default && path.service.empty()) return found;
  const auto service = Get(NamespaceTarget(path.ns, absl::StrCat("services/", path.service)));
  if (!service.ok()) return service.status();
  const auto port = Resolve(**service, path);
  if (!port.ok()) return port.status();
  const auto endpoints = Get(NamespaceTarget(path.ns, absl::StrCat("endpoints/", path.service)));
  if (!endpoints.ok()) return endpoints.status();
  const auto pods = Get(NamespaceTarget(path.ns, "pods"));
  if (!pods.ok()) return pods.status();
  std::map<std::string, const Value*> pod_by_name;
  for (const Value* pod : ElementsAt(**pods, {"items"})) {
    pod_by_name[TextAt(*pod, {"metadata", "name"})] = pod;
  }
  const int number = port->target != 0 ? port->target : PortByName(**endpoints, port->name);
  for (const Value* subset : ElementsAt(**endpoints, {"subsets"})) {
    std::vector<const Value*> addresses = ElementsAt(*subset, {"addresses"});
    for (const Value* address : ElementsAt(*subset, {"notReadyAddresses"})) {
      addresses.push_back(address);
    }
    for (const Value* address : addresses) {
      if (TextAt(*address, {"targetRef", "kind"}) != "Pod") continue;
      const auto pod = pod_by_name.find(TextAt(*address, {"targetRef", "name"}));
      const bool known = pod != pod_by_name.end();
      const bool terminating =
          known && base::FindPath(*pod->second, {"metadata", "deletionTimestamp"}) != nullptr;
      found.push_back({TextAt(*address, {"ip"}), number, terminating, known});
    }
  }
  return found;
}

}  // namespace sim
