// Sharing slots that are too few: weighted max-min.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_SHARE_H_
#define OCI_BACKEND_DRAIN_CAPACITY_SHARE_H_

#include <vector>

#include "absl/types/span.h"

namespace capacity {

// Of one backend set. A need below 0 counts as 0, a weight below 1 as 1.
struct Claim {
  int need = 0;
  int at_most = 0;  // what the set's own limit leaves
  int weight = 1;
};

// How many of `slots` each claim gets, in the order of the claims:
//   - none gets more than its need, or than at_most;
//   - either every claim is met that far, or no slot is left over;
//   - each claim that can use one gets at least one; if there are too few even for
//     that, those with the greatest weight do, then those that come first;
//   - what is above that is shared by weighted max-min: no other distribution makes
//     the smallest slots/weight greater, nor the second smallest with the same
//     smallest, and so on.
// Deterministic. Takes time in proportion to slots times claims, and is immediate
// if all needs fit.
std::vector<int> ShareSlots(absl::Span<const Claim> claims, int slots);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_SHARE_H_
