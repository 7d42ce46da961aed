#include "kube/int_or_percent.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kube {
namespace {

// More than 100 % of surge is allowed; this only keeps the product in range.
constexpr int kMaxPercent = 10000;

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

IntOrPercent ReadIntOrPercent(const Fields& object, absl::string_view name, IntOrPercent missing) {
  const rapidjson::Value* value = object.Raw(name);
  if (value == nullptr) return missing;
  if (!value->IsString()) {
    return IntOrPercent::Count(static_cast<int>(
        object.Int(name, {0, std::numeric_limits<int32_t>::max()}, missing.value)));
  }
  absl::string_view text = base::StringOf(*value);
  int percent = 0;
  if (!absl::ConsumeSuffix(&text, "%") || text.empty() ||
      !std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &percent) || percent > kMaxPercent) {
    object.Fail(name, "expected a number of Pods or a percentage such as \"25%\"");
    return missing;
  }
  return IntOrPercent::Percent(percent);
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
