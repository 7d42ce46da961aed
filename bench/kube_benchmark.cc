// What the Kubernetes edge costs: decoding what is listed and watched, keeping it, and
// reading it back. Bodies are recorded ones (testdata/kube-1.36), managedFields and all.
//
//   bazel run --config=opt //bench:kube_benchmark
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/mass_cluster.h"
#include "bench/mass_world.h"
#include "http/cpprest_transport.h"
#include "kube/decoder.h"
#include "kube/recorded.h"
#include "kube/reflector.h"
#include "kube/rest_kube_api.h"
#include "kube/store.h"
#include "kube/watch_decoder.h"

namespace {

constexpr int kPods = 10'000;

// One load balancer with 16 Services of 32 Pods, in one namespace of many Pods.
bench::MassCluster& Cluster() {
  static bench::MassCluster* const cluster =
      bench::MassCluster::Start({.pods = kPods}).value().release();
  return *cluster;
}

std::unique_ptr<kube::RestKubeApi> Api() {
  std::shared_ptr<http::Transport> transport =
      http::MakeCpprestTransport({.base_url = Cluster().url()}).value();
  return std::make_unique<kube::RestKubeApi>(transport, transport, nullptr);
}

std::string Page(kube::Resource resource) {
  kube::ListRequest request;
  request.resource = resource;
  return Api()->List(request).value();
}

// Argument: the resource.
void DecodePage(benchmark::State& state) {
  const auto resource = static_cast<kube::Resource>(state.range(0));
  const std::string page = Page(resource);
  size_t objects = 0;
  for (auto _ : state) objects = kube::DecodeListPage(resource, page)->objects.size();
  state.counters["objects"] = static_cast<double>(objects);
  state.SetBytesProcessed(static_cast<int64_t>(page.size()) * state.iterations());
  state.SetLabel(std::string(kube::ResourceName(resource)));
}
BENCHMARK(DecodePage)
    ->Arg(static_cast<int>(kube::Resource::kPods))
    ->Arg(static_cast<int>(kube::Resource::kEndpointSlices))
    ->Arg(static_cast<int>(kube::Resource::kServices))
    ->Unit(benchmark::kMicrosecond);

// Events of one Pod, as they come.
void DecodeWatch(benchmark::State& state) {
  const kube::Recorded recorded = kube::ReadRecorded("pods-watch-metadata");
  std::string bytes;
  for (const std::string& line : recorded.lines) absl::StrAppend(&bytes, line, "\n");
  kube::WatchDecoder decoder(kube::Resource::kPods, kube::Reflector::kMaxLineBytes);
  int64_t events = 0;
  for (auto _ : state) {
    const absl::Status status = decoder.Feed(bytes, [&](kube::WatchEvent) {
      ++events;
      return absl::OkStatus();
    });
    if (!status.ok()) state.SkipWithError("not decoded");
  }
  state.SetItemsProcessed(events);
}
BENCHMARK(DecodeWatch)->Unit(benchmark::kMicrosecond);

// Lists all Pods of a cluster into a store, over HTTP; beside it the bare loop.
void ListIntoStore(benchmark::State& state) {
  const auto api = Api();
  for (auto _ : state) {
    kube::ClusterStore store(base::RealClock());
    const auto sink = store.MakeSink(kube::Resource::kPods, "");
    base::Random random(1);
    kube::Reflector reflector({kube::Resource::kPods}, *sink, random);
    while (!reflector.synced()) {
      reflector.OnPage(api->List(reflector.Next(absl::UnixEpoch()).list), absl::UnixEpoch());
    }
    if (store.PodCount() != kPods) state.SkipWithError("Pods are missing");
  }
}
BENCHMARK(ListIntoStore)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void ListOverHttp(benchmark::State& state) {
  const auto api = Api();
  for (auto _ : state) {
    kube::ListRequest request;
    request.resource = kube::Resource::kPods;
    for (int from = 0; from < kPods; from += request.limit) {
      request.continue_token = from == 0 ? "" : absl::StrCat(from);
      if (!api->List(request).ok()) state.SkipWithError("not listed");
    }
  }
}
BENCHMARK(ListOverHttp)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void BareLoop(benchmark::State& state) {
  const std::vector<std::string> pages = Cluster().PodPages(/*by_namespace=*/false);
  for (auto _ : state) {
    if (!bench::RunBareLoop(Cluster().port(), pages).ok()) state.SkipWithError("not read");
  }
}
BENCHMARK(BareLoop)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

// A store of one namespace, full.
class StoreBenchmark : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State&) override {
    if (store_ != nullptr) return;
    store_ = std::make_unique<kube::ClusterStore>(base::RealClock());
    const auto api = Api();
    base::Random random(1);
    for (const kube::Resource resource : {kube::Resource::kEndpointSlices, kube::Resource::kPods}) {
      sinks_.push_back(store_->MakeSink(resource, ""));
      kube::Reflector reflector({resource}, *sinks_.back(), random);
      while (!reflector.synced()) {
        reflector.OnPage(api->List(reflector.Next(absl::UnixEpoch()).list), absl::UnixEpoch());
      }
    }
    page_ = *kube::DecodeListPage(kube::Resource::kPods, Page(kube::Resource::kPods));
  }

 protected:
  std::unique_ptr<kube::ClusterStore> store_;
  std::vector<std::unique_ptr<kube::ReflectorSink>> sinks_;
  kube::ListPage page_;
};

// One event of a Pod among ten thousand: only its resourceVersion moved.
BENCHMARK_F(StoreBenchmark, Update)(benchmark::State& state) {
  size_t next = 0;
  int64_t version = 20'000'000;
  for (auto _ : state) {
    kube::Object& object = page_.objects[next++ % page_.objects.size()];
    std::get<kube::PodMetadata>(object).resource_version = absl::StrCat(++version);
    sinks_.back()->OnObject(object);
  }
}

// What a pass over a load balancer of 512 Pods asks the store.
BENCHMARK_F(StoreBenchmark, Snapshot)(benchmark::State& state) {
  for (auto _ : state) {
    size_t found = 0;
    for (int i = 0; i < 16; ++i) {
      for (const auto& slice : store_->SlicesOf({"team-000", absl::StrFormat("web-000-%02d", i)})) {
        for (const kube::Endpoint& endpoint : slice->endpoints) {
          found += store_->FindPod({endpoint.target_namespace, endpoint.target_name}).has_value();
        }
      }
    }
    if (found != 512) state.SkipWithError("Pods are missing");
  }
}

}  // namespace

BENCHMARK_MAIN();
