#include "annotations/annotations.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "annotations/table.h"

namespace annotations {
namespace {

constexpr size_t kMaxQuotedBytes = 80;
constexpr size_t kMaxOcidBytes = 255;
// The ingress controller has names of its own, and may get more below the one
// that it is to share with this project.
bool LooksLikeOurs(absl::string_view name) {
  return absl::StartsWith(name, "oci-native-ingress.oraclecloud.com/backend-drain") &&
         !absl::StartsWith(name, absl::StrCat(kBackendDraining, "-"));
}

// Digits only, and few enough to fit.
std::optional<int64_t> ConsumeNumber(absl::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t number = 0;
  if (digits == 0 || digits > 9 || !absl::SimpleAtoi(text.substr(0, digits), &number)) {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return number;
}

std::optional<std::string> ParseOcid(absl::string_view text) {
  const auto is_ocid_character = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
  };
  if (!absl::StartsWith(text, "ocid1.loadbalancer.") || text.size() > kMaxOcidBytes ||
      !std::all_of(text.begin(), text.end(), is_ocid_character)) {
    return std::nullopt;
  }
  return std::string(text);
}

std::optional<bool> ParseAll(absl::string_view text) {
  return text == "all" ? std::optional<bool>(true) : std::nullopt;
}

// Reads the annotations of one object by name and collects what is bad.
class Reader {
 public:
  Reader(const kube::Annotations& annotations, Place place)
      : annotations_(annotations), place_(place) {}

  // `target` keeps its value if the annotation is absent or not allowed; the
  // answer is whether it is not allowed.
  template <typename T, typename Parse>
  bool Read(absl::string_view name, Parse parse, T& target) {
    const auto it = annotations_.find(std::string(name));
    if (it == annotations_.end()) return false;
    auto value = parse(it->second);
    if (value.has_value()) {
      target = *std::move(value);
      return false;
    }
    bad_.push_back({it->first, it->second, Allowed(Find(name)->type)});
    return true;
  }

  // What is bad, with the names of ours that do not belong on this object.
  std::vector<BadValue> Finish() && {
    for (const auto& [name, value] : annotations_) {
      const Definition* definition = Find(name);
      if (definition == nullptr && LooksLikeOurs(name)) {
        bad_.push_back({name, value, "nothing: there is no such annotation"});
      } else if (definition != nullptr &&
                 (definition->place != place_ || definition->kind != Kind::kAnnotation)) {
        bad_.push_back({name, value, Belongs(*definition)});
      }
    }
    return std::move(bad_);
  }

 private:
  static std::string Belongs(const Definition& definition) {
    const absl::string_view kind = definition.kind == Kind::kLabel       ? "a label"
                                   : definition.kind == Kind::kCondition ? "a condition"
                                                                         : "an annotation";
    return absl::StrCat("nothing here: it is ", kind, " for an object of kind ",
                        PlaceName(definition.place));
  }

  const kube::Annotations& annotations_;
  const Place place_;
  std::vector<BadValue> bad_;
};

}  // namespace

std::string BadValue::ToString() const {
  const bool is_long = value.size() > kMaxQuotedBytes;
  return absl::StrCat(key, ": \"", absl::CHexEscape(value.substr(0, kMaxQuotedBytes)),
                      is_long ? "...\"" : "\"", " is not allowed; allowed is ", allowed);
}

std::optional<bool> ParseBoolean(absl::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<absl::Duration> ParseDuration(absl::string_view text) {
  struct Unit {
    absl::string_view name;
    absl::Duration length;
  };
  // "ms" is tried before "m", and may still follow it.
  static constexpr Unit kUnits[] = {{"h", absl::Hours(1)},
                                    {"m", absl::Minutes(1)},
                                    {"s", absl::Seconds(1)},
                                    {"ms", absl::Milliseconds(1)}};
  if (text.empty()) return std::nullopt;
  absl::Duration total = absl::ZeroDuration();
  size_t next_unit = 0;
  while (!text.empty()) {
    const std::optional<int64_t> number = ConsumeNumber(text);
    if (!number.has_value()) return std::nullopt;
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    while (next_unit < std::size(kUnits) && kUnits[next_unit].name != text.substr(0, letters)) {
      ++next_unit;
    }
    if (next_unit == std::size(kUnits)) return std::nullopt;
    total += *number * kUnits[next_unit++].length;
    text.remove_prefix(letters);
  }
  if (total > kLongestDuration) return std::nullopt;
  return total;
}

std::optional<Reserve> ParseReserve(absl::string_view text) {
  if (text == "auto") return Reserve{Reserve::Kind::kAuto, 0};
  Reserve reserve{Reserve::Kind::kBackends, 0};
  int largest = kLargestReserve;
  if (absl::ConsumeSuffix(&text, "%")) {
    reserve.kind = Reserve::Kind::kPercent;
    largest = 100;
  }
  const std::optional<int64_t> number = ConsumeNumber(text);
  if (!number.has_value() || !text.empty() || *number > largest) return std::nullopt;
  reserve.value = static_cast<int>(*number);
  return reserve;
}

ServiceAnnotations ParseServiceAnnotations(const kube::Annotations& annotations) {
  ServiceAnnotations result;
  Reader reader(annotations, Place::kService);
  reader.Read(kBackendDraining, ParseBoolean, result.values.backend_draining);
  reader.Read(kServing, ParseDuration, result.values.serving);
  reader.Read(kShutdown, ParseDuration, result.values.shutdown);
  reader.Read(kStickyCutoff, ParseDuration, result.values.sticky_cutoff);
  reader.Read(kReserve, ParseReserve, result.values.reserve);
  reader.Read(kMinimum, ParseDuration, result.values.minimum);
  result.bad = std::move(reader).Finish();
  return result;
}

IngressClassAnnotations ParseIngressClassAnnotations(const kube::Annotations& annotations) {
  IngressClassAnnotations result;
  Reader reader(annotations, Place::kIngressClass);
  // The ingress controller has not made the load balancer yet.
  const auto id = annotations.find(std::string(kLoadBalancerId));
  if (id != annotations.end() && !id->second.empty()) {
    reader.Read(kLoadBalancerId, ParseOcid, result.values.load_balancer_id);
  }
  reader.Read(kIsDefaultClass, ParseBoolean, result.values.is_default);
  // Whoever wrote something here wanted the writes to stop.
  if (reader.Read(kPaused, ParseBoolean, result.values.paused)) result.values.paused = true;
  reader.Read(kCarry, ParseAll, result.values.carry_all);
  result.bad = std::move(reader).Finish();
  return result;
}

}  // namespace annotations
