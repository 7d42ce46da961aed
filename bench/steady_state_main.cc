// What the controller does while nothing happens: calls, memory and processor time.
//
//   bazel run -c opt //bench:steady_state
//   bazel run -c opt //bench:steady_state -- --seconds=600 --pods=500 --json
//
// The controller's own binary with its default flags between a fake cluster and a
// fake load balancer on loopback.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "bench/world.h"

DEFINE_int32(seconds, 150, "How long it is watched.");
DEFINE_int32(pods, 10, "Pods of the Service, and backends of its set.");
DEFINE_bool(tls, false, "Speak TLS to both fakes.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");
DEFINE_string(controller, "cmd/oci-drain-controller", "The controller's binary.");

namespace bench {
namespace {

constexpr absl::Duration kProgressEvery = absl::Seconds(10);

struct Result {
  double minutes = 0;
  std::map<Entry::Kind, int64_t> counts;
  double peak_mb = 0;
  double resident_mb = 0;
  double cpu_seconds = 0;

  int64_t Count(Entry::Kind kind) const {
    const auto it = counts.find(kind);
    return it == counts.end() ? 0 : it->second;
  }
  int64_t writes() const {
    return Count(Entry::Kind::kUpdateBackend) + Count(Entry::Kind::kUpdateBackendSet) +
           Count(Entry::Kind::kLedgerWrite) + Count(Entry::Kind::kEventWrite);
  }
};

absl::StatusOr<Result> Run() {
  if (FLAGS_seconds < 1 || FLAGS_pods < 1) {
    return absl::InvalidArgumentError("--seconds and --pods: at least 1");
  }
  WorldOptions options;
  options.controller = FLAGS_controller;
  options.pods = FLAGS_pods;
  options.tls = FLAGS_tls;
  auto world = World::Start(options);
  if (!world.ok()) return world.status();
  base::Clock& clock = base::RealClock();
  const std::map<Entry::Kind, int64_t> before = (*world)->journal().counts();
  const double cpu_before = (*world)->controller().CpuSeconds();
  const absl::Time start = clock.Now();
  const absl::Time end = start + absl::Seconds(FLAGS_seconds);
  while (clock.Now() < end) {
    clock.SleepFor(std::min(kProgressEvery, end - clock.Now()));
    std::cerr << absl::StrFormat("steady_state: %.0f of %d s\n",
                                 absl::ToDoubleSeconds(clock.Now() - start), FLAGS_seconds);
  }
  Result result;
  result.minutes = absl::ToDoubleMinutes(clock.Now() - start);
  result.counts = (*world)->journal().counts();
  for (const auto& [kind, count] : before) result.counts[kind] -= count;
  const sim::ChildProcess& controller = (*world)->controller();
  result.peak_mb = controller.PeakMegabytes();
  result.resident_mb = controller.ResidentMegabytes();
  result.cpu_seconds = controller.CpuSeconds() - cpu_before;
  if (result.peak_mb > 0) return result;
  return absl::InternalError(absl::StrCat("the controller ended; it said:\n", (*world)->LogTail()));
}

void Print(const Result& result) {
  std::cout << absl::StrFormat("%-24s %8s %12s\n", "in " + absl::StrCat(FLAGS_seconds, " s"),
                               "count", "per minute");
  for (const auto& [kind, count] : result.counts) {
    std::cout << absl::StrFormat("%-24s %8d %12.2f\n", Name(kind), count,
                                 static_cast<double>(count) / result.minutes);
  }
  std::cout << absl::StrFormat(
      "\nwrites: %d\nmemory: %.1f MB, at most %.1f MB\nprocessor: %.2f s, %.2f %% of one core\n",
      result.writes(), result.resident_mb, result.peak_mb, result.cpu_seconds,
      result.cpu_seconds / result.minutes / 60 * 100);
}

void PrintJson(const Result& result) {
  std::cout << absl::StrFormat(
                   "{\"minutes\":%.2f,\"writes\":%d,\"get_load_balancer\":%d,"
                   "\"get_load_balancer_per_minute\":%.2f,\"list_work_requests\":%d,"
                   "\"peak_memory_mb\":%.1f,\"memory_mb\":%.1f,\"cpu_seconds\":%.2f}",
                   result.minutes, result.writes(), result.Count(Entry::Kind::kGetLoadBalancer),
                   static_cast<double>(result.Count(Entry::Kind::kGetLoadBalancer)) /
                       result.minutes,
                   result.Count(Entry::Kind::kListWorkRequests), result.peak_mb, result.resident_mb,
                   result.cpu_seconds)
            << std::endl;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Counts what the controller does while nothing happens.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    std::cerr << "steady_state: '" << argv[1] << "' is not a flag; --help lists them\n";
    return 2;
  }
  const absl::StatusOr<bench::Result> result = bench::Run();
  if (!result.ok()) {
    std::cerr << "steady_state: " << result.status().message() << "\n";
    return absl::IsInvalidArgument(result.status()) ? 2 : 1;
  }
  FLAGS_json ? bench::PrintJson(*result) : bench::Print(*result);
  return 0;
}
