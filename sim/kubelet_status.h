// A Pod's status as a kubelet writes it.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBELET_STATUS_H_
#define OCI_BACKEND_DRAIN_SIM_KUBELET_STATUS_H_

#include <set>
#include <string>

#include "absl/time/time.h"
#include "sim/json_tree.h"

namespace sim {

// What a kubelet knows about the processes of one Pod.
struct PodProcessState {
  enum class Phase { kWaiting, kRunning, kBackOff, kEnded };
  Phase phase = Phase::kWaiting;
  std::string host_ip;
  std::string ip;   // empty: none yet
  std::string ip6;  // empty: none
  absl::Time started;
  bool probe_passes = false;
  bool killed = false;         // ended by SIGKILL
  bool node_shutdown = false;  // DisruptionTarget
  int restarts = 0;
};

// The new status of `pod`; conditions of others (readiness gates) are kept and,
// for the gates the Pod names, decide over Ready.
JsonTree PodStatusOf(const JsonTree& pod, const PodProcessState& state, absl::Time now);

// How long the preStop hooks take: exec of a `sleep N`, or sleep.
absl::Duration PreStopOf(const JsonTree& pod);

// The container ports; empty if none is declared.
std::set<int> PortsOf(const JsonTree& pod);

// The annotation as a number of seconds, or `otherwise`.
absl::Duration SecondsAnnotation(const JsonTree& pod, absl::string_view name,
                                 absl::Duration otherwise);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBELET_STATUS_H_
