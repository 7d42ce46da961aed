// Sentences for the log and for Events about what came of a plan.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_NOTICES_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_NOTICES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/lb_state.h"
#include "drain/plan.h"
#include "oci/types.h"

namespace controller {

// The plan in full when it changes: a pass that decides what the last one decided
// says nothing.
void LogPlan(const drain::Input& input, const drain::Plan& plan, bool dry_run, LbState& state);

// Backends whose flag is kept because their Pod could not be resolved: a line for
// each when it begins.
void LogUnresolved(const drain::Plan& plan, LbState& state);

// One line with name=value pairs for whoever counts: set, reason, call,
// carries_wave, waves, drains, undrains, additions, removals, work_request.
void LogAccepted(const drain::Write& write, const drain::Memory& memory);
void LogRefused(const drain::Write& write, const absl::Status& status, absl::Duration wait);

std::string DescribeRefusal(const drain::Write& write, const oci::Ocid& load_balancer,
                            const absl::Status& status);
std::string DescribeUnread(const oci::Ocid& load_balancer, const absl::Status& status);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_NOTICES_H_
