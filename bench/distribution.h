// The few numbers that stand for many durations.
#ifndef OCI_BACKEND_DRAIN_BENCH_DISTRIBUTION_H_
#define OCI_BACKEND_DRAIN_BENCH_DISTRIBUTION_H_

#include <vector>

#include "absl/time/time.h"

namespace bench {

struct Distribution {
  double p50_ms = 0;
  double p99_ms = 0;
  double mean_ms = 0;
  double max_ms = 0;
};

// By nearest rank. All zero without durations.
Distribution DistributionOf(std::vector<absl::Duration> durations);

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_DISTRIBUTION_H_
