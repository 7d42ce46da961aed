// What it costs to answer at the health port.
//
//   bazel run -c opt //bench:health_benchmark
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "health/prometheus_metrics.h"
#include "health/status_json.h"
#include "health/status_page.h"

namespace {

constexpr int kSetsOfOne = 16;

health::SetSlots SetOf(int number) {
  health::SetSlots set;
  set.backend_set = absl::StrCat("bs_", 100'000'000'000'000 + number);
  set.service = absl::StrCat("shop/web-", number);
  set.limit = 512;
  set.live = 10;
  set.draining = 3;
  set.free = 499;
  return set;
}

health::VitalsReport Loops() {
  health::VitalsReport report;
  for (int i = 0; i < 50; ++i) {
    report.loops.push_back({absl::StrCat("watch pods in namespace shop-", i), absl::Seconds(1)});
  }
  return report;
}

// As /metrics does, with so many backend sets.
void Metrics(benchmark::State& state) {
  health::PrometheusMetrics metrics;
  const auto sets = static_cast<int>(state.range(0));
  for (int first = 0; first < sets; first += kSetsOfOne) {
    std::vector<health::SetSlots> slots;
    for (int i = first; i < std::min(sets, first + kSetsOfOne); ++i) slots.push_back(SetOf(i));
    metrics.SetSlotsOf(absl::StrCat("ocid1.loadbalancer.oc1.iad.", first), slots);
  }
  const health::VitalsReport report = Loops();
  size_t bytes = 0;
  for (auto _ : state) bytes = metrics.Render(report).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Metrics)->Arg(1000)->Arg(2000)->Unit(benchmark::kMillisecond);

// As much of everything as the page shows at most.
health::Status FullStatus() {
  health::Status status;
  status.at = absl::FromUnixSeconds(1'796'040'000);
  size_t sets = 0;
  for (size_t i = 0; i < health::kMaxShownLoadBalancers; ++i) {
    health::LoadBalancerStatus& item = status.load_balancers.items.emplace_back();
    item.id = item.name = absl::StrCat("ocid1.loadbalancer.oc1.iad.", i);
    for (; sets < health::kMaxShownSets * (i + 1) / health::kMaxShownLoadBalancers; ++sets) {
      item.sets.items.push_back(SetOf(static_cast<int>(sets)));
    }
  }
  const std::string text(health::kMaxShownBytes / 2, 'x');
  for (size_t i = 0; i < health::kMaxShownDrains; ++i) {
    health::DrainStatus& drain = status.drains.items.emplace_back();
    drain.load_balancer = drain.backend_set = drain.backend = drain.pod = drain.reason = text;
    drain.deadline = status.at + absl::Seconds(30);
  }
  for (size_t i = 0; i < health::kMaxShownDecisions; ++i) {
    health::DecisionStatus& decision = status.decisions.items.emplace_back();
    decision.at = status.at;
    decision.backend_set = decision.backend = decision.pod = decision.reason = text;
    decision.action = "drain";
  }
  for (size_t i = 0; i < health::kMaxShownWorkRequests; ++i) {
    health::WorkRequestStatus& request = status.work_requests.items.emplace_back();
    request.id = request.load_balancer = request.backend_set = request.what = text;
    request.accepted = status.at;
  }
  return status;
}

void Page(benchmark::State& state) {
  const health::Status status = FullStatus();
  const health::VitalsReport report = Loops();
  size_t bytes = 0;
  for (auto _ : state) bytes = health::StatusPage(status, report).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Page)->Unit(benchmark::kMillisecond);

void Json(benchmark::State& state) {
  const health::Status status = FullStatus();
  const health::VitalsReport report = Loops();
  size_t bytes = 0;
  for (auto _ : state) bytes = health::StatusToJson(status, report).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Json)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
