// The live table of `oci-drain capacity`.
#ifndef OCI_BACKEND_DRAIN_CMD_CAPACITY_TABLE_H_
#define OCI_BACKEND_DRAIN_CMD_CAPACITY_TABLE_H_

#include <string>

#include "cmd/capacity_command.h"
#include "controller/capacity_keeper.h"
#include "oci/types.h"

namespace cmd {

// A row for each backend set (limit, live, draining, foreign, pending, reserved, free,
// forecast peak), one for the load balancer, and what people are told. Ends in a line
// break; JSON is one object on one line.
std::string FormatCapacityTable(const oci::Ocid& load_balancer,
                                const controller::CapacityKeeper::Preview& preview,
                                CapacityStyle style);

// Whether a rollout of one of its workloads would not fit.
bool HasRolloutThatDoesNotFit(const controller::CapacityKeeper::Preview& preview);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CAPACITY_TABLE_H_
