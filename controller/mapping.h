// Which Services' endpoints live in which backend sets of which load balancer:
// the ingress controller's own rules, replicated, so that what it maintains and
// what we drain are the same sets.
//
// Pure: values in, values out.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_MAPPING_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_MAPPING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "controller/lb_map.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// The objects must outlive the call only. Their order does not matter.
struct MappingInput {
  std::string controller_class = "oci.oraclecloud.com/native-ingress-controller";
  std::vector<const kube::IngressClass*> classes;
  std::vector<const kube::Ingress*> ingresses;
  std::vector<const kube::Service*> services;
  std::vector<LbMapEntry> lb_map;
};

// Which path leads from a Service to a set. In the order of precedence where the
// same Service port arrives by several.
enum class MappingSource {
  kIngress,         // a path of an Ingress
  kDefaultBackend,  // spec.defaultBackend: the set default_ingress
  kLbMap,           // --lb_map_file: drain flags only, never membership
};

// One port of one Service that maps to a set.
struct MappedPort {
  kube::ObjectKey service;
  std::string uid;
  int port = 0;           // the Service's port number
  std::string port_name;  // the Service's port's name: endpoint ports carry it too
  int target_port = 0;    // 0: the target port is a name, ResolveTargetPort tells the number
  MappingSource source = MappingSource::kIngress;
  // Every Ingress that leads here is being deleted: the set is about to go.
  bool leaving = false;
};

struct MappedSet {
  // More than one: by a collision of names, as default_ingress, or through
  // --lb_map_file. Sorted by Service and port.
  std::vector<MappedPort> ports;
  // It cannot be told whose backends the set holds: several ports map here, or
  // the ingress controller is at odds with itself about it. Hands off.
  bool contested = false;
};

struct MappedClass {
  std::string name;
  std::string uid;
  bool paused = false;     // P/backend-drain-paused: "true", or a value not understood
  bool carry_all = false;  // P/backend-drain-carry: "all"
};

struct MappedLoadBalancer {
  std::vector<MappedClass> classes;  // by name; empty if only --lb_map_file names it
  std::map<oci::BackendSetName, MappedSet> sets;
  // Changes when an IngressClass of this load balancer or an Ingress of such a
  // class comes, goes or changes (not with their status).
  uint64_t ingress_version = 0;

  // A class that says so speaks for the whole load balancer.
  bool paused() const;
  bool carry_all() const;
};

enum class MappingProblemKind {
  kLoadBalancerUnknown,  // the class has no P/id yet
  kLoadBalancerShared,   // classes of one load balancer with other default backends
  kServiceMissing,
  kPortUnknown,
  kSetNameDisagrees,        // routing and backends get sets of different names
  kDefaultBackendConflict,  // the ingress controller takes none of them
};

// Something that keeps a Service from being mapped, or that will surprise.
struct MappingProblem {
  MappingProblemKind kind = MappingProblemKind::kServiceMissing;
  kube::ObjectReference regarding;  // Ingress, IngressClass, or Service
  std::string text;                 // one sentence: cause and cure
  friend bool operator==(const MappingProblem&, const MappingProblem&) = default;
  friend auto operator<=>(const MappingProblem&, const MappingProblem&) = default;
};

struct Mapping {
  std::map<oci::Ocid, MappedLoadBalancer> load_balancers;
  std::vector<MappingProblem> problems;  // sorted, each once
};

Mapping MapBackendSets(const MappingInput& input);

// The one number that the ingress controller uses as backend port for all
// addresses of the Service: a numeric target port itself; for a named one the
// first port of that name in core Endpoints. 0: there is none.
int ResolveTargetPort(const MappedPort& port, const kube::Endpoints& endpoints);

// The same from endpoint slices. 0 also if slices disagree on the number: which
// of them comes first in Endpoints cannot be told from them.
int ResolveTargetPort(const MappedPort& port, absl::Span<const kube::EndpointSlice* const> slices);

// The number that endpoints of this slice listen on; 0 if it has no such port.
int PortInSlice(const MappedPort& port, const kube::EndpointSlice& slice);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_MAPPING_H_
