#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/kube_fields_of.h"
#include "sim/workload_controllers.h"

namespace sim {
namespace {

constexpr char kRevisionLabel[] = "controller-revision-hash";

// The Pods by ordinal.
std::map<int64_t, KubeObject> ByOrdinal(const std::string& name,
                                        const std::vector<KubeObject>& pods) {
  std::map<int64_t, KubeObject> out;
  for (const KubeObject& pod : pods) {
    int64_t ordinal = 0;
    absl::string_view suffix = NameOf(*pod);
    if (absl::ConsumePrefix(&suffix, name + "-") && absl::SimpleAtoi(suffix, &ordinal)) {
      out[ordinal] = pod;
    }
  }
  return out;
}

}  // namespace

void StatefulSetController::Step(absl::Time now) {
  for (const KubeObject& stateful_set : objects_.store().List(resources::StatefulSets(), "")) {
    if (!IsTerminating(*stateful_set)) Sync(stateful_set, now);
  }
}

void StatefulSetController::Sync(const KubeObject& stateful_set, absl::Time now) {
  const JsonTree& spec = (*stateful_set)["spec"];
  const std::string& name = NameOf(*stateful_set);
  const std::string revision = absl::StrCat(name, "-", TemplateHash(spec["template"]));
  const auto pods =
      ByOrdinal(name, OwnedBy(objects_.store().List(resources::Pods(), NamespaceOf(*stateful_set)),
                              UidOf(*stateful_set)));
  const int64_t wanted = spec["replicas"].AsInt();
  const bool ordered = spec["podManagementPolicy"].AsString() == "OrderedReady";
  int64_t ready = 0;
  int64_t updated = 0;
  bool settled = true;  // every wanted Pod is there, ready, and stays
  for (int64_t i = 0; i < wanted; ++i) {
    const auto found = pods.find(i);
    if (found == pods.end()) {
      if (settled || !ordered) CreatePod(*stateful_set, absl::StrCat(name, "-", i), revision, now);
      settled = false;
      continue;
    }
    const JsonTree& pod = *found->second;
    // A name is free again only when the ended Pod is gone.
    if (IsPodTerminal(pod) && !IsTerminating(pod)) {
      objects_.Delete(RefOf(resources::Pods(), pod), {.uid = UidOf(pod)}, now);
    }
    if (IsPodReady(pod)) ++ready;
    if (pod["metadata"]["labels"][kRevisionLabel].AsString() == revision) ++updated;
    if (!IsPodActive(pod) || !IsPodReady(pod)) settled = false;
  }
  // From the highest: what is too many, then what is outdated, one at a time.
  const int64_t partition = spec["updateStrategy"]["rollingUpdate"]["partition"].AsInt();
  const bool rolling = spec["updateStrategy"]["type"].AsString() == "RollingUpdate";
  for (auto it = pods.rbegin(); it != pods.rend(); ++it) {
    const JsonTree& pod = *it->second;
    const bool too_many = it->first >= wanted;
    const bool outdated = rolling && it->first >= partition &&
                          pod["metadata"]["labels"][kRevisionLabel].AsString() != revision;
    if (!too_many && !(outdated && settled)) continue;
    if (!IsTerminating(pod)) {
      objects_.Delete(RefOf(resources::Pods(), pod), {.uid = UidOf(pod)}, now);
    }
    if (ordered || outdated) break;
  }
  objects_.Modify(RefOf(resources::StatefulSets(), *stateful_set),
                  {kControllerManager, now, "status"}, [&](JsonTree& object) {
                    object.Set(
                        "status",
                        JsonTree::Object{{"observedGeneration", object["metadata"]["generation"]},
                                         {"replicas", static_cast<int64_t>(pods.size())},
                                         {"readyReplicas", ready},
                                         {"availableReplicas", ready},
                                         {"updatedReplicas", updated},
                                         {"updateRevision", revision}});
                  });
}

void StatefulSetController::CreatePod(const JsonTree& stateful_set, const std::string& name,
                                      const std::string& revision, absl::Time now) {
  const JsonTree& pod_template = stateful_set["spec"]["template"];
  JsonTree metadata = pod_template["metadata"];
  metadata.Set("name", name);
  metadata.Set("generateName", NameOf(stateful_set) + "-");
  metadata.Child("labels").Set(kRevisionLabel, revision);
  metadata.Child("labels").Set("statefulset.kubernetes.io/pod-name", name);
  metadata.Set("ownerReferences",
               JsonTree::Array{OwnerReference(resources::StatefulSets(), stateful_set)});
  objects_.Create(resources::Pods(), NamespaceOf(stateful_set),
                  JsonTree::Object{{"metadata", metadata}, {"spec", pod_template["spec"]}},
                  {kControllerManager, now});
}

}  // namespace sim
