#include "drain/pace.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace drain {
namespace {

struct WorkloadPods {
  bool drains = false;            // one of them waits at the barrier for its drains
  std::set<std::string> serving;  // UIDs
};

// Whether a drain held for this goes out as soon as those before it have. One that waits
// for a replacement would wait for those who wait for it; others wait for people.
bool OnlyQueued(Hold hold) {
  switch (hold) {
    case Hold::kNone:
    case Hold::kCoalescing:
    case Hold::kWriteInFlight:
    case Hold::kForeignInFlight:
    case Hold::kNeighbours:
    case Hold::kOtherSetFirst:
    case Hold::kBackoff:
      return true;
    case Hold::kLastServing:
    case Hold::kServingFloor:
    case Hold::kBrake:
    case Hold::kStandDown:
    case Hold::kNotActive:
      return false;
  }
  return false;
}

// UIDs of Pods that wait at the barrier for nothing but writes.
std::set<std::string> WaitForWrites(const Draft& draft) {
  std::set<std::string> found;
  for (const auto& [key, entry] : draft.plan.ledger) {
    if (!entry.confirmed && !entry.by_operator) found.insert(entry.pod_uid);
  }
  std::set<std::string> held;
  for (const SetDraft& set : draft.sets) {
    for (const Wanted& wanted : set.wanted) {
      if (wanted.drain) (OnlyQueued(wanted.hold) ? found : held).insert(wanted.pod_uid);
    }
  }
  std::erase_if(found, [&](const std::string& uid) {
    return draft.in.waiters.count(uid) == 0 || held.count(uid) != 0;
  });
  return found;
}

// By position in Input::workloads.
std::vector<WorkloadPods> PodsOf(const Draft& draft) {
  const std::set<std::string> waiting = WaitForWrites(draft);
  std::vector<WorkloadPods> pods(draft.in.workloads.size());
  for (const SetDraft& set : draft.sets) {
    for (const Verdict& verdict : set.verdicts.all()) {
      const Endpoint& endpoint = *verdict.endpoint;
      if (endpoint.workload < 0) continue;
      WorkloadPods& workload = pods[static_cast<size_t>(endpoint.workload)];
      if (verdict.want == Want::kDrained) {
        workload.drains = workload.drains || waiting.count(endpoint.uid) != 0;
      } else if (endpoint.serving || endpoint.lookup.gate_true) {
        workload.serving.insert(endpoint.uid);
      }
    }
  }
  return pods;
}

// UIDs of Pods whose gate would open now, by workload, the longest waiting first.
std::map<int, std::vector<std::string>> ReadyPods(const Draft& draft) {
  std::map<std::string, bool> ready;
  for (const GateDecision& gate : draft.plan.gates) {
    bool& all = ready.try_emplace(gate.pod_uid, true).first->second;
    all = all && gate.progress == GateProgress::kReady;
  }
  std::map<int, std::set<std::pair<absl::Time, std::string>>> sorted;
  for (const SetDraft& set : draft.sets) {
    for (const Verdict& verdict : set.verdicts.all()) {
      const auto found = ready.find(verdict.endpoint->uid);
      if (found == ready.end() || !found->second || verdict.endpoint->workload < 0) continue;
      const auto since = draft.in.memory.gate_since.find(found->first);
      sorted[verdict.endpoint->workload].emplace(
          since == draft.in.memory.gate_since.end() ? draft.in.now : since->second, found->first);
    }
  }
  std::map<int, std::vector<std::string>> pods;
  for (const auto& [workload, uids] : sorted) {
    for (const auto& [since, uid] : uids) pods[workload].push_back(uid);
  }
  return pods;
}

}  // namespace

void PaceRollouts(Draft& draft) {
  const std::vector<WorkloadPods> pods = PodsOf(draft);
  absl::flat_hash_set<std::string> held;
  for (const auto& [index, ready] : ReadyPods(draft)) {
    const WorkloadPods& workload = pods[static_cast<size_t>(index)];
    if (!workload.drains) continue;
    const Workload& owner = draft.in.workloads[static_cast<size_t>(index)];
    const size_t needed = static_cast<size_t>(std::max(0, owner.wanted - owner.max_unavailable));
    const size_t missing = needed - std::min(needed, workload.serving.size());
    for (size_t i = missing; i < ready.size(); ++i) held.insert(ready[i]);
  }
  // Who waits at the barrier may leave it without a change of the load balancer.
  if (!held.empty()) draft.LookBy(draft.in.now + draft.in.options.active_poll);
  for (GateDecision& gate : draft.plan.gates) {
    if (held.contains(gate.pod_uid)) gate.progress = GateProgress::kDrainsFirst;
  }
}

}  // namespace drain
