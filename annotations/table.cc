#include "annotations/table.h"

#include "absl/strings/str_cat.h"

namespace annotations {
namespace {

constexpr Definition kTable[] = {
    {kBackendDraining, Kind::kAnnotation, Place::kService, Type::kBoolean, "false",
     "Drain the backends of this Service's Pods while they terminate; the Service must also have "
     "publishNotReadyAddresses.",
     true},
    {kServing, Kind::kAnnotation, Place::kService, Type::kDuration, "0s",
     "How long the application is known to keep serving after its Pod was deleted, a preStop "
     "sleep for example; within it a drain may wait for replacements.",
     true},
    {kShutdown, Kind::kAnnotation, Place::kService, Type::kDuration, "30s",
     "How long the application needs to shut down: a drain does not wait beyond the moment of "
     "SIGKILL less this.",
     true},
    {kStickyCutoff, Kind::kAnnotation, Place::kService, Type::kDuration, "",
     "For backend sets with session persistence: how long before the shutdown a drained backend "
     "is set offline, so that persisted sessions leave it too.",
     true},
    {kReserve, Kind::kAnnotation, Place::kService, Type::kReserve, "auto",
     "Slots of the load balancer that are kept for this Service's rollouts; auto is the "
     "forecast peak less what is in use.",
     true},
    {kMinimum, Kind::kAnnotation, Place::kService, Type::kDuration, "5s",
     "How long a confirmed drain lasts at least before its backend may be taken out to make room.",
     true},
    {kLoadBalancerId, Kind::kAnnotation, Place::kIngressClass, Type::kOcid, "",
     "The load balancer of this class; the ingress controller or its user writes it.", true},
    {kIsDefaultClass, Kind::kAnnotation, Place::kIngressClass, Type::kBoolean, "false",
     "Ingresses that name no class belong to this one.", true},
    {kPaused, Kind::kAnnotation, Place::kIngressClass, Type::kBoolean, "false",
     "Stop all writes of this project to the load balancer of this class. A value that is not "
     "allowed pauses too.",
     true},
    {kCarry, Kind::kAnnotation, Place::kIngressClass, Type::kAll, "",
     "Carry, in the same burst of writes, the membership that the ingress controller wants in "
     "sets of Services that did not opt in.",
     true},
    {kPublishedLabel, Kind::kLabel, Place::kPod, Type::kText, "",
     "For Services whose selector has it: taking it from a terminating Pod withdraws the Pod's "
     "backend to make room.",
     true},
    {kReadyCondition, Kind::kCondition, Place::kPod, Type::kText, "",
     "Readiness gate: True once the Pod is registered and healthy in every backend set that "
     "routes to it.",
     true},
    {kDrainedCondition, Kind::kCondition, Place::kPod, Type::kText, "",
     "True once no load balancer sends new requests to the terminating Pod.", true},
};

}  // namespace

absl::Span<const Definition> Table() { return kTable; }

const Definition* Find(absl::string_view name) {
  for (const Definition& definition : kTable) {
    if (definition.name == name) return &definition;
  }
  return nullptr;
}

std::string Allowed(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "\"true\" or \"false\"";
    case Type::kDuration:
      return absl::StrCat("a duration such as \"10s\" or \"1m30s\", at most \"",
                          absl::ToInt64Hours(kLongestDuration), "h\"");
    case Type::kReserve:
      return absl::StrCat("\"auto\", a number of backends up to ", kLargestReserve,
                          " such as \"20\", or a percentage such as \"10%\"");
    case Type::kAll:
      return "\"all\"";
    case Type::kOcid:
      return "an OCID that begins with \"ocid1.loadbalancer.\"";
    case Type::kText:
      break;
  }
  return "any text";
}

absl::string_view PlaceName(Place place) {
  switch (place) {
    case Place::kService:
      return "Service";
    case Place::kIngressClass:
      return "IngressClass";
    case Place::kPod:
      break;
  }
  return "Pod";
}

}  // namespace annotations
