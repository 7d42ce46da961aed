// When a set's flips and pending members are due to be written. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_TIMING_H_
#define OCI_BACKEND_DRAIN_DRAIN_TIMING_H_

#include "drain/draft.h"

namespace drain {

// Remembers since when each flip that nothing holds is due, and forgets others.
void NoteDue(Draft& draft);

struct Due {
  absl::Time at = absl::InfiniteFuture();
  Hold reason = Hold::kNone;  // why `at` is in the future
};

// When the set's unheld flips are complete: the coalescing window after the last
// one, at most coalesce_at_most after the first, earlier if a deadline is near.
Due WindowEnds(const Draft& draft, const SetDraft& set);

// When they go out: then, or later if the sets of other Services wait for NIC and
// no deadline forbids it. An un-drain waits for the window only.
Due FlipsDue(const Draft& draft, const SetDraft& set);

// The same for what is pending in the set: while NIC is shut out by us, and while
// drains are in force, which NIC's own write of that membership would clear.
Due PendingDue(const Draft& draft, const SetDraft& set);

// For the sake of others a drain waits less long than it could: NIC gets in, its
// write is then ahead of ours in the queue, and replacements wait with the drain. So
// long before its process ends it goes out in any case.
absl::Duration LongestWrite(const Memory& memory);

// Sets of Services that did not opt in and for which NIC has work to do.
bool NeighboursWait(const Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_TIMING_H_
