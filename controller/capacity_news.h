// Events about capacity.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_NEWS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_NEWS_H_

#include "absl/status/status.h"
#include "capacity/advice.h"
#include "capacity/plan.h"
#include "controller/capacity_input.h"
#include "controller/capacity_state.h"
#include "controller/reporter.h"
#include "controller/topology.h"
#include "oci/types.h"

namespace controller {

// For one call.
struct CapacityNews {
  const TopologyView& view;
  const oci::Ocid& load_balancer;
  const CapacityFacts& facts;
  const capacity::Plan& plan;
};

// What would make the rollout fit that a finding is about; empty for other findings,
// and where several workloads are behind one Service.
capacity::Advice AdviceFor(const CapacityFacts& facts, const capacity::Finding& finding);

// Tells what is found and was not raised before, on the Service, its workloads and
// the IngressClasses, and what has ended; `state` takes what is raised now. Of sets
// whose Service did not opt in nothing is told. Also tells once of Pods whose owner
// has no forecast.
void TellCapacity(const CapacityNews& news, CapacityState& state, Reporter& reporter);

Reporter::News DescribeWithdrawal(const capacity::SetInput& set, const capacity::Drained& drained);
Reporter::News DescribeRefusedWithdrawal(const capacity::SetInput& set, const absl::Status& why);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_NEWS_H_
