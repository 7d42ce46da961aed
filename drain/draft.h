// A plan in the making: what the steps of MakePlan hand to each other. Private
// to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_DRAFT_H_
#define OCI_BACKEND_DRAIN_DRAIN_DRAFT_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "drain/input.h"
#include "drain/judge.h"
#include "drain/plan.h"

namespace drain {

// A flip of a flag that the rule wants and the read does not show.
struct Wanted {
  const oci::Backend* backend = nullptr;  // as read
  bool drain = true;
  bool offline = false;  // with the drain: persisted sessions are to leave too
  Verdict verdict;
  std::string pod;
  std::string pod_uid;
  absl::Time end = absl::InfiniteFuture();  // when the process is expected to end
  bool again = false;  // an accepted write carried it before: somebody cleared it
  Hold hold = Hold::kNone;
  absl::Time until = absl::InfiniteFuture();
};

// Backends of one set by name. The set must outlive it and stay as it is.
class BackendIndex {
 public:
  BackendIndex() = default;
  explicit BackendIndex(const oci::BackendSet& set);

  // Null if the set does not hold it.
  const oci::Backend* Find(absl::string_view name) const;

 private:
  absl::flat_hash_map<absl::string_view, const oci::Backend*> by_name_;
};

// Not copied: verdict_of points into verdicts.
struct SetDraft {
  SetDraft() = default;
  SetDraft(SetDraft&&) = default;
  SetDraft& operator=(SetDraft&&) = default;

  const SetInput* input = nullptr;
  const oci::BackendSet* read = nullptr;  // null: the load balancer has no such set
  // The drain rule applies: opted in, publishing, not contested.
  bool ruled = false;
  SetVerdicts verdicts;
  // By the position in verdicts.all(); null: `read` does not hold the address.
  std::vector<const oci::Backend*> backend_of;
  // By the position in read->backends; null: no Pod's endpoint names the address.
  std::vector<const Verdict*> verdict_of;
  // Those of `read` that no Pod's endpoint names, by name; where there are any, the IPs
  // that endpoints of Pods have.
  absl::flat_hash_map<absl::string_view, const oci::Backend*> others;
  absl::flat_hash_set<absl::string_view> pod_ips;
  // The IPs of endpoints under NIC's one port, where theirs is another.
  absl::flat_hash_set<std::string> nic_names;
  std::vector<Wanted> wanted;
  // Drains of ours that hold or should hold: terminating, not long past deadline.
  bool in_force = false;
  // A drained Pod left publication after a foreign write that is still unfinished:
  // that write brings it back, undrained.
  bool foreign_revives = false;
  bool gate_waits = false;  // a Pod with our readiness gate waits to be registered
  size_t remembered = 0;    // so many of Memory::known were seen again; 0: not counted
  // What NIC wants to add to the set and to take out of it, by the watch.
  std::set<oci::BackendName> pending_add;
  std::set<oci::BackendName> pending_removal;
  bool pending_routable = false;  // one of pending_removal is undrained

  BackendKey Key(const oci::BackendName& backend) const { return {input->name, backend}; }

  // The backend that `read` has under the name; null if it has none.
  const oci::Backend* FindBackend(absl::string_view name) const {
    const int position = verdicts.Position(name);
    if (position != SetVerdicts::kNone) return backend_of[static_cast<size_t>(position)];
    const auto it = others.find(name);
    return it == others.end() ? nullptr : it->second;
  }
  // Of one of verdicts.all().
  size_t PositionOf(const Verdict& verdict) const {
    return static_cast<size_t>(&verdict - verdicts.all().data());
  }
  const oci::Backend* BackendOf(const Verdict& verdict) const {
    return backend_of[PositionOf(verdict)];
  }
  bool pending() const { return !pending_add.empty() || !pending_removal.empty(); }
};

struct Draft {
  explicit Draft(const Input& input) : in(input) {
    plan.ledger = input.ledger;
    plan.memory = input.memory;
  }

  const Input& in;
  Plan plan;
  std::vector<SetDraft> sets;
  bool settled = false;    // a write of ours was found finished in this pass
  bool unsettled = false;  // the ledger waits for a quiet look to be brought in line
  // A Pod waits to be proven absent from a set, or routed to by it.
  bool awaits_look = false;
  bool stand_down = false;                       // the ingress controller drains by itself
  std::vector<const oci::WorkRequest*> foreign;  // unfinished, can touch backends
  bool foreign_membership = false;               // all of them are NIC's membership writes

  void LookBy(absl::Time time) { plan.next_look = std::min(plan.next_look, time); }

  // Given once, until a pass finds the condition gone.
  void TellOnce(const std::string& key, Notice notice) {
    const bool first = raised.insert(key).second;
    if (first && in.memory.told.count(key) == 0) plan.notices.push_back(std::move(notice));
  }
  std::set<std::string> raised;

  // A drain that comes too late is told of, and counted, once for a backend and its Pod,
  // whichever sign of it is seen first and whatever comes in between.
  void TellMissedDeadline(const std::string& pod_uid, Notice notice);
  void KeepMissedDeadline(const BackendKey& key, const std::string& pod_uid);

  // Both were answered in this pass, in the order that proves that what was
  // accepted before is in what was read.
  bool FreshLook() const {
    return in.read.has_value() && in.read->this_pass && in.work_requests.has_value() &&
           in.work_requests->this_pass;
  }
};

// A set smaller than this has no brake: half of it is one backend.
inline constexpr int kBrakeFrom = 4;

// For one name; BackendIndex is for many.
const oci::Backend* FindBackend(const oci::BackendSet& set, const oci::BackendName& name);

// p99 from acceptance to finish, queueing included, as measured on this load
// balancer; 20 s (a queued and a running work request) before the first one.
absl::Duration WorkRequestP99(const Memory& memory);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_DRAFT_H_
