// Who gets the slots of one load balancer, what is withdrawn to make room, and what
// people are to be told about it.
//
//   Input input = ...;                      // the forecasts from a ForecastMemo
//   Plan plan = MakePlan(input);
//   for (const Finding& finding : Raised(plan, input.raised)) Warn(Describe(...));
//
// Pure: no clock, thread, log, flag, JSON or I/O. A plan orders what the controller
// adds and withdraws; the ingress controller and autoscalers are not bound by it.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_PLAN_H_
#define OCI_BACKEND_DRAIN_CAPACITY_PLAN_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "annotations/annotations.h"
#include "capacity/forecast.h"
#include "kube/types.h"
#include "oci/types.h"

namespace capacity {

// OCI's, as settings. Draining and foreign backends count.
struct Limits {
  int backends_per_set = 512;
  int backends_per_load_balancer = 512;
  int backend_sets = 16;
};

// The backends of one set.
struct Demand {
  int live = 0;      // in the set, of Pods that are not terminating
  int pending = 0;   // published, of such Pods, not in the set yet
  int draining = 0;  // in the set, of Pods that terminate or have gone
  int foreign = 0;   // in the set, of nothing that this project knows

  int steady() const { return live + pending; }
  int held() const { return live + draining + foreign; }
};

// A backend of a terminating Pod whose drain is confirmed.
struct Drained {
  oci::BackendName backend;
  kube::ObjectKey pod;
  std::string pod_uid;
  absl::Time since;  // of the confirmation
  // Its label has been taken away already: the write that leaves it out is due.
  bool withdrawn = false;
};

// Why nothing of a set is withdrawn.
enum class Obstacle {
  kNone,
  kOnlyWarn,           // --capacity_action=warn
  kNoLabelInSelector,  // the Service does not opt in by the label
  kOwnerUnknown,       // neither Deployment nor StatefulSet: its selector is not known
  kLabelInReplicaSet,  // a ReplicaSet's selector has it: another Pod would be made
  kLabelInDisruptionBudget,
};

struct SetInput {
  oci::BackendSetName name;
  kube::ObjectReference service;
  Demand demand;
  std::vector<Drained> drained;
  std::optional<annotations::Reserve> reserve;  // absent: Input::default_reserve
  absl::Duration minimum = absl::Seconds(5);    // P/backend-drain-min
  Obstacle obstacle = Obstacle::kOnlyWarn;
  // A while ago OCI refused to let the set hold more than this; absent: it did not.
  std::optional<int> refused_beyond;
  // Pods of a rollout that runs which will be published within two work requests.
  int expected = 0;
  std::vector<int> workloads;  // of its Pods; indexes into Input::workloads
  // Of all its workloads together: a rollout with the replicas of now, and with the
  // most that autoscalers allow (null: the same). Null: no forecast.
  std::shared_ptr<const Forecast> forecast;
  std::shared_ptr<const Forecast> autoscaled;
};

// What a finding is told with.
struct WorkloadInput {
  kube::ObjectReference reference;
  int replicas = 0;
  int autoscaler_maximum = 0;  // 0: no autoscaler
};

// Which limit is hit.
enum class LimitKind { kBackendSet, kLoadBalancer, kBackendSets };

enum class FindingKind {
  kBackendCapacityLow,             // the load balancer is nearly full, or has all its sets
  kBackendSetLimitNear,            // a set is, or would be with the autoscaler's most
  kRolloutWillExceedBackendLimit,  // the next rollout of a set needs more
  kRolloutBlockedByBackendLimit,   // Pods wait, no slot is free and none will be by itself
  kReserveUnsatisfiable,           // less is left than the set's reserve
  kWithdrawalRefused,              // room would be made, but for `obstacle`
};

// A condition that holds now. What is equal in kind and set is the same condition.
struct Finding {
  FindingKind kind = FindingKind::kBackendCapacityLow;
  int set = -1;  // index into Input::sets; -1: the load balancer as a whole
  LimitKind limit = LimitKind::kBackendSet;
  int most = 0;    // the limit's number
  int in_use = 0;  // slots of it that are in use by everything
  int wanted = 0;  // slots that would be needed, all in all; of a reserve, the reserve
  int room = 0;    // slots for the Pods of this set, or what is left for its reserve
  int waiting = 0;
  Obstacle obstacle = Obstacle::kNone;
};

// A condition's name from one plan to the next; the set's name is empty for the
// load balancer.
using FindingKey = std::pair<FindingKind, oci::BackendSetName>;

struct Input {
  absl::Time now;
  Limits limits;
  annotations::Reserve default_reserve;
  std::vector<SetInput> sets;
  std::vector<WorkloadInput> workloads;
  // Backends and sets of this load balancer that are none of `sets`.
  int other_backends = 0;
  int other_sets = 0;
  // What the last plan found: a condition ends only well below its threshold.
  std::set<FindingKey> raised;
};

struct SetPlan {
  int forecast_peak = 0;  // with autoscalers' most; the steady demand without forecast
  int need = 0;           // slots beyond the steady demand that the reserve asks for
  int additions = 0;      // pending Pods that get a slot now
  int waiting = 0;        // pending Pods that do not
  int reserved = 0;       // free slots that are kept for its rollouts
  int free = 0;           // slots of the set's own limit, or the load balancer's if fewer
  std::vector<Drained> withdrawals;  // longest drained first
};

struct Plan {
  std::vector<SetPlan> sets;  // in the order of Input::sets
  int in_use = 0;             // of the load balancer
  int free = 0;
  std::vector<Finding> findings;
  // When a drain will have lasted long enough to be withdrawn for a Pod that waits.
  absl::Time next_look = absl::InfiniteFuture();
};

// Invariants: no additions beyond the limit of a set or of the load balancer, no
// withdrawal of what is not drained for the set's minimum, no free slot kept while a
// Pod that may have it waits.
Plan MakePlan(const Input& input);

std::set<FindingKey> KeysOf(const Input& input, const Plan& plan);

// "RolloutWillExceedBackendLimit", ...: the reason of the Event.
std::string Name(FindingKind kind);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_PLAN_H_
