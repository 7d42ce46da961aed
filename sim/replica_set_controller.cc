#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_validation.h"
#include "sim/workload_controllers.h"

namespace sim {
namespace {

// Sorts first what a ReplicaSet gives up first.
auto DeletionRank(const JsonTree& pod) {
  const bool ready = IsPodReady(pod);
  const JsonTree& since = ConditionOf(pod, "Ready")["lastTransitionTime"];
  return std::make_tuple(
      !pod["spec"]["nodeName"].is_null(), pod["status"]["phase"].AsString() != "Pending", ready,
      // Ready for a shorter time, created later.
      -absl::ToUnixSeconds(ready ? ParseKubeTime(since) : absl::UnixEpoch()),
      -absl::ToUnixSeconds(ParseKubeTime(pod["metadata"]["creationTimestamp"])), NameOf(pod));
}

}  // namespace

std::vector<KubeObject> OwnedBy(const std::vector<KubeObject>& objects, const std::string& uid) {
  std::vector<KubeObject> owned;
  for (const KubeObject& object : objects) {
    if (ControllerOf(*object)["uid"].AsString() == uid) owned.push_back(object);
  }
  return owned;
}

bool IsPodAvailable(const JsonTree& pod, absl::Duration min_ready, absl::Time now,
                    absl::Time& due) {
  if (!IsPodReady(pod)) return false;
  const absl::Time since = ParseKubeTime(ConditionOf(pod, "Ready")["lastTransitionTime"]);
  if (min_ready == absl::ZeroDuration() || since + min_ready <= now) return true;
  due = std::min(due, since + min_ready);
  return false;
}

void ReplicaSetController::Step(absl::Time now) {
  due_ = absl::InfiniteFuture();
  const KubeStore& store = objects_.store();
  for (const KubeObject& replica_set : store.List(resources::ReplicaSets(), "")) {
    if (IsTerminating(*replica_set)) continue;
    const std::vector<KubeObject> pods =
        OwnedBy(store.List(resources::Pods(), NamespaceOf(*replica_set)), UidOf(*replica_set));
    Sync(replica_set, pods, now);
  }
}

void ReplicaSetController::Sync(const KubeObject& replica_set, const std::vector<KubeObject>& pods,
                                absl::Time now) {
  const JsonTree& spec = (*replica_set)["spec"];
  std::vector<KubeObject> active;
  int64_t terminating = 0;
  for (const KubeObject& pod : pods) {
    if (IsPodActive(*pod)) active.push_back(pod);
    if (IsTerminating(*pod) && !IsPodTerminal(*pod)) ++terminating;
  }
  const int64_t wanted = spec["replicas"].AsInt();
  const int64_t has = static_cast<int64_t>(active.size());
  for (int64_t i = has; i < wanted; ++i) CreatePod(*replica_set, now);
  if (has > wanted) {
    std::sort(active.begin(), active.end(), [](const KubeObject& a, const KubeObject& b) {
      return DeletionRank(*a) < DeletionRank(*b);
    });
    for (int64_t i = 0; i < has - wanted; ++i) {
      objects_.Delete(RefOf(resources::Pods(), *active[i]), {.uid = UidOf(*active[i])}, now);
    }
    terminating += has - wanted;
    active.erase(active.begin(), active.begin() + (has - wanted));
  }
  const absl::Duration min_ready = absl::Seconds(spec["minReadySeconds"].AsInt());
  int64_t ready = 0;
  int64_t available = 0;
  for (const KubeObject& pod : active) {
    ready += IsPodReady(*pod) ? 1 : 0;
    available += IsPodAvailable(*pod, min_ready, now, due_) ? 1 : 0;
  }
  objects_.Modify(RefOf(resources::ReplicaSets(), *replica_set),
                  {kControllerManager, now, "status"}, [&](JsonTree& object) {
                    JsonTree status = JsonTree::Object{{"replicas", std::max(wanted, int64_t{0})}};
                    if (wanted > 0) status.Set("fullyLabeledReplicas", wanted);
                    if (ready > 0) status.Set("readyReplicas", ready);
                    if (available > 0) status.Set("availableReplicas", available);
                    status.Set("terminatingReplicas", terminating);
                    status.Set("observedGeneration", object["metadata"]["generation"]);
                    object.Set("status", status);
                  });
}

void ReplicaSetController::CreatePod(const JsonTree& replica_set, absl::Time now) {
  const JsonTree& pod_template = replica_set["spec"]["template"];
  const std::string prefix = NameOf(replica_set) + "-";
  constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  for (int tries = 0; tries < 10; ++tries) {
    std::string suffix;
    for (int i = 0; i < 5; ++i) suffix += kAlphabet[random_.Between(0, kAlphabet.size() - 1)];
    JsonTree metadata = pod_template["metadata"];
    metadata.Set("name", prefix + suffix);
    metadata.Set("generateName", prefix);
    metadata.Set("ownerReferences",
                 JsonTree::Array{OwnerReference(resources::ReplicaSets(), replica_set)});
    const KubeResult result =
        objects_.Create(resources::Pods(), NamespaceOf(replica_set),
                        JsonTree::Object{{"metadata", metadata}, {"spec", pod_template["spec"]}},
                        {kControllerManager, now});
    if (result.code != 409) return;
  }
}

void GarbageCollector::Step(absl::Time now) {
  KubeStore& store = objects_.store();
  for (const KubeResource* resource :
       {&resources::ReplicaSets(), &resources::Pods(), &resources::EndpointSlices()}) {
    for (const KubeObject& object : store.List(*resource, "")) {
      const JsonTree& owner = ControllerOf(*object);
      if (owner.is_null() || IsTerminating(*object)) continue;
      const KubeResource* kind =
          FindKubeKind(owner["apiVersion"].AsString(), owner["kind"].AsString());
      if (kind == nullptr) continue;
      const std::string ns = kind->traits.namespaced ? NamespaceOf(*object) : "";
      const KubeObject found = store.Find({kind, ns, owner["name"].AsString()});
      if (found != nullptr && UidOf(*found) == owner["uid"].AsString()) continue;
      objects_.Delete(RefOf(*resource, *object), {.uid = UidOf(*object)}, now);
    }
  }
}

}  // namespace sim
