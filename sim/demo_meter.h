// What a rollout was for the load balancer's clients: figures from the exact times
// at which things happened. Pure: no clock, no thread.
//
// A backend is routable while it is in the set (as applied, not as asked for) and
// undrained; good while it is routable and its process runs; dead while it is
// routable and its process has ended.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_METER_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_METER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sim {

// One Pod of the Service. What has not happened is InfiniteFuture().
struct PodTimes {
  std::string name;
  std::string uid;
  std::string backend = {};  // "10.0.0.1:8080"; empty before it has an address
  absl::Time created = absl::InfiniteFuture();
  absl::Time running = absl::InfiniteFuture();
  absl::Time deleted = absl::InfiniteFuture();  // its deletion was asked for
  absl::Time ended = absl::InfiniteFuture();    // its process
  absl::Time removed = absl::InfiniteFuture();  // the object is gone
};

// The set from `time` on.
struct AppliedState {
  absl::Time time;
  std::map<std::string, bool> drained_by_backend;
  // The write that led to it.
  bool by_rival = false;
  absl::Time accepted = absl::InfinitePast();
};

enum class BackendState { kAbsent, kDrained, kRoutable };

// `states` in the order of time. Absent before the first of them.
BackendState BackendAt(const std::vector<AppliedState>& states, const std::string& backend,
                       absl::Time when);

// One Service through one rollout.
struct ServiceHistory {
  absl::Time trigger;
  absl::Time end;  // of what is looked at
  std::vector<PodTimes> pods = {};
  // In the order of time; the first is the state at the trigger.
  std::vector<AppliedState> states = {};
  // When the controller had confirmed the drain of a Pod's backend, by UID.
  std::map<std::string, absl::Time> confirmed = {};
};

// A time in which requests could reach a backend whose process had ended.
struct DeadTime {
  std::string pod;
  absl::Time from;
  absl::Time to;
  // Who made it routable the last time, and with a write accepted when.
  bool by_rival = false;
  absl::Time accepted = absl::InfinitePast();
  absl::Time confirmed = absl::InfiniteFuture();
  // The rival had its write accepted when the drain was already confirmed: nobody
  // could have known better.
  bool foreign = false;
};

struct ServiceFigures {
  int terminated = 0;  // deleted since the trigger
  // Drained or out of the set at the moment the process ended.
  int drained_before_exit = 0;
  // Of the others those that a foreign write explains: it was accepted after the
  // drain had been confirmed, and made the backend routable again.
  int undrained_by_foreign = 0;
  // Deletion to the first state that has it drained or gone; ascending, of every
  // terminated Pod; infinite if that was not seen.
  std::vector<absl::Duration> drain_latency;
  // Creation to the first state in which it is routable; ascending, of every Pod
  // created since the trigger and not deleted; infinite if that was not seen.
  std::vector<absl::Duration> replacement_latency;
  // From the trigger until the last replacement was routable.
  absl::Duration replaced_after;
  int min_good_backends = 0;
  absl::Duration min_good_at;   // after the trigger, when that was first so
  absl::Duration without_good;  // no good backend at all
  absl::Duration dead;          // at least one backend was dead that nothing explains
  absl::Duration dead_foreign;  // otherwise, at least one that a foreign write explains
  std::vector<DeadTime> dead_times;
};

ServiceFigures Measure(const ServiceHistory& history);

// How many backends are good at `when`.
int GoodBackends(const ServiceHistory& history, absl::Time when);

// As many Pods as that were created since the trigger, are there and are routable,
// in the last state; no other Pod is left undeleted.
bool ReplacementsRouted(const ServiceHistory& history, int replicas);

// Every Pod that was deleted has ended its process.
bool DeletedPodsHaveEnded(const ServiceHistory& history);

// The replacements are routed, the replaced Pods are gone and none of their backends is routable.
bool RolloutIsOver(const ServiceHistory& history, int replicas);

// Of ascending values, nearest rank; `percent` in (0, 100]. Infinite if empty.
absl::Duration Percentile(const std::vector<absl::Duration>& ascending, int percent);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_METER_H_
