#include "controller/gate_check.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "annotations/table.h"

namespace controller {
namespace {

constexpr char kNote[] =
    "Its Pods never become ready: they have the readiness gate, and no Service that is mapped to a "
    "backend set selects them; let an Ingress of the native ingress controller route to such a "
    "Service that is annotated with backend-draining: \"true\", or take the gate out of the Pod "
    "template";

// One without a selector has endpoints that somebody else writes, of these Pods perhaps.
bool MaySelect(const kube::Service& service, const kube::Workload& workload) {
  return std::all_of(service.selector.begin(), service.selector.end(), [&](const auto& label) {
    const auto found = workload.gated_labels.find(label.first);
    return found != workload.gated_labels.end() && found->second == label.second;
  });
}

bool IsMapped(const kube::ClusterStore& store, const TopologyView& view,
              const kube::Workload& workload) {
  const auto& mapped = view.load_balancers_of_service;
  for (auto it = mapped.lower_bound({workload.key.ns, ""});
       it != mapped.end() && it->first.ns == workload.key.ns; ++it) {
    const std::shared_ptr<const kube::Service> service = store.FindService(it->first);
    if (service != nullptr && MaySelect(*service, workload)) return true;
  }
  return false;
}

}  // namespace

void GateCheck::Run(const TopologyView& view) {
  std::set<kube::ObjectReference> unserved;
  for (const auto& workload : store_.WorkloadsWithGate(annotations::kReadyCondition)) {
    if (workload->deleting || workload->replicas == 0) continue;
    if (IsMapped(store_, view, *workload)) continue;
    unserved.insert({"apps/v1", workload->kind, workload->key, workload->uid});
  }
  for (const kube::ObjectReference& reference : unserved) {
    if (told_.count(reference) != 0) continue;
    reporter_.Tell(reference, {true, "GateHasNoBackendSet", kNote, ""});
  }
  told_ = std::move(unserved);
}

}  // namespace controller
