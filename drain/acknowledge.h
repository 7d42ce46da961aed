// What ending Pods are told about their drain, and which of them wait for it.
// Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_ACKNOWLEDGE_H_
#define OCI_BACKEND_DRAIN_DRAIN_ACKNOWLEDGE_H_

#include "drain/draft.h"

namespace drain {

// Remembers which ending Pods wait at the drain barrier, and workloads whose last
// deleted Pod did. Requires the verdicts.
void ObserveWaiters(Draft& draft);

// Whether the Pod's process ends only after the barrier has let it go: it waits
// there, or its deletion is so new that its drain-wait may be on the way, as its
// workload's last one was.
bool HasWaiter(const Draft& draft, const Verdict& verdict);

// Remembers which ending Pods a set does not hold, by a look with nothing in flight
// that could add them; where somebody waits for that, such a look is due soon.
// Requires a read.
void ObserveAbsence(Draft& draft);

// Fills Plan::acknowledgements, and tells of Pods that wait no more though a set had not
// let go of them. Requires a read and the holds.
void Acknowledge(Draft& draft);

// Tells of drains that will be late if what is queued before them takes as long as
// work requests did, while there is time to see it coming.
void WarnOfMisses(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_ACKNOWLEDGE_H_
