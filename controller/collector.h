// Takes the photograph that a plan is made from.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_COLLECTOR_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_COLLECTOR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/lb_state.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "drain/input.h"
#include "kube/store.h"

namespace controller {

// Reads stores only: no call goes out. Thread-safe.
class Collector {
 public:
  // Both must outlive it.
  Collector(const kube::ClusterStore& store, const Settings& settings);

  // OK once every watch that this load balancer's plan reads has synced;
  // Unavailable names the first that has not.
  absl::Status Synced(const TopologyView& view, const oci::Ocid& load_balancer) const;

  // `state` gives what is remembered; the load balancer must be in `view`.
  drain::Input Collect(const TopologyView& view, const oci::Ocid& load_balancer,
                       const LbState& state, absl::Time now) const;

 private:
  class SetCollector;

  const kube::ClusterStore& store_;
  const Settings& settings_;
};

// What the answer of a live GET means to the plan.
drain::PodLookup LookupFrom(const kube::PodDetails& details);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_COLLECTOR_H_
