#include "sim/lifecycle_judge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/load_balancer_document.h"
#include "sim/virtual_world.h"

namespace sim {
namespace {

const rapidjson::Value* BackendOf(const FakeLoadBalancer& load_balancer, const LifecycleSet& set,
                                  const std::string& ip) {
  const rapidjson::Value* document = load_balancer.Applied(kLifecycleOcid);
  return FindBackend(*FindBackendSet(*document, set.name), absl::StrCat(ip, ":", set.port));
}

bool IsRoutable(const rapidjson::Value* backend) {
  return backend != nullptr && !(*backend)["drain"].GetBool();
}

}  // namespace

void LifecycleJudge::OnPodEvent(const PodEvent& event) {
  switch (event.kind) {
    case PodEvent::Kind::kRunning:
      ip_of_[event.uid] = event.ip;
      serving_.insert(event.uid);
      break;
    case PodEvent::Kind::kProcessEnded:
      serving_.erase(event.uid);
      break;
    case PodEvent::Kind::kRemoved:
      ip_of_.erase(event.uid);
      break;
    default:
      break;
  }
}

void LifecycleJudge::OnFinished(const WriteRecord& write) {
  for (const auto* names : {&write.effect.added, &write.effect.undrained}) {
    for (const std::string& name : *names) {
      made_routable_[{write.backend_set, name}] = {write.client, write.accepted};
    }
  }
}

std::vector<LifecycleJudge::Routable> LifecycleJudge::RoutableOf(const std::string& uid,
                                                                 absl::Time confirmed) const {
  std::vector<Routable> routable;
  const auto pod = ip_of_.find(uid);
  if (pod == ip_of_.end()) return routable;
  for (const LifecycleSet& set : sets_) {
    if (!IsRoutable(BackendOf(load_balancer_, set, pod->second))) continue;
    Routable found{set.name, absl::StrCat(pod->second, ":", set.port)};
    const auto change = made_routable_.find({found.set, found.backend});
    found.by_foreign = change != made_routable_.end() &&
                       change->second.client != VirtualWorld::kController &&
                       change->second.accepted > confirmed;
    routable.push_back(std::move(found));
  }
  return routable;
}

std::string LifecycleJudge::SetWithoutPod() const {
  for (const LifecycleSet& set : sets_) {
    const bool served = std::any_of(serving_.begin(), serving_.end(), [&](const auto& uid) {
      return IsRoutable(BackendOf(load_balancer_, set, ip_of_.at(uid)));
    });
    if (!served) return set.name;
  }
  return "";
}

bool LifecycleJudge::RoutesToAllAndNoOther() const {
  const rapidjson::Value* document = load_balancer_.Applied(kLifecycleOcid);
  for (const LifecycleSet& set : sets_) {
    const auto backends = (*FindBackendSet(*document, set.name))["backends"].GetArray();
    const auto routable = std::count_if(backends.Begin(), backends.End(),
                                        [](const auto& backend) { return IsRoutable(&backend); });
    if (routable != static_cast<long>(ip_of_.size())) return false;
    for (const auto& [uid, ip] : ip_of_) {
      if (!IsRoutable(BackendOf(load_balancer_, set, ip))) return false;
    }
  }
  return true;
}

}  // namespace sim
