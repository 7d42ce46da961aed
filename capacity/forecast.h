// How many backends a rollout needs over time.
//
//   Rollout rollout = RolloutOf(deployment, deployment.replicas, times);
//   Forecast forecast = Simulate(rollout);
//   forecast.peak;                  // 623
//   forecast.Above(512);            // 4m10s
//
// Deterministic: the same rollout gives the same forecast, on any machine.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_FORECAST_H_
#define OCI_BACKEND_DRAIN_CAPACITY_FORECAST_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "capacity/rollout.h"

namespace capacity {

// A number that holds from a moment on, until the next point.
struct Point {
  int32_t at_ms = 0;  // after the rollout began
  int32_t count = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

// Points in the order of time, the first at 0; never empty.
using Curve = std::vector<Point>;

struct Forecast {
  int steady = 0;  // before the rollout, and after it
  int peak = 0;    // at least steady
  // From the beginning until all Pods are replaced and the old ones are out of the
  // load balancer. InfiniteDuration(): it never ends.
  absl::Duration duration = absl::ZeroDuration();
  Curve backends;  // in the load balancer

  // How long there are more than `level` backends.
  absl::Duration Above(int level) const;
  // How many there are at this moment.
  int At(absl::Duration moment) const;
};

// A rollout with all the slots it needs. Pods are registered while they are not
// ready yet, and stay registered while they terminate, as the ingress controller
// has it with publishNotReadyAddresses.
//
// Time grows with the replicas: 500 of them take well under a millisecond. With
// more than kMaxReplicas nothing is simulated: the peak is then what no rollout of
// that kind exceeds, and the duration is infinite.
Forecast Simulate(const Rollout& rollout);

// Several that begin at the same moment: the backends of all of them, at most
// kMostTogether, so that two such counts can be added.
inline constexpr int kMostTogether = 1'000'000'000;
Forecast Together(absl::Span<const Forecast* const> forecasts);

// The slots that one or several rollouts share.
struct Room {
  // For all of them; old and new backends, terminating ones too.
  int slots = std::numeric_limits<int>::max();
  // Terminating Pods are withdrawn to make room for replacements that wait,
  // longest drained first, once they have been drained for `minimum`.
  bool withdraw = false;
  absl::Duration minimum = absl::Seconds(5);
};

struct Confined {
  Forecast forecast;
  Curve waiting;  // published Pods without a slot
  absl::Duration longest_wait = absl::ZeroDuration();
  int withdrawn = 0;
  // False: it stops for ever, because nothing leaves before a slot is free. The
  // forecast's duration is infinite then.
  bool finishes = true;
};

// Rollouts that begin at the same moment, with no more than `room`. What they hold
// at the beginning stays, even if that is more.
Confined SimulateWithin(absl::Span<const Rollout> rollouts, const Room& room);

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_FORECAST_H_
