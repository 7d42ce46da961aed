// What must hold of every plan, whatever the input. Run on each plan before it
// is carried out (a violation is a bug of ours: the pass writes nothing) and by
// the simulator as an oracle.
#ifndef OCI_BACKEND_DRAIN_DRAIN_CHECK_H_
#define OCI_BACKEND_DRAIN_DRAIN_CHECK_H_

#include "absl/status/status.h"
#include "drain/plan.h"

namespace drain {

// Internal names the first invariant that is broken and the backend:
//   - a plan with questions, or of a paused load balancer, writes nothing;
//   - the write carries the ETag of the read in the input;
//   - only sets of Services that opted in are written, others with membership
//     only and only with carry_all (or an un-drain of what we drained);
//   - a live Pod's backend is never drained; a backend that no endpoint, ledger
//     entry or memory names is never flipped or left out;
//   - an un-drain is of a ledger entry that is ours;
//   - every drain written is in the plan's ledger;
//   - the limits on backends hold after the write unless they were broken before.
absl::Status CheckPlan(const Input& input, const Plan& plan);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_CHECK_H_
