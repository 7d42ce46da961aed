// Drains that wait so that a workload keeps backends that serve. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_HOLD_H_
#define OCI_BACKEND_DRAIN_DRAIN_HOLD_H_

#include "drain/draft.h"

namespace drain {

// Marks wanted drains with kLastServing or kServingFloor and the time at which
// they go out in any case, and asks for the health of replacements on which that
// depends. Requires a read.
void HoldDrains(Draft& draft);

// Health is asked for at most so many backends of one set in a pass, whatever number
// of times the plan is made in it.
inline constexpr size_t kHealthPerPass = 8;

// How many of the set's backends were answered in this pass.
size_t HealthAnswered(const Draft& draft, const oci::BackendSetName& set);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_HOLD_H_
