#include "capacity/advice.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "capacity/forecast.h"

namespace capacity {
namespace {

// The largest value in [low, high] for which fits(value); the need for slots grows
// with the value.
template <typename Fits>
std::optional<int> Largest(int low, int high, Fits fits) {
  if (low > high || !fits(low)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

Advice Advise(const kube::Workload& workload, int replicas, const Times& times, int room) {
  Advice advice;
  const Rollout now = RolloutOf(workload, replicas, times);
  if (now.replicas > kMaxReplicas || Simulate(now).peak <= room) return advice;
  if (now.style == Style::kRolling) {
    // The API refuses both to be zero.
    const int least = now.max_unavailable == 0 ? 1 : 0;
    advice.max_surge = Largest(least, now.max_surge - 1, [&](int surge) {
      Rollout changed = now;
      changed.max_surge = surge;
      return Simulate(changed).peak <= room;
    });
    const int seconds = static_cast<int>(absl::ToInt64Seconds(now.termination));
    const auto grace = Largest(0, seconds - 1, [&](int value) {
      Rollout changed = now;
      changed.termination = absl::Seconds(value);
      return Simulate(changed).peak <= room;
    });
    if (grace.has_value()) advice.grace = absl::Seconds(*grace);
  }
  advice.replicas = Largest(1, now.replicas - 1, [&](int value) {
    return Simulate(RolloutOf(workload, value, times)).peak <= room;
  });
  return advice;
}

std::string Describe(const Advice& advice) {
  std::vector<std::string> ways;
  if (advice.max_surge.has_value()) ways.push_back(absl::StrCat("maxSurge ", *advice.max_surge));
  if (advice.grace.has_value()) {
    ways.push_back(
        absl::StrCat("terminationGracePeriodSeconds ", absl::ToInt64Seconds(*advice.grace)));
  }
  if (advice.replicas.has_value()) ways.push_back(absl::StrCat(*advice.replicas, " replicas"));
  return absl::StrJoin(ways, ", or ");
}

}  // namespace capacity
