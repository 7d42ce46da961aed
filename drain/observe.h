// What a read of the load balancer teaches: the ledger brought in line with it,
// and the flips that the rule wants and it does not show. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_OBSERVE_H_
#define OCI_BACKEND_DRAIN_DRAIN_OBSERVE_H_

#include "drain/draft.h"

namespace drain {

// Takes the answer to a poll of our write in flight, or asks for it.
void SettleOwnWrite(Draft& draft);

// Verdicts for each set, and questions for Pods that the caches cannot answer.
void JudgeSets(Draft& draft);

// Foreign work requests that are unfinished, and what kind they are.
void ClassifyForeign(Draft& draft);

// Ledger, memory and flips from the read. Requires draft.in.read.
void ObserveRead(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_OBSERVE_H_
