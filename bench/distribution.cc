#include "bench/distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {

Distribution DistributionOf(std::vector<absl::Duration> durations) {
  Distribution out;
  if (durations.empty()) return out;
  std::sort(durations.begin(), durations.end());
  const auto rank = [&](double quantile) {
    const double at = std::ceil(quantile * static_cast<double>(durations.size()));
    return absl::ToDoubleMilliseconds(durations[static_cast<size_t>(std::max(at, 1.0)) - 1]);
  };
  out.p50_ms = rank(0.50);
  out.p99_ms = rank(0.99);
  out.max_ms = absl::ToDoubleMilliseconds(durations.back());
  const absl::Duration sum =
      std::accumulate(durations.begin(), durations.end(), absl::ZeroDuration());
  out.mean_ms = absl::ToDoubleMilliseconds(sum) / static_cast<double>(durations.size());
  return out;
}

}  // namespace bench
