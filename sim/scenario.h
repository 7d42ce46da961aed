// What happens in one simulated world: a pure value made from a seed. It can be
// printed, shortened and run again.
#ifndef OCI_BACKEND_DRAIN_SIM_SCENARIO_H_
#define OCI_BACKEND_DRAIN_SIM_SCENARIO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/fake_load_balancer.h"
#include "sim/kubelet.h"
#include "sim/rival.h"

namespace sim {

enum class ActKind {
  // The cluster.
  kRollingUpdate,
  kScale,        // to `number` replicas
  kCrash,        // of a Pod's process
  kDeletePod,    //
  kForceDelete,  // grace 0
  kNodeShutdown,
  kNotReady,
  kOptOut,  // and in again after `length`
  // Other writers of the load balancer.
  kListenerWrite,   // a work request that touches no backend
  kUnknownWrite,    // one of a type nobody knows, which changes nothing
  kConsoleDrain,    // an operator drains a backend, and un-drains it after `length`
  kConsoleWeight,   // an operator changes a weight
  kConsolePolicy,   // an operator changes the set's policy
  kConsoleBackend,  // an operator adds a backend that is no Pod
  // The load balancer.
  kFreeze,         // no work request makes progress
  kFailedWork,     // work requests of ours fail
  kAnyFailedWork,  // whoever's
  // The watches.
  kWatchDelay,   // of everything
  kWatchSkew,    // of one resource
  kWatchDrop,    // events are lost; the watch expires when the fault ends
  kWatchRepeat,  //
  kWatchGone,    // 410
  kApiRestart,   //
  // The controller's calls.
  kKubeFails,  // the API server refuses every call
  kPodGetFails,
  kPodGetSlow,
  kEndpointsGetFails,
  kListFails,
  kOciSlow,
  kOci409,
  kOci412,
  kOci429,
  kOci500,
  kOci503,
  kOciReadFails,
  kNoAnswer,  // to any call: it is done, and after `number` seconds given up
  kLostReply,
  kLedgerFails,
  kLedgerConflict,
  // Its process.
  kCrashBeforeCall,  // the `number`-th from `at`
  kCrashAfterCall,
  kCrashNow,  // also in the middle of a call
};

inline constexpr int kActKinds = static_cast<int>(ActKind::kCrashNow) + 1;

// "rolling-update", "oci-503", ...
absl::string_view ActName(ActKind kind);
// Whether it makes a promise late that is otherwise kept in time.
bool IsFault(ActKind kind);

// `at` is counted from the start of the controller; of an act with `at_call` it is
// what a sweep expects it to be.
struct Act {
  absl::Duration at;
  ActKind kind = ActKind::kRollingUpdate;
  int service = 0;
  int number = 0;  // which Pod, backend, call, or how many
  absl::Duration length = absl::ZeroDuration();
  // Above zero: not at a time, but just before that call of the controller, counted
  // from its start. Not for kCrashNow, nor for acts that end it otherwise.
  int at_call = 0;
};
std::string Describe(const Act& act);

struct ServiceSpec {
  bool opted_in = true;
  int replicas = 3;
  int max_surge = 1;
  int max_unavailable = 0;
  absl::Duration grace = absl::Seconds(45);
  absl::Duration pre_stop = absl::Seconds(28);
  absl::Duration shutdown = absl::Seconds(10);
  absl::Duration ready_after = absl::Seconds(3);
  // Annotation backend-drain-serving; zero: none.
  absl::Duration serving = absl::ZeroDuration();
};

struct Scenario {
  uint64_t seed = 1;
  std::vector<ServiceSpec> services;
  bool with_rival = true;
  RivalVariant rival = RivalVariant::kUnmodified;
  EtagMoves etag_moves = EtagMoves::kBoth;
  IpReuse ip_reuse = IpReuse::kNever;
  absl::Duration min_service_time = absl::Seconds(6);
  absl::Duration max_service_time = absl::Seconds(14);
  absl::Duration max_oci_latency = absl::Milliseconds(100);
  bool carry_all = false;
  int max_backends_per_set = 512;
  std::vector<Act> acts;  // in the order of time
  // Nothing is done and nothing fails from then on; InfiniteDuration() if that never
  // comes: then nothing has to be settled at the end.
  absl::Duration calm;
  absl::Duration length;  // at least ten minutes
};

// The same seed makes the same scenario, with a rolling update in it.
Scenario MakeScenario(uint64_t seed);

// One line a setting, then one line an act.
std::string Describe(const Scenario& scenario);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_SCENARIO_H_
