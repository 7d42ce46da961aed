// A finding in words.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_EXPLAIN_H_
#define OCI_BACKEND_DRAIN_CAPACITY_EXPLAIN_H_

#include <string>

#include "capacity/advice.h"
#include "capacity/plan.h"

namespace capacity {

// Two or three sentences: the limit that is hit, the numbers, and what to change.
// `advice` is for kRolloutWillExceedBackendLimit and may be empty.
std::string Describe(const Input& input, const Finding& finding, const Advice& advice);

// "Ended: ...": one sentence for a condition that holds no more.
std::string DescribeEnd(const FindingKey& key);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_EXPLAIN_H_
