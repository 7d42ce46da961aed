// How long a Pod needs to end, by the formula of docs/lifecycle_budget.md.
#ifndef OCI_BACKEND_DRAIN_CMD_BUDGET_H_
#define OCI_BACKEND_DRAIN_CMD_BUDGET_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "oci/types.h"

namespace cmd {

// What a load balancer's work requests took that ended.
struct WorkRequestTimes {
  int count = 0;  // 0: the other two are what is assumed before any was seen
  absl::Duration median = absl::Seconds(10);
  absl::Duration longest = absl::Seconds(14);
};

// Of those that succeeded and say when they were accepted and when they ended.
WorkRequestTimes MeasureWorkRequests(const std::vector<oci::WorkRequest>& all);

struct LifecycleBudget {
  absl::Duration drain;        // from the deletion to the confirmed drain
  absl::Duration replacement;  // from its creation to routed and healthy
  absl::Duration grace;        // terminationGracePeriodSeconds at least
  absl::Duration wait;         // drain-wait --timeout within that grace
};

// `startup`: from a Pod's creation to the first answer of its process.
LifecycleBudget ComputeBudget(const WorkRequestTimes& times, absl::Duration startup,
                              absl::Duration shutdown);

// Two lines for one Service.
std::string DescribeBudget(const LifecycleBudget& budget);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_BUDGET_H_
