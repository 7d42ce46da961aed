#include "probe/figures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace probe {

void LatencyHistogram::Add(absl::Duration latency) {
  const uint64_t micros =
      static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Microseconds(latency), 0));
  // Below 16 each value has a bucket; above, the four bits after the first one count.
  size_t bucket = micros;
  if (micros >= kSteps) {
    const int octave = std::bit_width(micros) - 5;
    bucket = static_cast<size_t>(octave) * kSteps + (micros >> octave);
  }
  ++buckets_[std::min(bucket, buckets_.size() - 1)];
  ++count_;
  max_ = std::max(max_, latency);
}

absl::Duration LatencyHistogram::Percentile(double percent) const {
  const auto wanted = static_cast<int64_t>(std::ceil(static_cast<double>(count_) * percent / 100));
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen < wanted || seen == 0) continue;
    const size_t octave = bucket < 2 * kSteps ? 0 : bucket / kSteps - 1;
    const size_t first = bucket - octave * kSteps;
    const absl::Duration end = absl::Microseconds(static_cast<int64_t>((first + 1) << octave));
    return std::min(end, max_);
  }
  return absl::ZeroDuration();
}

SecondFigures& RunFigures::Second(absl::Time now) {
  const int64_t second = std::clamp<int64_t>(absl::ToInt64Seconds(now - start), 0, kMaxSeconds - 1);
  if (seconds.size() <= static_cast<size_t>(second)) seconds.resize(second + 1);
  return seconds[second];
}

void RunFigures::AddSuccess(absl::Time now, int status, absl::Duration took) {
  ++succeeded;
  ++by_hundred[std::clamp(status / 100, 0, 5)];
  latency.Add(took);
  ++Second(now).succeeded;
}

void RunFigures::AddFailure(Failure failure) {
  ++by_class[static_cast<size_t>(failure.failure)];
  if (IsOwnFailure(failure.failure)) {
    ++own_failures;
  } else {
    ++failed;
    ++Second(failure.time).failed;
    if (failure.status != 0) ++by_hundred[5];
  }
  if (failures.size() < kMaxKeptFailures) failures.push_back(std::move(failure));
}

}  // namespace probe
