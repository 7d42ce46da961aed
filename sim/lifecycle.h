// One rollout with the readiness gate and the drain barrier: a pure value made from a
// seed, and the objects of its cluster.
#ifndef OCI_BACKEND_DRAIN_SIM_LIFECYCLE_H_
#define OCI_BACKEND_DRAIN_SIM_LIFECYCLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/fake_load_balancer.h"
#include "sim/rival.h"
#include "sim/scenario.h"

namespace sim {

inline constexpr char kLifecycleOcid[] = "ocid1.loadbalancer.oc1.iad.lifecycle";
inline constexpr absl::Duration kLifecycleGrace = absl::Seconds(240);
inline constexpr absl::Duration kLifecycleShutdown = absl::Seconds(30);
inline constexpr absl::Duration kLifecycleTimeout = absl::Seconds(200);

// A Deployment behind up to three backend sets: either the ports of one Service, or a
// Service for each.
struct Lifecycle {
  uint64_t seed = 1;
  int replicas = 1;
  int max_surge = 1;
  int max_unavailable = 0;
  int sets = 1;
  bool one_service = true;
  bool drained_condition = false;  // --pod_conditions=both, else gate
  absl::Duration ready_after = absl::Seconds(5);
  absl::Duration shutdown = absl::Seconds(10);  // from SIGTERM to the process's end
  bool with_rival = true;
  RivalVariant rival = RivalVariant::kUnmodified;
  EtagMoves etag_moves = EtagMoves::kBoth;
  absl::Duration max_oci_latency = absl::ZeroDuration();
  // Faults, counted from the rollout's begin. Of a kCrashNow the length is how long no
  // controller runs.
  std::vector<Act> faults;
  // From when on, and for how long, Pods cannot reach the barrier.
  absl::Duration barrier_gone_at = absl::ZeroDuration();
  absl::Duration barrier_gone_for = absl::ZeroDuration();
};

// The same seed makes the same rollout. The ETag moves at acceptance and at completion.
Lifecycle MakeLifecycle(uint64_t seed, int max_replicas, bool faults);

// One line a setting, then one line a fault.
std::string Describe(const Lifecycle& lifecycle);

// YAML of all objects but for the namespace of the ledgers.
std::string LifecycleManifests(const Lifecycle& lifecycle);

// The backend sets, and the port under which a Pod is in each.
struct LifecycleSet {
  std::string name;
  int port = 0;
};
std::vector<LifecycleSet> LifecycleSets(const Lifecycle& lifecycle);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LIFECYCLE_H_
