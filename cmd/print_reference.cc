// Prints the tables of the code for tools/make_configuration.py: one row a line, its
// fields separated by tabs, then the metrics as /metrics shows them.
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "annotations/reasons.h"
#include "annotations/table.h"
#include "health/prometheus_metrics.h"
#include "health/vitals.h"

namespace {

absl::string_view KindName(annotations::Kind kind) {
  switch (kind) {
    case annotations::Kind::kAnnotation:
      return "annotation";
    case annotations::Kind::kLabel:
      return "label";
    case annotations::Kind::kCondition:
      break;
  }
  return "condition";
}

std::string Row(const std::initializer_list<absl::string_view> fields) {
  return absl::StrCat(absl::StrJoin(fields, "\t"), "\n");
}

std::string Tables() {
  std::string text;
  for (const annotations::Definition& name : annotations::Table()) {
    text += Row({"name", KindName(name.kind), annotations::PlaceName(name.place), name.name,
                 name.default_value, name.meaning});
  }
  for (const annotations::EventDefinition& event : annotations::EventTable()) {
    text += Row({"event", event.reason, event.warning ? "Warning" : "Normal", event.regarding,
                 event.ends ? "ends" : "", event.when, event.cure});
  }
  for (const annotations::ConditionReason& reason : annotations::ConditionReasonTable()) {
    text += Row({"reason", reason.condition, reason.reason, reason.status ? "True" : "False",
                 reason.meaning});
  }
  return text;
}

// With one series at least of each metric, so that all labels are seen.
std::string Metrics() {
  health::PrometheusMetrics metrics;
  health::SetSlots slots;
  slots.backend_set = "*";
  metrics.SetSlotsOf("*", {slots});
  metrics.SetCacheAges({{"*", absl::ZeroDuration()}});
  health::VitalsReport report;
  report.loops.push_back({.name = "*", .age = absl::ZeroDuration()});
  return metrics.Render(report);
}

}  // namespace

int main() {
  std::cout << Tables() << "metrics\n" << Metrics();
  return std::cout.flush() ? 0 : 1;
}
