#include "sim/demo_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sim {
namespace {

constexpr absl::Duration kDelayPerBurst = absl::Seconds(70);
constexpr absl::Duration kDelayCarryingAll = absl::Seconds(10);
constexpr double kMostMegabytes = 40;

std::string Seconds(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "never";
  return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(duration));
}

// "12.0 / 14.1 / 14.1 s"
std::string Percentiles(const std::vector<absl::Duration>& ascending,
                        const std::vector<int>& percents) {
  std::string text;
  for (const int percent : percents) {
    const absl::Duration value = Percentile(ascending, percent);
    absl::StrAppend(&text, text.empty() ? "" : " / ",
                    value == absl::InfiniteDuration()
                        ? "never"
                        : absl::StrFormat("%.1f", absl::ToDoubleSeconds(value)));
  }
  return text + " s";
}

// In units of the mean work request; 0 if none was seen to end.
double InWorkRequests(absl::Duration duration, const WriteFigures& writes) {
  if (writes.mean_work_request <= absl::ZeroDuration()) return 0;
  return absl::FDivDuration(duration, writes.mean_work_request);
}

// A row of a table: what, and one cell for each run.
struct Row {
  std::string what;
  std::function<std::string(const RunResult&)> cell;
};

std::string Pad(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

// Columns are as wide as what is in them.
std::string Table(const std::string& title, const std::vector<Row>& rows,
                  const std::vector<const RunResult*>& runs) {
  std::vector<std::vector<std::string>> lines = {{title}};
  for (const RunResult* run : runs) lines[0].push_back(run->name);
  for (const Row& row : rows) {
    lines.push_back({"  " + row.what});
    for (const RunResult* run : runs) lines.back().push_back(row.cell(*run));
  }
  std::vector<size_t> widths(runs.size() + 1);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    text += line[0] + std::string(widths[0] - line[0].size(), ' ');
    for (size_t i = 1; i < line.size(); ++i) text += "  " + Pad(line[i], widths[i]);
    text += "\n";
  }
  return text;
}

// A cell that means something only with a controller.
std::function<std::string(const RunResult&)> Ours(std::function<std::string(const RunResult&)> f) {
  return [f = std::move(f)](const RunResult& run) {
    return run.with_controller ? f(run) : std::string("-");
  };
}

std::vector<Row> DrainRows() {
  return {
      {"Pods terminated", [](const RunResult& run) { return absl::StrCat(run.web.terminated); }},
      {"drained before their process ended",
       [](const RunResult& run) { return absl::StrCat(run.web.drained_before_exit); }},
      {"... but for a foreign write afterward",
       Ours([](const RunResult& run) { return absl::StrCat(run.web.undrained_by_foreign); })},
      {"drained or gone after, p50 / p99 / max",
       [](const RunResult& run) {
         return Percentiles(run.web.drain_latency, {50, 99, 100});
       }},
      {"replacements routed after, p50 / max",
       [](const RunResult& run) {
         return Percentiles(run.web.replacement_latency, {50, 100});
       }},
      {"... in mean work requests",
       [](const RunResult& run) {
         const std::vector<absl::Duration>& after = run.web.replacement_latency;
         return absl::StrFormat("%.1f / %.1f", InWorkRequests(Percentile(after, 50), run.writes),
                                InWorkRequests(Percentile(after, 100), run.writes));
       }},
      {"fewest good backends",
       [](const RunResult& run) { return absl::StrCat(run.web.min_good_backends); }},
      {"time with a dead backend routable",
       [](const RunResult& run) { return Seconds(run.web.dead); }},
      {"... explained by a foreign write",
       Ours([](const RunResult& run) { return Seconds(run.web.dead_foreign); })},
  };
}

std::vector<Row> WriteRows() {
  return {
      {"waves of drains, writes that carry one", Ours([](const RunResult& run) {
         return absl::StrCat(run.writes.waves, ", ", run.writes.writes_accepted);
       })},
      {"corrective writes",
       Ours([](const RunResult& run) { return absl::StrCat(run.writes.writes_corrective); })},
      {"writes of NIC", [](const RunResult& run) { return absl::StrCat(run.writes.rival_writes); }},
      {"work requests in all",
       [](const RunResult& run) { return absl::StrCat(run.writes.work_requests); }},
      {"... how long one takes, mean / max",
       [](const RunResult& run) {
         return absl::StrFormat("%.1f / %.1f s",
                                absl::ToDoubleSeconds(run.writes.mean_work_request),
                                absl::ToDoubleSeconds(run.writes.longest_work_request));
       }},
      {"412 for us, for NIC",
       [](const RunResult& run) {
         return absl::StrCat(
             run.with_controller ? absl::StrCat(run.writes.conflicts_412) : std::string("-"), ", ",
             run.writes.rival_conflicts_412);
       }},
      {"peak memory of the controller", Ours([](const RunResult& run) {
         return absl::StrFormat("%.1f MB", run.controller_peak_mb);
       })},
      {"rollout took", [](const RunResult& run) { return Seconds(run.took); }},
  };
}

std::vector<Row> NeighbourRows(const DemoResult& result) {
  return {
      {"its Pods routed after, p50 / max",
       [](const RunResult& run) {
         return Percentiles(run.neighbour->replacement_latency, {50, 100});
       }},
      {"the last of them after the start",
       [](const RunResult& run) { return Seconds(run.neighbour->replaced_after); }},
      {"may be",
       [&result](const RunResult& run) {
         return run.with_controller ? Seconds(NeighbourBound(result, run)) : std::string("-");
       }},
      {"bursts of ours",
       Ours([](const RunResult& run) { return absl::StrCat(run.writes.writes_accepted); })},
      {"of the other drained before exit",
       [](const RunResult& run) {
         return absl::StrCat(run.web.drained_before_exit, " of ", run.web.terminated);
       }},
      {"412 for us, for NIC",
       [](const RunResult& run) {
         return absl::StrCat(
             run.with_controller ? absl::StrCat(run.writes.conflicts_412) : std::string("-"), ", ",
             run.writes.rival_conflicts_412);
       }},
  };
}

Promise NeighbourPromise(const DemoResult& result, const RunResult& run) {
  const absl::Duration after = run.neighbour->replaced_after;
  const absl::Duration bound = NeighbourBound(result, run);
  return {absl::StrCat("neighbour, ", run.name, ": routed no later than with NIC alone plus ",
                       &run == &result.shared_carry_all ? "10 s" : "70 s a burst"),
          after <= bound, absl::StrCat(Seconds(after), " of ", Seconds(bound))};
}

Promise DrainPromise(const DemoResult& result, const RunResult& run) {
  std::string seen = absl::StrCat(run.web.drained_before_exit, " of ", run.web.terminated);
  if (run.web.undrained_by_foreign > 0) {
    absl::StrAppend(&seen, ", and ", run.web.undrained_by_foreign,
                    " that a foreign write had made routable again");
  }
  return {"every terminated Pod is drained before its process ends",
          run.web.terminated == result.replicas && run.web.drained_before_exit == result.replicas,
          std::move(seen)};
}

Promise GoodPromise(const DemoResult& result, const ServiceFigures& web) {
  const bool kept = web.min_good_backends >= result.good_floor;
  return {absl::StrCat("never fewer than ", result.good_floor, " good backends"), kept,
          kept ? absl::StrCat(web.min_good_backends)
               : absl::StrCat(web.min_good_backends, " at ", Seconds(web.min_good_at))};
}

// A work request's time is what it took here at most: which of two a Pod met is
// not ours to choose.
Promise ReplacementPromise(const RunResult& run) {
  const absl::Duration routed = Percentile(run.web.replacement_latency, 100);
  const absl::Duration bound = 2 * run.writes.longest_work_request;
  return {"replacements are routed within two work requests", routed <= bound,
          absl::StrCat(Seconds(routed), " of ", Seconds(bound))};
}

JsonTree Number(double value) { return std::round(value * 1000) / 1000; }

JsonTree SecondsJson(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return {};
  return Number(absl::ToDoubleSeconds(duration));
}

JsonTree PercentilesJson(const std::vector<absl::Duration>& ascending) {
  return JsonTree::Object{{"p50", SecondsJson(Percentile(ascending, 50))},
                          {"p99", SecondsJson(Percentile(ascending, 99))},
                          {"max", SecondsJson(Percentile(ascending, 100))}};
}

// Null for never, as seconds are.
JsonTree WorkRequestsJson(const RunResult& run, int percent) {
  const absl::Duration after = Percentile(run.web.replacement_latency, percent);
  if (after == absl::InfiniteDuration()) return {};
  return Number(InWorkRequests(after, run.writes));
}

JsonTree RunJson(const RunResult& run) {
  JsonTree::Array faults(run.faults.begin(), run.faults.end());
  return JsonTree::Object{
      {"terminated", run.web.terminated},
      {"drained_before_exit", run.web.drained_before_exit},
      {"undrained_by_foreign_write", run.web.undrained_by_foreign},
      {"drain_latency_s", PercentilesJson(run.web.drain_latency)},
      {"waves", run.writes.waves},
      {"writes_accepted", run.writes.writes_accepted},
      {"writes_corrective", run.writes.writes_corrective},
      {"min_good_backends", run.web.min_good_backends},
      {"seconds_with_dead_backend", SecondsJson(run.web.dead)},
      {"seconds_with_dead_backend_foreign", SecondsJson(run.web.dead_foreign)},
      {"work_requests", run.writes.work_requests},
      {"conflicts_412", run.writes.conflicts_412},
      {"replacement_routed_s", PercentilesJson(run.web.replacement_latency)},
      {"replacement_routed_work_requests",
       JsonTree::Object{{"p50", WorkRequestsJson(run, 50)}, {"max", WorkRequestsJson(run, 100)}}},
      {"work_request_mean_s", SecondsJson(run.writes.mean_work_request)},
      {"work_request_max_s", SecondsJson(run.writes.longest_work_request)},
      {"ingress_controller_writes", run.writes.rival_writes},
      {"ingress_controller_conflicts_412", run.writes.rival_conflicts_412},
      {"controller_peak_mb", Number(run.controller_peak_mb)},
      {"rollout_s", SecondsJson(run.took)},
      {"faults", std::move(faults)},
  };
}

JsonTree NeighbourJson(const DemoResult& result, const RunResult& run) {
  JsonTree json = JsonTree::Object{
      {"run", run.name},
      {"replacement_routed_s", PercentilesJson(run.neighbour->replacement_latency)},
      {"all_routed_after_s", SecondsJson(run.neighbour->replaced_after)},
      {"bursts", run.writes.writes_accepted},
      {"bound_s", JsonTree()},
      {"kept", JsonTree()},
  };
  if (run.with_controller) {
    json.Set("bound_s", SecondsJson(NeighbourBound(result, run)));
    json.Set("kept", NeighbourPromise(result, run).kept);
  }
  json.Set("web", RunJson(run));
  return json;
}

std::vector<const RunResult*> AllRuns(const DemoResult& result) {
  return {&result.alone, &result.helped, &result.shared_alone, &result.shared,
          &result.shared_carry_all};
}

}  // namespace

absl::Duration NeighbourBound(const DemoResult& result, const RunResult& run) {
  const absl::Duration alone = result.shared_alone.neighbour->replaced_after;
  if (&run == &result.shared_carry_all) return alone + kDelayCarryingAll;
  return alone + run.writes.writes_accepted * kDelayPerBurst;
}

std::vector<Promise> JudgePromises(const DemoResult& result) {
  const RunResult& run = result.helped;
  std::vector<Promise> promises = {
      DrainPromise(result, run),
      GoodPromise(result, run.web),
      {"no dead backend is routable but for what a foreign write explains",
       run.web.dead == absl::ZeroDuration(), Seconds(run.web.dead)},
      ReplacementPromise(run),
      {"a wave of drains costs one accepted write", run.writes.writes_accepted <= run.writes.waves,
       absl::StrCat(run.writes.writes_accepted, " for ", run.writes.waves)},
      {absl::StrCat("the controller needs less than ", kMostMegabytes, " MB"),
       run.controller_peak_mb > 0 && run.controller_peak_mb < kMostMegabytes,
       absl::StrFormat("%.1f MB", run.controller_peak_mb)},
      NeighbourPromise(result, result.shared),
      NeighbourPromise(result, result.shared_carry_all),
  };
  for (const RunResult* each : AllRuns(result)) {
    for (const std::string& fault : each->faults) {
      promises.push_back({absl::StrCat("run \"", each->name, "\" can be judged"), false, fault});
    }
  }
  return promises;
}

std::string DescribeResult(const DemoResult& result) {
  std::vector<Row> rows = DrainRows();
  for (Row& row : WriteRows()) rows.push_back(std::move(row));
  std::string text = Table(absl::StrCat("One Service, ", result.replicas, " Pods replaced"), rows,
                           {&result.alone, &result.helped});
  absl::StrAppend(&text, "\n",
                  Table("Two Services, one of which did not opt in", NeighbourRows(result),
                        {&result.shared_alone, &result.shared, &result.shared_carry_all}));
  absl::StrAppend(&text, "\nPromises\n");
  for (const Promise& promise : JudgePromises(result)) {
    absl::StrAppend(&text, promise.kept ? "  kept    " : "  BROKEN  ", promise.text, ": ",
                    promise.figure, "\n");
  }
  return text;
}

std::string DescribeDeadTimes(const RunResult& run) {
  std::string text;
  for (const DeadTime& dead : run.web.dead_times) {
    absl::StrAppend(&text, run.name, ": ", dead.pod, " was routable but dead from ",
                    Seconds(dead.from - run.trigger), " to ", Seconds(dead.to - run.trigger));
    if (dead.accepted != absl::InfinitePast()) {
      absl::StrAppend(&text, ", by a write of ",
                      dead.by_rival ? "the ingress controller" : "the controller", " accepted at ",
                      Seconds(dead.accepted - run.trigger));
    }
    if (dead.confirmed != absl::InfiniteFuture()) {
      absl::StrAppend(&text, "; its drain was confirmed at ",
                      Seconds(dead.confirmed - run.trigger));
    }
    text += "\n";
  }
  return text;
}

JsonTree ResultJson(const DemoResult& result) {
  JsonTree json = RunJson(result.helped);
  json.Set("nic_alone", RunJson(result.alone));
  JsonTree::Array neighbours;
  for (const RunResult* run : {&result.shared_alone, &result.shared, &result.shared_carry_all}) {
    neighbours.push_back(NeighbourJson(result, *run));
  }
  json.Set("neighbours", std::move(neighbours));
  JsonTree::Array promises;
  bool kept = true;
  for (const Promise& promise : JudgePromises(result)) {
    kept = kept && promise.kept;
    promises.push_back(JsonTree::Object{
        {"promise", promise.text}, {"kept", promise.kept}, {"seen", promise.figure}});
  }
  json.Set("promises", std::move(promises));
  json.Set("all_kept", kept);
  json.Set("seed", static_cast<int64_t>(result.seed));
  return json;
}

}  // namespace sim
