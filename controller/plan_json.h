// A plan for programs: `oci-drain plan --output=json` and the status page.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_PLAN_JSON_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_PLAN_JSON_H_

#include <string>

#include "drain/plan.h"

namespace controller {

// One object on one line, without a line break at its end:
//   load_balancer, now
//   questions      what the plan asks before it can decide; null if nothing
//   write          null, or {set, call, reason, if_match, flips, additions,
//                  removals, behind}
//   flips          of the write: {set, backend, drain, pod, pod_uid, deadline}
//   decisions      {set, backend, pod, pod_uid, rule, in_set, drained,
//                  want_drained, hold, until, deadline}
//   notices        {reason, type, regarding, note}
//   next_look      when to plan again; null if only a change can call for it
// Times are RFC 3339, or null where there is none.
std::string PlanToJson(const drain::Input& input, const drain::Plan& plan);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_PLAN_JSON_H_
