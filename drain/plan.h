// The decision for one load balancer: snapshot in, plan out.
//
//   Input input = Collect(...);
//   Plan plan = MakePlan(input);
//   while (!plan.questions.empty()) { Answer(plan.questions, &input); plan = MakePlan(input); }
//   LOG(INFO) << Explain(input, plan);
//
// A plan that lacks a fact asks for it instead of guessing. Each question is
// asked once per pass: an answer, also "no answer", ends it, so the loop is
// finite. A plan with questions carries no write.
//
// Pure: no clock, thread, log, flag, JSON or I/O.
#ifndef OCI_BACKEND_DRAIN_DRAIN_PLAN_H_
#define OCI_BACKEND_DRAIN_DRAIN_PLAN_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/shared.h"
#include "drain/input.h"
#include "drain/memory.h"
#include "kube/types.h"
#include "oci/types.h"

namespace drain {

struct Questions {
  bool own_work_request = false;             // GetWorkRequest of memory.own_write
  bool work_requests = false;                // ListWorkRequests, answered before `read`
  bool read = false;                         // GetLoadBalancer
  std::set<kube::ObjectKey> pods;            // GetPod
  std::set<kube::ObjectKey> memberships;     // GetEndpoints of these Services
  std::set<BackendKey> health;               // GetBackendHealth
  std::set<oci::BackendSetName> set_health;  // GetBackendSetHealth

  bool empty() const {
    return !own_work_request && !work_requests && !read && pods.empty() && memberships.empty() &&
           health.empty() && set_health.empty();
  }
};

// Which rule decided about a backend.
enum class Rule {
  kNotOurs,            // no endpoint has this ip:port
  kLive,               // rule 1
  kTerminating,        // rule 2: deletionTimestamp
  kSliceTerminating,   // rule 2: the slice says so and the Pod is not cached
  kPodGone,            // rule 3: live GET says 404
  kPodReplaced,        // rule 3: the name belongs to another Pod with another address
  kAddressReused,      // rule 3: another UID with this same address: keep
  kPodWithoutAddress,  // rule 3: another UID that has no address yet: keep
  kLookupFailed,       // rule 3: no answer: keep
  kLeaving,            // rule 4: Failed or DisruptionTarget
  kPortMismatch,       // the Pod's address with a port that no slice has
  kWithdrawn,          // was a Pod of this Service, is published no more
};

// Why a flip that is wanted is not in this plan's write.
enum class Hold {
  kNone,
  kCoalescing,       // waits for others that fall due
  kLastServing,      // last serving backend of its workload
  kServingFloor,     // within backend-drain-serving, replacements are not proven
  kWriteInFlight,    // a write of ours is in flight
  kForeignInFlight,  // a foreign work request is unfinished
  kNeighbours,       // sets of other Services wait for NIC
  kOtherSetFirst,    // another set's write is more urgent
  kBackoff,          // after an error, or the rate limit
  kBrake,
  kStandDown,  // the ingress controller drains by itself
  kNotActive,  // the load balancer is not ACTIVE
};

// One line of the explanation: a backend of a set of an opted-in Service, or a
// published address that the set does not hold. A live Pod's backend that is routable,
// and is to stay so, is no decision: AllDecisions (explain.h) has those too.
struct Decision {
  BackendKey key;
  kube::ObjectKey pod;
  std::string pod_uid;
  Rule rule = Rule::kNotOurs;
  bool in_set = false;
  bool drained = false;       // as read
  bool want_drained = false;  // by the rule
  bool want_offline = false;  // by the sticky cutoff, and it is not yet
  Hold hold = Hold::kNone;
  absl::Time until = absl::InfiniteFuture();     // when the hold ends at the latest
  absl::Time deadline = absl::InfiniteFuture();  // SIGKILL
};

struct Flip {
  BackendKey key;
  bool drain = true;
  bool offline = false;
  std::string pod;
  std::string pod_uid;
  absl::Time deadline = absl::InfiniteFuture();
  absl::Time deleted_at = absl::InfinitePast();
};

struct Write {
  oci::BackendSetName set;
  WriteReason reason = WriteReason::kDrain;
  bool whole_set = false;  // UpdateBackendSet; else UpdateBackend of the one flip
  // What `change` is applied to: the set as read, or the foreign version that is
  // being restored.
  base::Shared<oci::BackendSet> base;
  oci::BackendSetChange change;
  std::vector<Flip> flips;  // those of `change`, and drains of its additions
  oci::Etag etag;
  bool carries_wave = false;  // carries drains that no accepted write carried before
  std::set<oci::WorkRequestId> behind;
  // Other sets whose flips are due now: the rest of this burst.
  std::set<oci::BackendSetName> burst;
};

// What people are to be told. Text is made by Describe (explain.h) only.
enum class NoticeKind {
  kBackendDrained,
  kDrainDeadlineMissed,
  kWorkRequestFailed,
  kServiceNotPublishingTerminatingPods,
  kBackendSetContested,
  kBackendSetMissing,
  kPortMismatch,
  kEndpointWithoutPod,
  kNodeBackendsNotDrained,
  kDrainBrakeEngaged,
  kSharedLoadBalancerDelaysOthers,
  kForeignChangeRestored,
  kIngressControllerDrains,
  kLedgerUnavailable,
  kLoadBalancerNotActive,
  kHealthCheckCannotSeeReadiness,
  kAdditionsWaitForSlots,
  kStickySetWithoutCutoff,
  kDrainDeadlineAtRisk,
  kDrainWaitEnded,
  kGateHasNoBackendSet,
};

struct Notice {
  NoticeKind kind = NoticeKind::kBackendDrained;
  kube::ObjectReference regarding;  // the Service; empty kind: the IngressClass
  BackendKey key;                   // set and backend where it is about one
  std::string pod;
  absl::Duration took = absl::ZeroDuration();
  // Of a confirmed drain: how long before the Pod's deadline; infinite: it has none.
  absl::Duration slack = absl::InfiniteDuration();
  int count = 0;
  std::string detail;  // text from outside (errorDetails, names), to be quoted
};

// How far a backend set has let go of a Pod that ends.
enum class DrainProgress {
  kWaiting,        // it may be sent new requests
  kHeldBack,       // the same, since its drain waits for a replacement
  kDrained,        // confirmed drained; offline, of a sticky set with a cutoff
  kNotRegistered,  // confirmed: the set does not hold it
};

struct Acknowledgement {
  BackendKey key;
  kube::ObjectKey pod;  // no name: only its UID is remembered
  std::string pod_uid;
  DrainProgress progress = DrainProgress::kWaiting;
  absl::Time deadline = absl::InfiniteFuture();  // SIGKILL
  // The deadline less backend-drain-shutdown: the Pod is let go then in any case.
  absl::Time release_at = absl::InfiniteFuture();
};

// How far a backend set is on the way to a Pod whose readiness gate waits.
enum class GateProgress {
  kReady,          // in the set, undrained, its work request done, healthy
  kNotRegistered,  // not in the set
  kDrained,        // drained or offline, of an earlier Pod with its address perhaps
  kRegistering,    // a work request that may concern it is not done
  kNotHealthy,     // not OK by a check newer than the registration, or not known
  kDrainsFirst,    // ready, but earlier Pods of its workload wait for their drains
  kFailSafe,       // not ready, but it has waited for gate_fail_safe
  kNoSlot,         // not ready, but made so to make room at a limit
};

struct GateDecision {
  BackendKey key;
  kube::ObjectKey pod;
  std::string pod_uid;
  GateProgress progress = GateProgress::kNotRegistered;
};

struct Plan {
  Questions questions;
  std::optional<Write> write;
  // The ledger as it must be stored before the write goes out.
  Ledger ledger;
  std::vector<Decision> decisions;
  std::vector<Notice> notices;
  // Each ending Pod in each set of an opted-in Service that has, or had, its
  // address; in the order of the keys.
  std::vector<Acknowledgement> acknowledgements;
  // Each Pod whose gate waits, in each set that routes to it.
  std::vector<GateDecision> gates;
  absl::Time next_look = absl::InfiniteFuture();
  // The load balancer was read, nothing of ours is under way and no flip is wanted.
  bool at_rest = false;
  Memory memory;
};

Plan MakePlan(const Input& input);

// The memory once `plan.write` was accepted at `now`.
Memory Accepted(const Plan& plan, const oci::WorkRequestId& work_request, absl::Time now);

// The memory once `plan.write` was sent at `now` and nothing tells whether it was
// accepted. No other write is planned until a list of work requests shows none that
// it could be.
Memory Lost(const Plan& plan, absl::Time now);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_PLAN_H_
