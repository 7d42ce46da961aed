#include "kube/types.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kube {
namespace {

int Clamp(int64_t pods) {
  return static_cast<int>(std::min<int64_t>(pods, std::numeric_limits<int32_t>::max()));
}

}  // namespace

int IntOrPercent::RoundedDown(int replicas) const {
  return is_percent ? Clamp(int64_t{value} * replicas / 100) : value;
}

int IntOrPercent::RoundedUp(int replicas) const {
  return is_percent ? Clamp((int64_t{value} * replicas + 99) / 100) : value;
}

RolloutLimits ResolveRolloutLimits(IntOrPercent max_unavailable, IntOrPercent max_surge,
                                   int replicas) {
  RolloutLimits limits;
  limits.max_surge = max_surge.RoundedUp(replicas);
  limits.max_unavailable = max_unavailable.RoundedDown(replicas);
  if (limits.max_surge == 0 && limits.max_unavailable == 0) limits.max_unavailable = 1;
  limits.max_unavailable = std::min(limits.max_unavailable, replicas);
  return limits;
}

}  // namespace kube
