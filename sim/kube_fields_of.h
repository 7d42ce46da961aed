// The fields of stored objects that controllers look at.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_OF_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_OF_H_

#include <string>

#include "sim/json_tree.h"
#include "sim/kube_resources.h"

namespace sim {

inline const std::string& NameOf(const JsonTree& object) {
  return object["metadata"]["name"].AsString();
}
inline const std::string& NamespaceOf(const JsonTree& object) {
  return object["metadata"]["namespace"].AsString();
}
inline const std::string& UidOf(const JsonTree& object) {
  return object["metadata"]["uid"].AsString();
}
inline bool IsTerminating(const JsonTree& object) {
  return object["metadata"].Has("deletionTimestamp");
}
inline KubeObjectRef RefOf(const KubeResource& resource, const JsonTree& object) {
  return {&resource, NamespaceOf(object), NameOf(object)};
}

// The reference of the owner with controller=true; null if there is none.
const JsonTree& ControllerOf(const JsonTree& object);

// For `object`'s dependents.
JsonTree OwnerReference(const KubeResource& resource, const JsonTree& object);

// The condition of that type; null if there is none.
const JsonTree& ConditionOf(const JsonTree& object, absl::string_view type);
bool IsConditionTrue(const JsonTree& object, absl::string_view type);

// Sets status, reason and message; the transition time moves with the status only.
void SetCondition(absl::string_view type, bool status, absl::string_view reason,
                  absl::string_view now, JsonTree& conditions);

// Phase Succeeded or Failed.
bool IsPodTerminal(const JsonTree& pod);
// Counts for its ReplicaSet: neither terminal nor being deleted.
inline bool IsPodActive(const JsonTree& pod) { return !IsPodTerminal(pod) && !IsTerminating(pod); }
inline bool IsPodReady(const JsonTree& pod) { return IsConditionTrue(pod, "Ready"); }

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_FIELDS_OF_H_
