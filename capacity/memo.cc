#include "capacity/memo.h"

#include <utility>

namespace capacity {

std::shared_ptr<const Forecast> ForecastMemo::Of(absl::Span<const Rollout> rollouts) {
  std::vector<Rollout> key(rollouts.begin(), rollouts.end());
  const auto known = forecasts_.find(key);
  if (known != forecasts_.end()) {
    known->second.asked = true;
    return known->second.forecast;
  }
  std::shared_ptr<const Forecast> forecast;
  if (rollouts.size() == 1) {
    forecast = std::make_shared<const Forecast>(Simulate(rollouts.front()));
  } else {
    std::vector<std::shared_ptr<const Forecast>> parts;
    std::vector<const Forecast*> pointers;
    for (const Rollout& rollout : rollouts) parts.push_back(Of({rollout}));
    for (const auto& part : parts) pointers.push_back(part.get());
    forecast = std::make_shared<const Forecast>(Together(pointers));
  }
  if (forecasts_.size() >= kMaxForecasts) forecasts_.clear();
  forecasts_.emplace(std::move(key), Known{forecast});
  return forecast;
}

void ForecastMemo::Age() {
  absl::erase_if(forecasts_, [](const auto& item) { return !item.second.asked; });
  for (auto& [rollouts, known] : forecasts_) known.asked = false;
}

}  // namespace capacity
