// What a decision costs: MakePlan and CheckPlan for one set.
//
//   bazel run -c opt //bench:plan
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "drain/check.h"
#include "drain/plan.h"
#include "oci/codec.h"
#include "sim/load_balancer_document.h"

namespace {

constexpr char kSet[] = "bs_f151df96ee98ff0";
constexpr int kPort = 8080;
constexpr int kStride = 37;  // without a common factor with the numbers of backends below

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

drain::Endpoint EndpointOf(int i, int terminating) {
  drain::Endpoint endpoint;
  endpoint.ip = absl::StrCat("10.0.", i / 250, ".", i % 250);
  endpoint.port = kPort;
  endpoint.backend = oci::MakeBackendName(endpoint.ip, kPort);
  endpoint.pod = {"shop", absl::StrCat("web-7d4b9c6f5-", i)};
  endpoint.uid = absl::StrCat("8f14e45f-ceea-467f-a8d5-", 100000000000 + i);
  endpoint.cached_uid = endpoint.uid;
  endpoint.workload = 0;
  if (i < terminating) {
    endpoint.deletion_timestamp = kNow + absl::Seconds(30);
    endpoint.deletion_grace = absl::Seconds(30);
  }
  return endpoint;
}

// A set of that many backends, some of whose Pods end; read in this pass.
drain::Input MakeInput(int backends, int terminating) {
  drain::Input input;
  input.now = kNow;
  input.load_balancer = oci::Ocid("ocid1.loadbalancer.oc1.iad.x");
  input.workloads.push_back({{"apps/v1", "Deployment", {"shop", "web"}, "u"}, backends, 0, false});
  drain::SetInput set;
  set.name = oci::BackendSetName(kSet);
  set.service = {"v1", "Service", {"shop", "web"}, "s"};
  set.opted_in = set.publishes_terminating = true;
  set.target_port = kPort;
  for (int i = 0; i < backends; ++i) set.endpoints.push_back(EndpointOf(i, terminating));
  // Endpoint slices have their own order.
  std::vector<std::string> names;
  for (int i = 0; i < backends; ++i) {
    const int next = static_cast<int>(int64_t{i} * kStride % backends);
    names.push_back(set.endpoints[static_cast<size_t>(next)].backend.value());
  }
  drain::Membership membership;
  membership.answered = true;
  for (const drain::Endpoint& endpoint : set.endpoints) {
    membership.members.push_back({endpoint.backend, endpoint.ip, endpoint.port});
  }
  set.membership = std::move(membership);
  input.sets.push_back(std::move(set));
  const std::string json = sim::MakeLoadBalancerJson(input.load_balancer.value(), {{kSet, names}});
  input.read = drain::Read{oci::DecodeLoadBalancer(json).value(), oci::Etag("1"), kNow, true};
  input.work_requests = drain::WorkRequests{{}, kNow, true};
  input.options.coalesce_window = absl::ZeroDuration();
  // As a process that has seen all that before remembers it.
  input.memory = drain::MakePlan(input).memory;
  return input;
}

// Arguments: backends of the set, how many of them are to be drained.
void MakePlan(benchmark::State& state) {
  const int terminating = static_cast<int>(state.range(1));
  const drain::Input input = MakeInput(static_cast<int>(state.range(0)), terminating);
  const drain::Plan plan = drain::MakePlan(input);
  if (!plan.questions.empty() || plan.write.has_value() != (terminating > 0)) {
    state.SkipWithError("not the plan that was meant");
  }
  for (auto _ : state) benchmark::DoNotOptimize(drain::MakePlan(input));
}
BENCHMARK(MakePlan)
    ->ArgNames({"backends", "drains"})
    ->Args({10, 1})
    ->Args({512, 0})
    ->Args({512, 1})
    ->Args({512, 128})
    ->Unit(benchmark::kMicrosecond);

void CheckPlan(benchmark::State& state) {
  const drain::Input input =
      MakeInput(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const drain::Plan plan = drain::MakePlan(input);
  for (auto _ : state) benchmark::DoNotOptimize(drain::CheckPlan(input, plan));
}
BENCHMARK(CheckPlan)
    ->ArgNames({"backends", "drains"})
    ->Args({512, 1})
    ->Args({512, 128})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
