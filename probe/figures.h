// What a run of the probe has seen. Pure: no clock, no socket.
#ifndef OCI_BACKEND_DRAIN_PROBE_FIGURES_H_
#define OCI_BACKEND_DRAIN_PROBE_FIGURES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "probe/failure.h"

namespace probe {

// Counts durations in buckets of at most 1/16 of their value, up to an hour.
class LatencyHistogram {
 public:
  void Add(absl::Duration latency);
  int64_t count() const { return count_; }
  absl::Duration max() const { return max_; }
  // The upper end of the bucket in which that share lies; `percent` in (0, 100]. Zero if
  // nothing was counted.
  absl::Duration Percentile(double percent) const;

 private:
  static constexpr int kSteps = 16;
  static constexpr int kOctaves = 32;  // of microseconds

  std::array<int64_t, kSteps* kOctaves> buckets_ = {};
  int64_t count_ = 0;
  absl::Duration max_;
};

// One second of a run.
struct SecondFigures {
  int64_t succeeded = 0;
  int64_t failed = 0;
};

// Not thread-safe.
struct RunFigures {
  // More are counted and not kept.
  static constexpr size_t kMaxKeptFailures = 10'000;
  static constexpr size_t kMaxSeconds = 24 * 60 * 60 + 60;

  absl::Time start;
  absl::Time end;  // of the last request, once it is over
  bool interrupted = false;
  int64_t succeeded = 0;     // a whole response with a status under 500
  int64_t failed = 0;        // by the server or on the way to it
  int64_t own_failures = 0;  // of the probe itself; not among the requests
  std::array<int64_t, kFailureClasses> by_class = {};
  std::array<int64_t, 6> by_hundred = {};  // statuses, 2 for 200 to 299
  int64_t connections = 0;                 // that were established
  int64_t closed_idle = 0;                 // by the peer, with no request on them: no failure
  int64_t closed_as_told = 0;              // after a response that said Connection: close
  int64_t cookie_changes = 0;              // a client was given another value for a cookie it had
  LatencyHistogram latency;                // of what succeeded
  std::vector<Failure> failures;           // in the order of time
  std::vector<SecondFigures> seconds;      // since the start

  int64_t requests() const { return succeeded + failed; }
  void AddSuccess(absl::Time now, int status, absl::Duration took);
  void AddFailure(Failure failure);

 private:
  SecondFigures& Second(absl::Time now);
};

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_FIGURES_H_
