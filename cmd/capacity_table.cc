#include "cmd/capacity_table.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "capacity/explain.h"
#include "cmd/text_table.h"
#include "controller/capacity_news.h"

namespace cmd {
namespace {

using controller::CapacityKeeper;

constexpr int kBarWidth = 24;
// Columns from here on are numbers.
constexpr size_t kFirstNumber = 2;

// "[####~~==+++     ]": live, draining, foreign and pending of the limit.
std::string Bar(const capacity::Demand& demand, int limit) {
  std::string bar;
  int count = 0;
  const auto add = [&](int more, char sign) {
    count += more;
    const size_t end = std::min<int64_t>(kBarWidth, int64_t{count} * kBarWidth / limit);
    if (end > bar.size()) bar.resize(end, sign);
  };
  add(demand.live, '#');
  add(demand.draining, '~');
  add(demand.foreign, '=');
  add(demand.pending, '+');
  bar.resize(kBarWidth, ' ');
  return absl::StrCat("[", bar, "]");
}

TextRow RowOf(const capacity::Input& input, const capacity::Plan& plan, size_t i, bool bars) {
  const capacity::SetInput& set = input.sets[i];
  const capacity::SetPlan& out = plan.sets[i];
  TextRow row;
  row.cells = {set.name.value(), set.service.key.ToString()};
  for (const int number :
       {input.limits.backends_per_set, set.demand.live, set.demand.draining, set.demand.foreign,
        set.demand.pending, out.reserved, out.free, out.forecast_peak}) {
    row.cells.push_back(absl::StrCat(number));
  }
  if (bars) row.cells.push_back(Bar(set.demand, input.limits.backends_per_set));
  return row;
}

std::string TextOf(const CapacityKeeper::Preview& preview, const capacity::Finding& finding) {
  return capacity::Describe(preview.facts.input, finding,
                            controller::AdviceFor(preview.facts, finding));
}

std::string FormatText(const oci::Ocid& load_balancer, const CapacityKeeper::Preview& preview,
                       CapacityStyle style) {
  const capacity::Input& input = preview.facts.input;
  const capacity::Plan& plan = preview.plan;
  std::string text = absl::StrCat("load balancer ", load_balancer.value(), ": ", plan.in_use,
                                  " of ", input.limits.backends_per_load_balancer,
                                  " backends in use, ", plan.free, " free");
  if (input.other_backends > 0) {
    absl::StrAppend(&text, "; ", input.other_backends, " in sets of others");
  }
  std::vector<TextRow> rows = {{{"SET", "SERVICE", "LIMIT", "LIVE", "DRAINING", "FOREIGN",
                                 "PENDING", "RESERVED", "FREE", "PEAK"}}};
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    rows.push_back(RowOf(input, plan, i, style != CapacityStyle::kPlain));
  }
  absl::StrAppend(&text, "\n", AlignRows(rows, kFirstNumber));
  for (const capacity::Finding& finding : plan.findings) {
    const bool color = style == CapacityStyle::kColors;
    absl::StrAppend(&text, color ? kRed : "", capacity::Name(finding.kind), color ? kNoColor : "",
                    ": ", TextOf(preview, finding), "\n");
  }
  return text;
}

std::string FormatJson(const oci::Ocid& load_balancer, const CapacityKeeper::Preview& preview) {
  const capacity::Input& input = preview.facts.input;
  const capacity::Plan& plan = preview.plan;
  std::string text = absl::StrCat("{\"load_balancer\":", base::QuoteJson(load_balancer.value()),
                                  ",\"limit\":", input.limits.backends_per_load_balancer,
                                  ",\"in_use\":", plan.in_use, ",\"free\":", plan.free,
                                  ",\"others\":", input.other_backends, ",\"sets\":[");
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    const capacity::SetInput& set = input.sets[i];
    const capacity::SetPlan& out = plan.sets[i];
    absl::StrAppend(&text, i == 0 ? "" : ",", "{\"name\":", base::QuoteJson(set.name.value()),
                    ",\"service\":", base::QuoteJson(set.service.key.ToString()),
                    ",\"limit\":", input.limits.backends_per_set, ",\"live\":", set.demand.live,
                    ",\"draining\":", set.demand.draining, ",\"foreign\":", set.demand.foreign);
    absl::StrAppend(&text, ",\"pending\":", set.demand.pending, ",\"reserved\":", out.reserved,
                    ",\"free\":", out.free, ",\"forecast_peak\":", out.forecast_peak, "}");
  }
  text += "],\"findings\":[";
  for (const capacity::Finding& finding : plan.findings) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",",
                    "{\"reason\":", base::QuoteJson(capacity::Name(finding.kind)),
                    ",\"text\":", base::QuoteJson(TextOf(preview, finding)), "}");
  }
  return text + "]}\n";
}

}  // namespace

std::string FormatCapacityTable(const oci::Ocid& load_balancer,
                                const CapacityKeeper::Preview& preview, CapacityStyle style) {
  return style == CapacityStyle::kJson ? FormatJson(load_balancer, preview)
                                       : FormatText(load_balancer, preview, style);
}

bool HasRolloutThatDoesNotFit(const CapacityKeeper::Preview& preview) {
  return std::any_of(preview.plan.findings.begin(), preview.plan.findings.end(),
                     [](const capacity::Finding& finding) {
                       return finding.kind == capacity::FindingKind::kRolloutWillExceedBackendLimit;
                     });
}

}  // namespace cmd
