// Forecasts that were made once.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_MEMO_H_
#define OCI_BACKEND_DRAIN_CAPACITY_MEMO_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "capacity/forecast.h"
#include "capacity/rollout.h"

namespace capacity {

// A rollout is its own revision: whatever changes a forecast is in it. Not
// thread-safe; one for each load balancer.
class ForecastMemo {
 public:
  // When it holds more, all are forgotten and made again as they are asked for.
  static constexpr size_t kMaxForecasts = 256;

  // The backends of these rollouts, begun at the same moment. Never null; no
  // rollout gives a forecast of nothing.
  std::shared_ptr<const Forecast> Of(absl::Span<const Rollout> rollouts);

  // Forgets what was not asked for since the last call: what is measured of a rollout
  // changes with each of its Pods, and makes another rollout of it.
  void Age();

  size_t size() const { return forecasts_.size(); }

 private:
  struct Known {
    std::shared_ptr<const Forecast> forecast;
    bool asked = true;  // since the last Age
  };
  absl::flat_hash_map<std::vector<Rollout>, Known> forecasts_;
};

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_MEMO_H_
