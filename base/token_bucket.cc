#include "base/token_bucket.h"

#include <algorithm>

namespace base {

absl::Duration TokenBucket::Reserve(absl::Time now) {
  const absl::Duration token = absl::Seconds(1.0 / per_second_);
  // A full bucket holds `burst` tokens: it was empty that much time ago at the latest.
  empty_at_ = std::max(empty_at_, now - token * burst_) + token;
  return std::max(empty_at_ - now, absl::ZeroDuration());
}

}  // namespace base
