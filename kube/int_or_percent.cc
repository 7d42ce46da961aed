#include "kube/int_or_percent.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kube {
namespace {

// More than 100 % of surge is allowed; this only keeps the product in range.
constexpr int kMaxPercent = 10000;

}  // namespace

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

}  // namespace kube
