// Keeps a rollout from going on faster than its drains. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_PACE_H_
#define OCI_BACKEND_DRAIN_DRAIN_PACE_H_

#include "drain/draft.h"

namespace drain {

// Lets the gates of a workload's new Pods wait while an earlier Pod of it waits at the
// drain barrier for drains that only have to be carried out. A Pod without which the
// workload would be short of ready Pods does not wait. Requires Plan::gates and the holds.
void PaceRollouts(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_PACE_H_
