// What capacity planning costs: a forecast, a plan, and a thousand load balancers.
//
//   bazel run -c opt //bench:capacity
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "capacity/advice.h"
#include "capacity/forecast.h"
#include "capacity/memo.h"
#include "capacity/plan.h"

namespace {

constexpr int kSets = 16;
constexpr int kBackends = 512;
constexpr int kLoadBalancers = 1000;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

kube::Workload Deployment(int replicas, int surge_percent) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.replicas = replicas;
  workload.written_max_surge = kube::IntOrPercent::Percent(surge_percent);
  return workload;
}

// Argument: maxSurge in Pods.
void ForecastOfARollout(benchmark::State& state) {
  kube::Workload workload = Deployment(500, 0);
  workload.written_max_surge = kube::IntOrPercent::Count(static_cast<int>(state.range(0)));
  const capacity::Rollout rollout = capacity::RolloutOf(workload, 500, capacity::Times());
  for (auto _ : state) benchmark::DoNotOptimize(capacity::Simulate(rollout));
}
BENCHMARK(ForecastOfARollout)->ArgName("surge")->Arg(1)->Arg(125)->Unit(benchmark::kMicrosecond);

void AdviceForARollout(benchmark::State& state) {
  const kube::Workload workload = Deployment(500, 25);
  for (auto _ : state) {
    benchmark::DoNotOptimize(capacity::Advise(workload, 500, capacity::Times(), 512));
  }
}
BENCHMARK(AdviceForARollout)->Unit(benchmark::kMicrosecond);

// 16 sets with 512 backends in all, some of which drain and more of which wait than
// there are slots, so that slots are shared and backends withdrawn. Sets of distinct
// `seed`s have distinct rollouts.
capacity::Input FullLoadBalancer(int seed, capacity::ForecastMemo& memo) {
  capacity::Input input;
  input.now = kNow;
  for (int i = 0; i < kSets; ++i) {
    capacity::SetInput set;
    set.name = oci::BackendSetName(absl::StrCat("bs_", i));
    set.service = {"v1", "Service", {"shop", absl::StrCat("web-", i)}, "uid"};
    set.demand.draining = 6;
    set.demand.live = kBackends / kSets - set.demand.draining;
    set.demand.pending = 3;
    set.obstacle = capacity::Obstacle::kNone;
    for (int j = 0; j < set.demand.draining; ++j) {
      set.drained.push_back({oci::BackendName(absl::StrCat("10.0.", i, ".", j, ":8080")),
                             {"shop", absl::StrCat("web-", i, "-", j)},
                             absl::StrCat("uid-", j),
                             kNow - absl::Seconds(j + 3)});
    }
    kube::Workload workload = Deployment(kBackends / kSets, 25);
    workload.grace = absl::Milliseconds(30000 + seed * kSets + i);
    capacity::Times times;
    set.forecast = memo.Of({capacity::RolloutOf(workload, workload.replicas, times)});
    set.workloads = {i};
    input.workloads.push_back(
        {{"apps/v1", "Deployment", {"shop", absl::StrCat("web-", i)}, "uid"}, 32, 0});
    input.sets.push_back(std::move(set));
  }
  return input;
}

void PlanOfALoadBalancer(benchmark::State& state) {
  capacity::ForecastMemo memo;
  const capacity::Input input = FullLoadBalancer(0, memo);
  const capacity::Plan plan = capacity::MakePlan(input);
  if (plan.in_use != kBackends || plan.sets[0].withdrawals.empty()) {
    state.SkipWithError("not the plan that was meant");
  }
  for (auto _ : state) benchmark::DoNotOptimize(capacity::MakePlan(input));
}
BENCHMARK(PlanOfALoadBalancer)->Unit(benchmark::kMicrosecond);

void PlansOfAThousandLoadBalancers(benchmark::State& state) {
  const size_t before = mallinfo2().uordblks;
  std::vector<capacity::ForecastMemo> memos(kLoadBalancers);
  std::vector<capacity::Input> inputs;
  inputs.reserve(kLoadBalancers);
  for (int i = 0; i < kLoadBalancers; ++i) inputs.push_back(FullLoadBalancer(i, memos[i]));
  std::vector<capacity::Plan> plans(kLoadBalancers);
  for (auto _ : state) {
    for (int i = 0; i < kLoadBalancers; ++i) plans[i] = capacity::MakePlan(inputs[i]);
  }
  state.counters["MB"] = static_cast<double>(mallinfo2().uordblks - before) / 1e6;
}
BENCHMARK(PlansOfAThousandLoadBalancers)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
