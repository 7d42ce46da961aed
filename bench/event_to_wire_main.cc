// From the event of a Pod's deletion to the write that drains its backend.
//
//   bazel run -c opt //bench:event_to_wire
//   bazel run -c opt //bench:event_to_wire -- --json
//
// The controller's own binary between a fake cluster and a fake load balancer on
// loopback. A Pod of ten is deleted: from the moment before the event's bytes are
// written to the watch's socket to the moment when the load balancer has received
// the UpdateBackend, the write of the ledger's ConfigMap included. Then the Pod
// ends, another takes its place, the controller puts that into the set, and the
// next Pod is deleted once all that is confirmed and recorded.
#include <gflags/gflags.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/distribution.h"
#include "bench/drain_timing.h"
#include "bench/world.h"

DEFINE_int32(drains, 1000, "How many Pods are deleted, one after the other.");
DEFINE_int32(pods, 10, "Pods of the Service, and backends of its set.");
DEFINE_bool(tls, false, "Speak TLS to both fakes.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");
DEFINE_uint64(seed, 1, "Which Pod is deleted next, and the names of the fakes' objects.");
DEFINE_string(controller, "cmd/oci-drain-controller", "The controller's binary.");

namespace bench {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr absl::Duration kProgressEvery = absl::Seconds(2);

struct Result {
  std::vector<absl::Duration> event_to_wire;
  std::vector<absl::Duration> event_to_ledger;
  std::vector<absl::Duration> ledger_to_wire;
  absl::Duration took;
  double peak_mb = 0;
  double load_average = 0;

  void Add(const DrainTiming& timing) {
    event_to_wire.push_back(timing.event_to_wire);
    event_to_ledger.push_back(timing.event_to_ledger);
    ledger_to_wire.push_back(timing.ledger_to_wire);
  }
};

absl::Status Await(World& world, absl::string_view what, const Journal::Predicate& done) {
  if (world.journal().Await(done, kPatience)) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("waited ", absl::FormatDuration(kPatience),
                                                  " until ", what, "; the controller said last:\n",
                                                  world.LogTail()));
}

// One Pod's end, and the beginning of another one.
absl::StatusOr<DrainTiming> DrainOne(World& world, const Pod& pod) {
  const drain::BackendKey key = world.KeyOf(pod);
  world.journal().Clear();
  world.Delete(pod);
  absl::Status status = Await(world, "the drain was confirmed",
                              [&](const auto& entries) { return IsConfirmed(entries, key); });
  if (!status.ok()) return status;
  absl::StatusOr<DrainTiming> timing = TimingOf(world.journal().entries(), pod, key);
  if (!timing.ok()) return timing;
  world.journal().Clear();
  world.LetClusterSettle();
  status = Await(world, "the Pod was replaced",
                 [&](const auto& entries) { return IsForgotten(entries, key); });
  if (!status.ok()) return status;
  return timing;
}

void TellProgress(const Result& result, absl::Time& next) {
  const absl::Time now = base::RealClock().Now();
  if (now < next) return;
  next = now + kProgressEvery;
  std::cerr << absl::StrFormat("event_to_wire: %d of %d drains, p50 %.2f ms so far\n",
                               result.event_to_wire.size(), FLAGS_drains,
                               DistributionOf(result.event_to_wire).p50_ms);
}

absl::StatusOr<Result> Run() {
  if (FLAGS_drains < 1 || FLAGS_pods < 4) {
    return absl::InvalidArgumentError("--drains: at least 1; --pods: at least 4");
  }
  WorldOptions options;
  options.controller = FLAGS_controller;
  options.controller_flags = {"--coalesce_window=0", "--work_request_poll=5ms", "--oci_qps=100000",
                              "--oci_burst=100000"};
  options.pods = FLAGS_pods;
  options.tls = FLAGS_tls;
  options.seed = FLAGS_seed;
  auto world = World::Start(options);
  if (!world.ok()) return world.status();
  base::Random random(FLAGS_seed);
  // The drain of the last backend that is proven to serve would wait for the health
  // of the new ones.
  const Pod kept = (*world)->LivePods().front();
  Result result;
  const absl::Time start = base::RealClock().Now();
  absl::Time next_progress = start + kProgressEvery;
  for (int i = 0; i < FLAGS_drains; ++i) {
    std::vector<Pod> pods = (*world)->LivePods();
    std::erase_if(pods, [&](const Pod& pod) { return pod.uid == kept.uid; });
    if (pods.size() + 1 != static_cast<size_t>(FLAGS_pods)) {
      return absl::InternalError(absl::StrCat(pods.size(), " live Pods"));
    }
    const auto chosen = static_cast<size_t>(random.Between(0, FLAGS_pods - 2));
    const auto timing = DrainOne(**world, pods[chosen]);
    if (!timing.ok()) return timing.status();
    result.Add(*timing);
    TellProgress(result, next_progress);
  }
  result.took = base::RealClock().Now() - start;
  result.peak_mb = (*world)->controller().PeakMegabytes();
  if (getloadavg(&result.load_average, 1) != 1) result.load_average = 0;
  return result;
}

void PrintTable(const Result& result) {
  std::cout << absl::StrFormat("%d drains in %.1f s, load average %.2f\n\n",
                               result.event_to_wire.size(), absl::ToDoubleSeconds(result.took),
                               result.load_average);
  std::cout << absl::StrFormat("%-28s %8s %8s %8s %8s\n", "milliseconds", "p50", "p99", "mean",
                               "max");
  const auto row = [](const char* name, const std::vector<absl::Duration>& durations) {
    const Distribution d = DistributionOf(durations);
    std::cout << absl::StrFormat("%-28s %8.2f %8.2f %8.2f %8.2f\n", name, d.p50_ms, d.p99_ms,
                                 d.mean_ms, d.max_ms);
  };
  row("event to UpdateBackend", result.event_to_wire);
  row("  event to ledger write", result.event_to_ledger);
  row("  ledger to UpdateBackend", result.ledger_to_wire);
  std::cout << absl::StrFormat(
      "\nEach was one UpdateBackend with If-Match, after the ledger's write.\n"
      "Peak memory of the controller: %.1f MB\n",
      result.peak_mb);
}

void PrintJson(const Result& result) {
  const Distribution whole = DistributionOf(result.event_to_wire);
  const Distribution ledger = DistributionOf(result.event_to_ledger);
  const Distribution wire = DistributionOf(result.ledger_to_wire);
  const size_t count = result.event_to_wire.size();
  std::cout << absl::StrFormat(
                   "{\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"mean_ms\":%.3f,\"max_ms\":%.3f,"
                   "\"drains\":%d,\"single_flips\":%d,\"with_if_match\":%d,\"ledger_first\":%d,"
                   "\"event_to_ledger_p50_ms\":%.3f,\"event_to_ledger_p99_ms\":%.3f,"
                   "\"ledger_to_wire_p50_ms\":%.3f,\"ledger_to_wire_p99_ms\":%.3f,"
                   "\"peak_memory_mb\":%.1f,\"load_average\":%.2f,\"seconds\":%.1f}",
                   whole.p50_ms, whole.p99_ms, whole.mean_ms, whole.max_ms, count, count, count,
                   count, ledger.p50_ms, ledger.p99_ms, wire.p50_ms, wire.p99_ms, result.peak_mb,
                   result.load_average, absl::ToDoubleSeconds(result.took))
            << std::endl;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "Measures the time from a Pod's deletion on the watch to the write that drains it.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    std::cerr << "event_to_wire: '" << argv[1] << "' is not a flag; --help lists them\n";
    return 2;
  }
  const absl::StatusOr<bench::Result> result = bench::Run();
  if (!result.ok()) {
    std::cerr << "event_to_wire: " << result.status().message() << "\n";
    return absl::IsInvalidArgument(result.status()) ? 2 : 1;
  }
  FLAGS_json ? bench::PrintJson(*result) : bench::PrintTable(*result);
  return 0;
}
