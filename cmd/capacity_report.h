// Whether a rollout fits, from manifests alone: `oci-drain capacity -f`.
#ifndef OCI_BACKEND_DRAIN_CMD_CAPACITY_REPORT_H_
#define OCI_BACKEND_DRAIN_CMD_CAPACITY_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "capacity/advice.h"
#include "capacity/forecast.h"
#include "capacity/plan.h"
#include "capacity/rollout.h"
#include "kube/manifest_decoder.h"
#include "kube/types.h"

namespace cmd {

struct CapacityQuestion {
  kube::Manifests manifests;
  // Backends that the load balancer has now, those of these manifests' Pods among
  // them. Absent: it has only these.
  std::optional<int> in_use;
  capacity::Limits limits;
  capacity::Times times;
};

struct CapacityReport {
  struct Workload {
    std::string kind;
    kube::ObjectKey key;
    capacity::Rollout rollout;   // with the most replicas that its autoscaler allows
    int replicas = 0;            // as written
    int autoscaler_maximum = 0;  // 0: no autoscaler
    int peak = 0;
    bool gated = false;
    capacity::Advice advice;  // empty if it fits
  };
  struct Set {
    std::string name;  // "Service shop/web port 80"
    std::vector<int> workloads;
    capacity::Forecast forecast;
    bool fits = true;
  };

  std::vector<Workload> workloads;
  std::vector<Set> sets;
  capacity::Limits limits;
  int others = 0;                  // backends that are not of these manifests
  capacity::Forecast together;     // of all sets, begun at once, without `others`
  bool fits = true;                // every set, and all of them on the load balancer
  std::vector<std::string> notes;  // what was left out or supposed, and why
};

// The sets are the Service ports that Ingresses of the manifests route to; without
// such an Ingress, one for each Service; without Services, one for each workload.
// InvalidArgument if nothing is to be forecast.
absl::StatusOr<CapacityReport> MakeCapacityReport(const CapacityQuestion& question);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CAPACITY_REPORT_H_
