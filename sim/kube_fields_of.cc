#include "sim/kube_fields_of.h"

namespace sim {
namespace {

const JsonTree& None() {
  static const JsonTree* const none = new JsonTree();
  return *none;
}

}  // namespace

const JsonTree& ControllerOf(const JsonTree& object) {
  for (const JsonTree& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].AsBool()) return owner;
  }
  return None();
}

JsonTree OwnerReference(const KubeResource& resource, const JsonTree& object) {
  return JsonTree::Object{{"apiVersion", resource.api_version()},
                          {"kind", resource.kind},
                          {"name", NameOf(object)},
                          {"uid", UidOf(object)},
                          {"controller", true},
                          {"blockOwnerDeletion", true}};
}

const JsonTree& ConditionOf(const JsonTree& object, absl::string_view type) {
  for (const JsonTree& condition : object["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition;
  }
  return None();
}

bool IsConditionTrue(const JsonTree& object, absl::string_view type) {
  return ConditionOf(object, type)["status"].AsString() == "True";
}

void SetCondition(absl::string_view type, bool status, absl::string_view reason,
                  absl::string_view now, JsonTree& conditions) {
  JsonTree* found = nullptr;
  for (JsonTree& condition : conditions.MutableItems()) {
    if (condition["type"].AsString() == type) found = &condition;
  }
  if (found == nullptr) {
    conditions.Append(JsonTree::Object{{"type", type}});
    found = &conditions.MutableItems().back();
  }
  const char* text = status ? "True" : "False";
  if ((*found)["status"].AsString() != text) found->Set("lastTransitionTime", now);
  found->Set("status", text);
  found->Erase("reason");
  if (!reason.empty()) found->Set("reason", reason);
}

bool IsPodTerminal(const JsonTree& pod) {
  const std::string& phase = pod["status"]["phase"].AsString();
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace sim
