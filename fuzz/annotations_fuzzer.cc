// Annotations, one `name=value` a line: in bounds, or bad and at the default.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "annotations/annotations.h"
#include "annotations/table.h"
#include "fuzz/fuzzer.h"

namespace {

using annotations::BadValue;

void RequireDuration(absl::Duration duration) {
  fuzz::Require(duration >= absl::ZeroDuration() && duration <= annotations::kLongestDuration,
                "a duration is within its bounds");
}

void RequireReserve(const annotations::Reserve& reserve) {
  const bool percent = reserve.kind == annotations::Reserve::Kind::kPercent;
  fuzz::Require(
      reserve.value >= 0 && reserve.value <= (percent ? 100 : annotations::kLargestReserve),
      "a reserve is within its bounds");
}

void RequireMessages(const kube::Annotations& given, const std::vector<BadValue>& bad) {
  for (const BadValue& value : bad) {
    const auto it = given.find(value.key);
    fuzz::Require(it != given.end() && it->second == value.value, "what is bad was given");
    const std::string line = value.ToString();
    // The value's beginning, each of its bytes in at most four.
    fuzz::Require(line.size() <= value.key.size() + 600, "a message has a bound");
    fuzz::Require(std::all_of(line.begin() + static_cast<ptrdiff_t>(value.key.size()), line.end(),
                              [](unsigned char c) { return c >= 0x20 && c < 0x7f; }),
                  "a message is one line of plain characters");
  }
}

void RequireStrictReaders(absl::string_view text) {
  if (const auto duration = annotations::ParseDuration(text)) RequireDuration(*duration);
  if (const auto reserve = annotations::ParseReserve(text)) RequireReserve(*reserve);
  fuzz::Require(annotations::ParseBoolean(text).has_value() == (text == "true" || text == "false"),
                "a boolean is one of two words");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  kube::Annotations given;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(line, absl::MaxSplits('=', 1));
    given.insert(pair);
    RequireStrictReaders(pair.second);
  }
  const annotations::ServiceAnnotations service = annotations::ParseServiceAnnotations(given);
  RequireDuration(service.values.serving);
  RequireDuration(service.values.shutdown);
  RequireDuration(service.values.minimum);
  if (service.values.sticky_cutoff.has_value()) RequireDuration(*service.values.sticky_cutoff);
  if (service.values.reserve.has_value()) RequireReserve(*service.values.reserve);
  const auto draining = given.find(std::string(annotations::kBackendDraining));
  fuzz::Require(
      service.values.backend_draining == (draining != given.end() && draining->second == "true"),
      "a Service takes part if the annotation says true, and only then");
  RequireMessages(given, service.bad);

  const annotations::IngressClassAnnotations ingress_class =
      annotations::ParseIngressClassAnnotations(given);
  const auto paused = given.find(std::string(annotations::kPaused));
  fuzz::Require(ingress_class.values.paused == (paused != given.end() && paused->second != "false"),
                "whatever is written at paused but false stops the writes");
  RequireMessages(given, ingress_class.bad);
  return 0;
}
