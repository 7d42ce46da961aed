#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/kube_fields_of.h"
#include "sim/workload_controllers.h"

namespace sim {
namespace {

constexpr char kHashLabel[] = "pod-template-hash";
constexpr char kDesired[] = "deployment.kubernetes.io/desired-replicas";
constexpr char kMaximum[] = "deployment.kubernetes.io/max-replicas";
constexpr char kRevision[] = "deployment.kubernetes.io/revision";

int64_t Replicas(const JsonTree& replica_set) { return replica_set["spec"]["replicas"].AsInt(); }
int64_t Available(const JsonTree& replica_set) {
  return replica_set["status"]["availableReplicas"].AsInt();
}

int64_t RevisionOf(const JsonTree& object) {
  int64_t revision = 0;
  const bool is_number =
      absl::SimpleAtoi(object["metadata"]["annotations"][kRevision].AsString(), &revision);
  return is_number ? revision : 0;
}

JsonTree TemplateWithoutHash(const JsonTree& replica_set) {
  JsonTree pod_template = replica_set["spec"]["template"];
  if (pod_template["metadata"]["labels"].Has(kHashLabel)) {
    pod_template.Child("metadata").Child("labels").Erase(kHashLabel);
  }
  return pod_template;
}

struct DeploymentCondition {
  const char* type;
  bool status;
  const char* reason;
  std::string message;
};

void SetDeploymentCondition(const DeploymentCondition& condition, absl::Time now,
                            JsonTree& conditions) {
  const std::string time = KubeTime(now);
  SetCondition(condition.type, condition.status, condition.reason, time, conditions);
  for (JsonTree& stored : conditions.MutableItems()) {
    if (stored["type"].AsString() != condition.type) continue;
    if (stored["message"].AsString() != condition.message) stored.Set("lastUpdateTime", time);
    stored.Set("message", condition.message);
  }
}

}  // namespace

struct DeploymentController::Family {
  KubeObject deployment;
  KubeObject fresh;  // of the current template
  std::vector<KubeObject> old;
  int64_t wanted = 0;
  int64_t max_surge = 0;
  int64_t max_unavailable = 0;

  int64_t Sum(int64_t (*count)(const JsonTree&)) const {
    int64_t sum = fresh == nullptr ? 0 : count(*fresh);
    for (const KubeObject& replica_set : old) sum += count(*replica_set);
    return sum;
  }
};

int64_t ResolveCount(const JsonTree& value, int64_t total, bool round_up) {
  if (value.is_int()) return value.AsInt();
  int64_t percent = 0;
  const std::string& text = value.AsString();
  if (!absl::EndsWith(text, "%") || !absl::SimpleAtoi(text.substr(0, text.size() - 1), &percent)) {
    return 0;
  }
  return (percent * total + (round_up ? 99 : 0)) / 100;
}

std::string TemplateHash(const JsonTree& pod_template) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : pod_template.Dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += kAlphabet[hash % kAlphabet.size()];
    hash /= kAlphabet.size();
  }
  return text;
}

void DeploymentController::Step(absl::Time now) {
  for (const KubeObject& deployment : objects_.store().List(resources::Deployments(), "")) {
    if (!IsTerminating(*deployment)) Sync(deployment, now);
  }
}

void DeploymentController::Sync(const KubeObject& deployment, absl::Time now) {
  const JsonTree& spec = (*deployment)["spec"];
  Family family;
  family.deployment = deployment;
  family.wanted = spec["replicas"].AsInt();
  const JsonTree& rolling = spec["strategy"]["rollingUpdate"];
  family.max_surge = ResolveCount(rolling["maxSurge"], family.wanted, true);
  family.max_unavailable = ResolveCount(rolling["maxUnavailable"], family.wanted, false);
  // Percentages that both come to nothing would block the rollout.
  if (family.max_surge == 0 && family.max_unavailable == 0) family.max_unavailable = 1;

  std::vector<KubeObject> owned =
      OwnedBy(objects_.store().List(resources::ReplicaSets(), NamespaceOf(*deployment)),
              UidOf(*deployment));
  const bool recreate = spec["strategy"]["type"].AsString() == "Recreate";
  for (const KubeObject& replica_set : owned) {
    const bool is_current = TemplateWithoutHash(*replica_set) == spec["template"];
    if (is_current && family.fresh == nullptr) {
      family.fresh = replica_set;
    } else {
      family.old.push_back(replica_set);
    }
  }
  std::stable_sort(
      family.old.begin(), family.old.end(),
      [](const KubeObject& a, const KubeObject& b) { return RevisionOf(*a) < RevisionOf(*b); });
  if (!spec["paused"].AsBool()) {
    const bool scaling =
        std::any_of(owned.begin(), owned.end(), [&](const KubeObject& replica_set) {
          int64_t desired = 0;
          return Replicas(*replica_set) > 0 &&
                 absl::SimpleAtoi((*replica_set)["metadata"]["annotations"][kDesired].AsString(),
                                  &desired) &&
                 desired != family.wanted;
        });
    if (scaling) {
      SyncScale(family, now);
    } else if (recreate) {
      SyncRecreate(family, now);
    } else {
      SyncRolling(family, now);
    }
  }
  WriteStatus(family, now);
  PruneHistory(family, now);
}

KubeObject DeploymentController::FindOrCreateNew(const JsonTree& deployment,
                                                 const std::vector<KubeObject>& old,
                                                 absl::Time now) {
  int64_t revision = 0;
  for (const KubeObject& replica_set : old) revision = std::max(revision, RevisionOf(*replica_set));
  const JsonTree& spec = deployment["spec"];
  const std::string hash = TemplateHash(spec["template"]);
  JsonTree pod_template = spec["template"];
  pod_template.Child("metadata").Child("labels").Set(kHashLabel, hash);
  JsonTree selector = spec["selector"];
  selector.Child("matchLabels").Set(kHashLabel, hash);
  const JsonTree annotations = JsonTree::Object{{kRevision, absl::StrCat(revision + 1)}};
  const JsonTree metadata = JsonTree::Object{
      {"name", absl::StrCat(NameOf(deployment), "-", hash)},
      {"labels", pod_template["metadata"]["labels"]},
      {"annotations", annotations},
      {"ownerReferences", JsonTree::Array{OwnerReference(resources::Deployments(), deployment)}}};
  JsonTree replica_set_spec =
      JsonTree::Object{{"replicas", 0}, {"selector", selector}, {"template", pod_template}};
  if (spec.Has("minReadySeconds")) {
    replica_set_spec.Set("minReadySeconds", spec["minReadySeconds"]);
  }
  const KubeResult result =
      objects_.Create(resources::ReplicaSets(), NamespaceOf(deployment),
                      JsonTree::Object{{"metadata", metadata}, {"spec", replica_set_spec}},
                      {kControllerManager, now});
  objects_.Modify(
      RefOf(resources::Deployments(), deployment), {kControllerManager, now},
      [&](JsonTree& object) {
        object.Child("metadata").Child("annotations").Set(kRevision, absl::StrCat(revision + 1));
      });
  return result.object;
}

void DeploymentController::SyncRolling(const Family& family, absl::Time now) {
  Family current = family;
  if (current.fresh == nullptr) {
    current.fresh = FindOrCreateNew(*family.deployment, family.old, now);
    if (current.fresh == nullptr) return;
  }
  const int64_t total = current.Sum(Replicas);
  const int64_t fresh = Replicas(*current.fresh);
  if (fresh > current.wanted) return Scale(current, *current.fresh, current.wanted, now);
  const int64_t room = current.wanted + current.max_surge - total;
  if (fresh < current.wanted && room > 0) {
    return Scale(current, *current.fresh, fresh + std::min(room, current.wanted - fresh), now);
  }
  const int64_t least = current.wanted - current.max_unavailable;
  const int64_t fresh_unavailable = fresh - Available(*current.fresh);
  const int64_t budget = total - least - fresh_unavailable;
  if (budget > 0) ScaleDownOld(current, budget, now);
}

// First what serves nobody, then as many as the available ones allow; oldest first.
void DeploymentController::ScaleDownOld(const Family& family, int64_t budget, absl::Time now) {
  Family current = family;
  for (KubeObject& replica_set : current.old) {
    const int64_t useless = std::min(Replicas(*replica_set) - Available(*replica_set), budget);
    if (useless <= 0) continue;
    Scale(current, *replica_set, Replicas(*replica_set) - useless, now);
    replica_set = objects_.store().Find(RefOf(resources::ReplicaSets(), *replica_set));
    budget -= useless;
  }
  int64_t spare = current.Sum(Available) - (family.wanted - family.max_unavailable);
  for (const KubeObject& replica_set : current.old) {
    const int64_t less = std::min(Replicas(*replica_set), spare);
    if (less <= 0) continue;
    Scale(current, *replica_set, Replicas(*replica_set) - less, now);
    spare -= less;
  }
}

void DeploymentController::SyncRecreate(const Family& family, absl::Time now) {
  for (const KubeObject& replica_set : family.old) {
    if (Replicas(*replica_set) > 0) Scale(family, *replica_set, 0, now);
  }
  const std::vector<KubeObject> pods =
      objects_.store().List(resources::Pods(), NamespaceOf(*family.deployment));
  for (const KubeObject& replica_set : family.old) {
    for (const KubeObject& pod : OwnedBy(pods, UidOf(*replica_set))) {
      if (!IsPodTerminal(*pod)) return;
    }
  }
  Family current = family;
  if (current.fresh == nullptr) {
    current.fresh = FindOrCreateNew(*family.deployment, family.old, now);
  }
  if (current.fresh != nullptr && Replicas(*current.fresh) != family.wanted) {
    Scale(current, *current.fresh, family.wanted, now);
  }
}

// The number of replicas changed: each ReplicaSet gets its share of the change.
void DeploymentController::SyncScale(const Family& family, absl::Time now) {
  std::vector<KubeObject> active;
  for (const KubeObject& replica_set : family.old) {
    if (Replicas(*replica_set) > 0) active.push_back(replica_set);
  }
  if (family.fresh != nullptr && Replicas(*family.fresh) > 0) active.push_back(family.fresh);
  const int64_t total = family.Sum(Replicas);
  const int64_t goal = active.size() == 1
                           ? family.wanted
                           : family.wanted + (family.wanted > 0 ? family.max_surge : 0);
  int64_t left = goal;
  for (size_t i = 0; i < active.size(); ++i) {
    // The newest takes what rounding leaves.
    const bool last = i + 1 == active.size();
    const int64_t share =
        last ? left : std::min(left, total == 0 ? 0 : Replicas(*active[i]) * goal / total);
    left -= share;
    Scale(family, *active[i], share, now);
  }
}

void DeploymentController::Scale(const Family& family, const JsonTree& replica_set,
                                 int64_t replicas, absl::Time now) {
  objects_.Modify(RefOf(resources::ReplicaSets(), replica_set), {kControllerManager, now},
                  [&](JsonTree& object) {
                    object.Child("spec").Set("replicas", replicas);
                    JsonTree& annotations = object.Child("metadata").Child("annotations");
                    annotations.Set(kDesired, absl::StrCat(family.wanted));
                    annotations.Set(kMaximum, absl::StrCat(family.wanted + family.max_surge));
                  });
}

void DeploymentController::PruneHistory(const Family& family, absl::Time now) {
  int64_t too_many = -(*family.deployment)["spec"]["revisionHistoryLimit"].AsInt();
  for (const KubeObject& replica_set : family.old) {
    too_many += Replicas(*replica_set) == 0 ? 1 : 0;
  }
  for (const KubeObject& replica_set : family.old) {
    const JsonTree& status = (*replica_set)["status"];
    if (too_many <= 0) return;
    if (Replicas(*replica_set) > 0 || status["replicas"].AsInt() > 0 ||
        status["terminatingReplicas"].AsInt() > 0) {
      continue;
    }
    objects_.Delete(RefOf(resources::ReplicaSets(), *replica_set), {}, now);
    --too_many;
  }
}

void DeploymentController::WriteStatus(const Family& family, absl::Time now) {
  const auto status_sum = [&](const char* field) {
    int64_t sum = 0;
    for (const KubeObject& replica_set :
         OwnedBy(objects_.store().List(resources::ReplicaSets(), NamespaceOf(*family.deployment)),
                 UidOf(*family.deployment))) {
      sum += (*replica_set)["status"][field].AsInt();
    }
    return sum;
  };
  const int64_t available = status_sum("availableReplicas");
  const int64_t updated =
      family.fresh == nullptr ? 0 : (*family.fresh)["status"]["replicas"].AsInt();
  const std::string fresh = family.fresh == nullptr ? "" : NameOf(*family.fresh);
  const bool done = updated == family.wanted && available >= family.wanted &&
                    status_sum("replicas") == family.wanted;
  objects_.Modify(
      RefOf(resources::Deployments(), *family.deployment), {kControllerManager, now, "status"},
      [&](JsonTree& object) {
        JsonTree conditions = object["status"]["conditions"];
        JsonTree status =
            JsonTree::Object{{"observedGeneration", object["metadata"]["generation"]}};
        const auto count = [&](const char* field, int64_t value) {
          if (value != 0) status.Set(field, value);
        };
        count("replicas", status_sum("replicas"));
        count("updatedReplicas", updated);
        count("readyReplicas", status_sum("readyReplicas"));
        count("availableReplicas", available);
        count("unavailableReplicas", std::max<int64_t>(0, status_sum("replicas") - available));
        status.Set("terminatingReplicas", status_sum("terminatingReplicas"));
        const bool enough = available >= family.wanted - family.max_unavailable;
        SetDeploymentCondition({"Available", enough,
                                enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                                absl::StrCat("Deployment ", enough ? "has" : "does not have",
                                             " minimum availability.")},
                               now, conditions);
        SetDeploymentCondition(
            {"Progressing", true, done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
             absl::StrCat("ReplicaSet \"", fresh, "\" ",
                          done ? "has successfully progressed." : "is progressing.")},
            now, conditions);
        status.Set("conditions", conditions);
        object.Set("status", status);
      });
}

}  // namespace sim
