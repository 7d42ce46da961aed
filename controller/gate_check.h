// Workloads whose Pods have the readiness gate and are routed to by nobody.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_GATE_CHECK_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_GATE_CHECK_H_

#include <set>

#include "controller/reporter.h"
#include "controller/topology.h"
#include "kube/store.h"

namespace controller {

// A gate that no mapped Service serves is never True, so that such Pods never become
// ready: said once for each workload, and again when it was otherwise in between. What a
// plan for a load balancer says about Services that did not opt in is not repeated here.
// Not thread-safe.
class GateCheck {
 public:
  // Both must outlive it.
  GateCheck(const kube::ClusterStore& store, Reporter& reporter)
      : store_(store), reporter_(reporter) {}

  // `view` must rest on whole lists of Services, Ingresses and IngressClasses.
  void Run(const TopologyView& view);

 private:
  const kube::ClusterStore& store_;
  Reporter& reporter_;
  std::set<kube::ObjectReference> told_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_GATE_CHECK_H_
