#include "base/backoff.h"

#include <algorithm>

namespace base {

absl::Duration FullJitter(const BackoffPolicy& policy, int attempt, Random& random) {
  if (attempt <= 0) return absl::ZeroDuration();
  const int doublings = std::min(attempt - 1, 30);
  const absl::Duration ceiling =
      std::min(policy.cap, policy.first * static_cast<double>(int64_t{1} << doublings));
  return ceiling * random.Fraction();
}

}  // namespace base
