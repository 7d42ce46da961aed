// Backoff as a pure function: the caller keeps the attempt count and waits.
#ifndef OCI_BACKEND_DRAIN_BASE_BACKOFF_H_
#define OCI_BACKEND_DRAIN_BASE_BACKOFF_H_

#include "absl/time/time.h"
#include "base/random.h"

namespace base {

struct BackoffPolicy {
  absl::Duration first = absl::Milliseconds(200);
  absl::Duration cap = absl::Seconds(30);
};

// Full jitter: uniform in [0, min(cap, first * 2^(attempt-1))].
// `attempt` counts failures in a row from 1; 0 or less gives zero.
absl::Duration FullJitter(const BackoffPolicy& policy, int attempt, Random& random);

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_BACKOFF_H_
