// Drains that wait so that a workload keeps backends that serve. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_HOLD_H_
#define OCI_BACKEND_DRAIN_DRAIN_HOLD_H_

#include "drain/draft.h"

namespace drain {

// Marks wanted drains with kLastServing or kServingFloor and the time at which
// they go out in any case, and asks for the health of replacements on which that
// depends. Requires a read.
void HoldDrains(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_HOLD_H_
