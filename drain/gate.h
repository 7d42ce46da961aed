// The readiness gate of Pods that are new. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_GATE_H_
#define OCI_BACKEND_DRAIN_DRAIN_GATE_H_

#include "drain/draft.h"

namespace drain {

// Decides for each Pod that waits for its gate and each set that routes to it, and
// asks for the health on which that depends. Requires a read, the verdicts and the
// registrations.
void ObserveGates(Draft& draft);

// Fills Plan::gates, and tells of gates that no set serves.
void DecideGates(Draft& draft);

// Whether only a live GET of the endpoint's Pod can say if it waits for the gate.
bool MayWaitForGate(const Endpoint& endpoint);

// Whether the endpoint's live Pod is known to wait for the gate.
bool WaitsForGate(const Endpoint& endpoint);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_GATE_H_
