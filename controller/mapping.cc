#include "controller/mapping.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "annotations/annotations.h"
#include "annotations/table.h"
#include "oci/backend_set_name.h"

namespace controller {
namespace {

kube::ObjectReference ReferenceTo(const kube::Ingress& ingress) {
  return {"networking.k8s.io/v1", "Ingress", ingress.key, ingress.uid};
}

kube::ObjectReference ReferenceTo(const kube::IngressClass& ingress_class) {
  return {"networking.k8s.io/v1", "IngressClass", {"", ingress_class.name}, ingress_class.uid};
}

// FNV-1a: the same on every machine and in every run.
uint64_t Mix(uint64_t state, uint64_t value) {
  for (int i = 0; i < 8; ++i, value >>= 8) state = (state ^ (value & 0xff)) * 0x100000001b3u;
  return state;
}

uint64_t MixText(uint64_t state, absl::string_view text) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return Mix(state, text.size());
}

std::string PortText(const kube::IngressBackend& backend) {
  return absl::StrCat(
      backend.service, ":",
      backend.port_number != 0 ? absl::StrCat(backend.port_number) : backend.port_name);
}

// The ingress controller's resolver: a number also matches the first port
// without a name, because the name asked for is then empty too.
const kube::ServicePort* FindPort(const kube::Service& service,
                                  const kube::IngressBackend& backend) {
  for (const kube::ServicePort& port : service.ports) {
    if ((port.port != 0 && port.port == backend.port_number) || port.name == backend.port_name) {
      return &port;
    }
  }
  return nullptr;
}

struct DefaultBackend {
  const kube::Ingress* ingress = nullptr;
  kube::IngressBackend backend;
};

class Mapper {
 public:
  explicit Mapper(const MappingInput& input) : input_(input) {
    for (const kube::Service* service : input.services) services_[service->key] = service;
  }

  Mapping Run();

 private:
  void MapClass(const kube::IngressClass& ingress_class);
  void MapPaths(const kube::Ingress& ingress, MappedLoadBalancer& load_balancer);
  void MapDefaultBackends(const kube::IngressClass& ingress_class,
                          const std::vector<const kube::Ingress*>& ingresses, const oci::Ocid& id);
  void MapEntry(const LbMapEntry& entry);
  void FindClassesAtOdds(const oci::Ocid& id, MappedLoadBalancer& load_balancer);

  std::vector<const kube::Ingress*> IngressesOf(const kube::IngressClass& ingress_class) const;
  std::optional<MappedPort> Resolve(const kube::Ingress& ingress,
                                    const kube::IngressBackend& backend);
  void Add(MappedLoadBalancer& load_balancer, const oci::BackendSetName& name, MappedPort port);
  void Report(MappingProblemKind kind, kube::ObjectReference regarding, std::string text) {
    problems_.insert({kind, std::move(regarding), std::move(text)});
  }

  const MappingInput& input_;
  absl::flat_hash_map<kube::ObjectKey, const kube::Service*> services_;
  std::map<oci::Ocid, MappedLoadBalancer> load_balancers_;
  // Per load balancer: what each of its classes wants in default_ingress.
  std::map<oci::Ocid, std::map<std::string, std::set<kube::ObjectKey>>> defaults_;
  std::set<MappingProblem> problems_;
};

std::vector<const kube::Ingress*> Mapper::IngressesOf(
    const kube::IngressClass& ingress_class) const {
  std::vector<const kube::Ingress*> ingresses;
  for (const kube::Ingress* ingress : input_.ingresses) {
    const bool ours = ingress->class_name.has_value() ? *ingress->class_name == ingress_class.name
                                                      : ingress_class.is_default;
    if (ours) ingresses.push_back(ingress);
  }
  std::sort(ingresses.begin(), ingresses.end(),
            [](const auto* a, const auto* b) { return a->key < b->key; });
  return ingresses;
}

void Mapper::Add(MappedLoadBalancer& load_balancer, const oci::BackendSetName& name,
                 MappedPort port) {
  std::vector<MappedPort>& ports = load_balancer.sets[name].ports;
  const auto same = std::find_if(ports.begin(), ports.end(), [&](const MappedPort& other) {
    return other.service == port.service && other.port == port.port;
  });
  if (same == ports.end()) {
    ports.push_back(std::move(port));
    return;
  }
  same->source = std::min(same->source, port.source);
  same->leaving = same->leaving && port.leaving;
}

std::optional<MappedPort> Mapper::Resolve(const kube::Ingress& ingress,
                                          const kube::IngressBackend& backend) {
  const kube::ObjectKey key{ingress.key.ns, backend.service};
  const auto found = services_.find(key);
  if (found == services_.end()) {
    Report(MappingProblemKind::kServiceMissing, ReferenceTo(ingress),
           absl::StrCat("Service ", key.ToString(), " does not exist: the ingress controller ",
                        "stops at this Ingress, and its backends are not maintained. Create the "
                        "Service or remove it from the Ingress."));
    return std::nullopt;
  }
  const kube::ServicePort* port = FindPort(*found->second, backend);
  if (port == nullptr) {
    Report(MappingProblemKind::kPortUnknown, ReferenceTo(ingress),
           absl::StrCat("Service ", key.ToString(), " has no port ",
                        backend.port_number != 0 ? absl::StrCat(backend.port_number)
                                                 : absl::StrCat("\"", backend.port_name, "\""),
                        ": name one that it has in the Ingress."));
    return std::nullopt;
  }
  MappedPort mapped;
  mapped.service = key;
  mapped.uid = found->second->uid;
  mapped.port = port->port;
  mapped.port_name = port->name;
  mapped.target_port = port->target_port_name.empty() ? port->target_port : 0;
  mapped.leaving = ingress.deleting;
  return mapped;
}

void Mapper::MapPaths(const kube::Ingress& ingress, MappedLoadBalancer& load_balancer) {
  std::set<std::tuple<std::string, int, std::string>> seen;
  for (const kube::IngressBackend& backend : ingress.paths) {
    if (!seen.emplace(backend.service, backend.port_number, backend.port_name).second) continue;
    std::optional<MappedPort> port = Resolve(ingress, backend);
    if (!port.has_value()) continue;
    const oci::BackendSetName name =
        oci::GenerateBackendSetName(ingress.key.ns, backend.service, port->port);
    // The half of the ingress controller that makes sets and routes to them
    // takes the Ingress's number as it stands.
    if (backend.port_number != 0 && backend.port_number != port->port) {
      Report(MappingProblemKind::kSetNameDisagrees, ReferenceTo(ingress),
             absl::StrCat(
                 "Backend ", PortText(backend), " is routed to set ",
                 oci::GenerateBackendSetName(ingress.key.ns, backend.service, backend.port_number)
                     .value(),
                 ", but its backends go to set ", name.value(),
                 ", because the ingress controller takes the first port of Service ",
                 port->service.ToString(), " without a name (", port->port, "). Name port ",
                 port->port, " in the Ingress."));
    }
    Add(load_balancer, name, *std::move(port));
  }
}

void Mapper::MapDefaultBackends(const kube::IngressClass& ingress_class,
                                const std::vector<const kube::Ingress*>& ingresses,
                                const oci::Ocid& id) {
  MappedLoadBalancer& load_balancer = load_balancers_[id];
  const oci::BackendSetName name(oci::kDefaultBackendSetName);
  std::vector<const kube::Ingress*> carriers;
  for (const kube::Ingress* ingress : ingresses) {
    if (ingress->default_backend.has_value()) carriers.push_back(ingress);
  }
  const bool agreed = std::all_of(carriers.begin(), carriers.end(), [&](const auto* ingress) {
    return *ingress->default_backend == *carriers.front()->default_backend;
  });
  if (!agreed) {
    const std::string names =
        absl::StrJoin(carriers, ", ", [](std::string* out, const kube::Ingress* ingress) {
          absl::StrAppend(out, ingress->key.ToString(), " (", PortText(*ingress->default_backend),
                          ")");
        });
    Report(MappingProblemKind::kDefaultBackendConflict, ReferenceTo(ingress_class),
           absl::StrCat("Ingresses of the class have different default backends: ", names,
                        "; the ingress controller takes none of them. Keep one."));
    load_balancer.sets[name].contested = true;
  }
  // Which namespace the ingress controller takes depends on the order of its
  // cache, so that equal backends of two namespaces are contested by being two.
  std::set<kube::ObjectKey>& wanted = defaults_[id][ingress_class.name];
  for (const kube::Ingress* ingress : carriers) {
    wanted.insert({ingress->key.ns, ingress->default_backend->service});
    std::optional<MappedPort> port = Resolve(*ingress, *ingress->default_backend);
    if (!port.has_value()) continue;
    port->source = MappingSource::kDefaultBackend;
    Add(load_balancer, name, *std::move(port));
  }
}

void Mapper::MapClass(const kube::IngressClass& ingress_class) {
  const annotations::IngressClassValues values =
      annotations::ParseIngressClassAnnotations(ingress_class.annotations).values;
  const oci::Ocid id(values.load_balancer_id);
  if (id.empty()) {
    Report(MappingProblemKind::kLoadBalancerUnknown, ReferenceTo(ingress_class),
           absl::StrCat(
               "The class has no annotation ", annotations::kLoadBalancerId,
               " with an OCID yet; the ingress controller sets it once the load balancer exists."));
    return;
  }
  MappedLoadBalancer& load_balancer = load_balancers_[id];
  load_balancer.classes.push_back(
      {ingress_class.name, ingress_class.uid, values.paused, values.carry_all});
  uint64_t version = MixText(load_balancer.ingress_version, ingress_class.name);
  version = Mix(version, ingress_class.content_hash);
  const std::vector<const kube::Ingress*> ingresses = IngressesOf(ingress_class);
  for (const kube::Ingress* ingress : ingresses) {
    version = MixText(MixText(version, ingress->key.ns), ingress->key.name);
    version = Mix(Mix(version, ingress->content_hash), ingress->deleting ? 1 : 0);
    MapPaths(*ingress, load_balancer);
  }
  load_balancer.ingress_version = version;
  MapDefaultBackends(ingress_class, ingresses, id);
}

void Mapper::MapEntry(const LbMapEntry& entry) {
  const kube::ObjectReference reference{"v1", "Service", entry.service, ""};
  const auto found = services_.find(entry.service);
  if (found == services_.end()) {
    Report(MappingProblemKind::kServiceMissing, reference,
           absl::StrCat("Service ", entry.service.ToString(), " of --lb_map_file (set ",
                        entry.backend_set.value(), ") does not exist."));
    return;
  }
  const kube::Service& service = *found->second;
  const auto port = std::find_if(service.ports.begin(), service.ports.end(),
                                 [&](const auto& p) { return p.port == entry.port; });
  if (port == service.ports.end()) {
    Report(MappingProblemKind::kPortUnknown,
           kube::ObjectReference{"v1", "Service", entry.service, service.uid},
           absl::StrCat("Service ", entry.service.ToString(), " has no port ", entry.port,
                        ", which --lb_map_file maps to set ", entry.backend_set.value(), "."));
    return;
  }
  MappedPort mapped;
  mapped.service = entry.service;
  mapped.uid = service.uid;
  mapped.port = port->port;
  mapped.port_name = port->name;
  mapped.target_port = port->target_port_name.empty() ? port->target_port : 0;
  mapped.source = MappingSource::kLbMap;
  Add(load_balancers_[entry.load_balancer], entry.backend_set, std::move(mapped));
}

void Mapper::FindClassesAtOdds(const oci::Ocid& id, MappedLoadBalancer& load_balancer) {
  const auto set = load_balancer.sets.find(oci::BackendSetName(oci::kDefaultBackendSetName));
  if (load_balancer.classes.size() < 2 || set == load_balancer.sets.end()) return;
  const auto& wanted = defaults_[id];
  const bool agreed = std::all_of(wanted.begin(), wanted.end(), [&](const auto& of_class) {
    return of_class.second == wanted.begin()->second;
  });
  if (agreed) return;
  set->second.contested = true;
  const std::string names =
      absl::StrJoin(load_balancer.classes, ", ",
                    [](std::string* out, const MappedClass& c) { out->append(c.name); });
  for (const MappedClass& c : load_balancer.classes) {
    Report(MappingProblemKind::kLoadBalancerShared,
           kube::ObjectReference{"networking.k8s.io/v1", "IngressClass", {"", c.name}, c.uid},
           absl::StrCat("Classes ", names, " share load balancer ", id.value(),
                        " and differ in their default backend: the ingress controller fills set ",
                        oci::kDefaultBackendSetName, " for one and empties it for another. Give ",
                        "each class its own load balancer, or the same default backend."));
  }
}

Mapping Mapper::Run() {
  std::vector<const kube::IngressClass*> classes = input_.classes;
  std::sort(classes.begin(), classes.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const kube::IngressClass* ingress_class : classes) {
    if (ingress_class->controller == input_.controller_class) MapClass(*ingress_class);
  }
  for (const LbMapEntry& entry : input_.lb_map) MapEntry(entry);
  for (auto& [id, load_balancer] : load_balancers_) {
    FindClassesAtOdds(id, load_balancer);
    std::erase_if(load_balancer.sets, [](const auto& set) { return set.second.ports.empty(); });
    for (auto& [name, set] : load_balancer.sets) {
      std::sort(set.ports.begin(), set.ports.end(), [](const auto& a, const auto& b) {
        return std::tie(a.service, a.port) < std::tie(b.service, b.port);
      });
      set.contested = set.contested || set.ports.size() > 1;
    }
  }
  Mapping mapping;
  mapping.load_balancers = std::move(load_balancers_);
  mapping.problems.assign(problems_.begin(), problems_.end());
  return mapping;
}

}  // namespace

bool MappedLoadBalancer::paused() const {
  return std::any_of(classes.begin(), classes.end(), [](const auto& c) { return c.paused; });
}

bool MappedLoadBalancer::carry_all() const {
  return std::any_of(classes.begin(), classes.end(), [](const auto& c) { return c.carry_all; });
}

Mapping MapBackendSets(const MappingInput& input) { return Mapper(input).Run(); }

int ResolveTargetPort(const MappedPort& port, const kube::Endpoints& endpoints) {
  if (port.target_port != 0) return port.target_port;
  for (const kube::EndpointsSubset& subset : endpoints.subsets) {
    for (const kube::EndpointPort& candidate : subset.ports) {
      if (candidate.name == port.port_name) return candidate.port;
    }
  }
  return 0;
}

int ResolveTargetPort(const MappedPort& port, absl::Span<const kube::EndpointSlice* const> slices) {
  if (port.target_port != 0) return port.target_port;
  int number = 0;
  for (const kube::EndpointSlice* slice : slices) {
    const int candidate = PortInSlice(port, *slice);
    if (candidate == 0 || candidate == number) continue;
    if (number != 0) return 0;
    number = candidate;
  }
  return number;
}

int PortInSlice(const MappedPort& port, const kube::EndpointSlice& slice) {
  for (const kube::EndpointPort& candidate : slice.ports) {
    if (candidate.name == port.port_name) return candidate.port;
  }
  return 0;
}

}  // namespace controller
