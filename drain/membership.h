// What the ingress controller wants in a set, and what a write of ours adds and
// leaves out so that it finds nothing to do. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_MEMBERSHIP_H_
#define OCI_BACKEND_DRAIN_DRAIN_MEMBERSHIP_H_

#include <vector>

#include "drain/draft.h"

namespace drain {

// Remembers published addresses and finds what is pending by the watch.
// Requires a read.
void ObserveMembership(Draft& draft);

// Whether our writes to the set carry what the ingress controller wants there. Not
// for a Service without opt-in, whose set is written only to un-drain.
bool CarriesMembership(const Draft& draft, const SetDraft& set);

struct MembershipChange {
  std::vector<oci::Backend> additions;
  std::vector<oci::BackendName> removals;
  int unproven_removals = 0;     // without a deletionTimestamp seen
  int without_slot = 0;          // additions that wait for room
  bool empty_endpoints = false;  // nothing is published: nothing is left out
};

// The change that brings `base` to what core Endpoints publish, by the answer in
// set.input->membership (none answered: no change).
MembershipChange ChangeOf(const Draft& draft, const SetDraft& set, const oci::BackendSet& base);

// How many backends more the two limits allow; negative: there are too many.
struct FreeOf {
  int set = 0;
  int load_balancer = 0;
};
// Of `base`, a version of the set. Requires a read.
FreeOf FreeIn(const Draft& draft, const SetDraft& set, const oci::BackendSet& base);

// Whether the address is or was a Pod of the set's Service: by an endpoint, the
// ledger, or what this process saw.
bool IsOurs(const Draft& draft, const SetDraft& set, const oci::BackendName& backend);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_MEMBERSHIP_H_
