// Foreign changes that a write of ours, queued behind them, takes back.
// Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_FOREIGN_H_
#define OCI_BACKEND_DRAIN_DRAIN_FOREIGN_H_

#include "drain/draft.h"

namespace drain {

// Between the completion of a foreign write and of ours behind it the read shows
// what the foreign one made of the set. Anything but our Services' membership and
// flags that differs from what we sent is remembered, and forgotten once it is
// back or once somebody changed the set again. Requires a read.
void ObserveRestorations(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_FOREIGN_H_
