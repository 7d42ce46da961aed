// A rate limit as a value: no clock, no wait.
#ifndef OCI_BACKEND_DRAIN_BASE_TOKEN_BUCKET_H_
#define OCI_BACKEND_DRAIN_BASE_TOKEN_BUCKET_H_

#include "absl/time/time.h"

namespace base {

// `burst` calls at once, `per_second` on average. Not thread-safe.
class TokenBucket {
 public:
  // Requires per_second > 0 and burst >= 1.
  TokenBucket(double per_second, int burst) : per_second_(per_second), burst_(burst) {}

  // Takes a token, also one that is not there yet, and answers how long to wait
  // until it is. Callers that wait in order are served in order.
  absl::Duration Reserve(absl::Time now);

 private:
  const double per_second_;
  const int burst_;
  // When the bucket was, or will be, empty but for the tokens reserved so far.
  absl::Time empty_at_ = absl::InfinitePast();
};

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_TOKEN_BUCKET_H_
