// Many rollouts with the readiness gate and the drain barrier, in virtual time.
//
//   bazel run -c opt //sim:lifecycle_rollouts -- --seeds=10000
//   bazel run -c opt //sim:lifecycle_rollouts -- --first=7 --seeds=1 --trace
//
// Ends with 1 if something that is promised did not hold.

#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "sim/lifecycle_rollout.h"

DEFINE_int64(seeds, 200, "How many rollouts");
DEFINE_int64(first, 1, "The first seed");
DEFINE_int32(replicas, 5, "The most replicas");
DEFINE_bool(faults, false, "With faults of the APIs, the load balancer and the controller");
DEFINE_string(etag, "both", "When a write moves the ETag: acceptance, completion or both");
DEFINE_bool(trace, false, "Print every event");
DEFINE_bool(json, false, "End with one JSON object on one line");
DEFINE_int64(progress, 500, "Say so after each of so many rollouts; 0: never");
DEFINE_int32(max_failures, 10, "End after so many rollouts with violations");

namespace {

// Of a violation's trace so many lines before it are printed.
constexpr size_t kShortTrace = 60;

struct Totals {
  int64_t rollouts = 0;
  int64_t failed = 0;
  int64_t pods = 0;
  int64_t single = 0;  // rollouts of one replica
  int64_t undrained = 0;
  int64_t by_foreign = 0;
  int64_t taken_back = 0;
  int64_t unreported = 0;
  int64_t unheard = 0;
  int64_t writes = 0;
  absl::Duration longest_wait;
  absl::Duration longest;
  absl::Duration virtual_time;
};

// Of the processor, user and system.
double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return absl::ToDoubleSeconds(absl::DurationFromTimeval(usage.ru_utime) +
                               absl::DurationFromTimeval(usage.ru_stime));
}

void Add(const sim::Lifecycle& lifecycle, const sim::LifecycleResult& result, Totals& totals) {
  ++totals.rollouts;
  totals.failed += result.violations.empty() ? 0 : 1;
  totals.pods += result.pods;
  totals.single += lifecycle.replicas == 1 ? 1 : 0;
  totals.undrained += result.undrained;
  totals.by_foreign += result.undrained_by_foreign;
  totals.taken_back += result.taken_back;
  totals.unreported += result.unreported;
  totals.unheard += result.unheard;
  totals.writes += result.writes;
  totals.longest_wait = std::max(totals.longest_wait, result.longest_wait);
  totals.longest = std::max(totals.longest, result.took);
  totals.virtual_time += result.virtual_time;
}

// What went wrong, and what came before it.
void PrintFailure(const sim::Lifecycle& lifecycle, const sim::LifecycleResult& result) {
  std::cout << Describe(lifecycle);
  for (const std::string& violation : result.violations) std::cout << "  " << violation << "\n";
  const std::vector<std::string> trace = sim::RunLifecycle(lifecycle, /*trace=*/true).trace;
  const auto first = std::find_if(trace.begin(), trace.end(), [](const std::string& line) {
    return line.find("VIOLATION") != std::string::npos;
  });
  const size_t end = static_cast<size_t>(first - trace.begin()) + (first == trace.end() ? 0 : 1);
  for (size_t i = end > kShortTrace ? end - kShortTrace : 0; i < end; ++i) {
    std::cout << trace[i] << "\n";
  }
  std::cout << std::endl;
}

void PrintTotals(const Totals& totals) {
  const double cpu = ProcessorSeconds();
  std::cout << absl::StrFormat(
      "%d rollouts from %d (%d of one replica), %d Pods ended, %.1f virtual hours, %d writes of "
      "ours; %.1f s of one processor, %.1f rollouts/s\n"
      "SIGTERM with an undrained backend: %d, and %d more by a foreign write accepted after the "
      "confirmation; of the %d no process knew in %d, no Event in %d\n"
      "drains taken back after SIGTERM by a foreign write accepted before it: %d\n"
      "longest wait of a Pod %.1f s, longest rollout %.1f s; %d rollouts with violations\n",
      totals.rollouts, FLAGS_first, totals.single, totals.pods,
      absl::ToDoubleHours(totals.virtual_time), totals.writes, cpu,
      static_cast<double>(totals.rollouts) / cpu, totals.undrained, totals.by_foreign,
      totals.undrained, totals.unheard, totals.unreported, totals.taken_back,
      absl::ToDoubleSeconds(totals.longest_wait), absl::ToDoubleSeconds(totals.longest),
      totals.failed);
  if (!FLAGS_json) return;
  std::cout << absl::StrFormat(
      R"({"first":%d,"rollouts":%d,"single":%d,"failed":%d,"pods":%d,"undrained":%d,)"
      R"("undrained_by_foreign":%d,"taken_back":%d,"unheard":%d,"unreported":%d,"virtual_hours":%.1f,)"
      R"("cpu_seconds":%.1f,"rollouts_per_cpu_second":%.1f})"
      "\n",
      FLAGS_first, totals.rollouts, totals.single, totals.failed, totals.pods, totals.undrained,
      totals.by_foreign, totals.taken_back, totals.unheard, totals.unreported,
      absl::ToDoubleHours(totals.virtual_time), cpu, static_cast<double>(totals.rollouts) / cpu);
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "Rollouts with the readiness gate and the drain barrier, in virtual time.\n"
      "  bazel run -c opt //sim:lifecycle_rollouts -- --seeds=10000\n"
      "  bazel run -c opt //sim:lifecycle_rollouts -- --faults --first=7 --seeds=1 --trace");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  Totals totals;
  for (int64_t i = 0; i < FLAGS_seeds && totals.failed < FLAGS_max_failures; ++i) {
    sim::Lifecycle lifecycle =
        sim::MakeLifecycle(static_cast<uint64_t>(FLAGS_first + i), FLAGS_replicas, FLAGS_faults);
    if (FLAGS_etag == "acceptance") lifecycle.etag_moves = sim::EtagMoves::kAtAcceptance;
    if (FLAGS_etag == "completion") lifecycle.etag_moves = sim::EtagMoves::kAtCompletion;
    const sim::LifecycleResult result = sim::RunLifecycle(lifecycle, FLAGS_trace);
    Add(lifecycle, result, totals);
    if (FLAGS_trace) {
      std::cout << Describe(lifecycle);
      for (const std::string& line : result.trace) std::cout << line << "\n";
    } else if (!result.violations.empty()) {
      PrintFailure(lifecycle, result);
    }
    if (FLAGS_progress > 0 && totals.rollouts % FLAGS_progress == 0) {
      std::cerr << totals.rollouts << " rollouts, " << totals.failed << " with violations\n";
    }
  }
  PrintTotals(totals);
  return totals.failed == 0 ? 0 : 1;
}
