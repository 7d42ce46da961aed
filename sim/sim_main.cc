// Campaigns and sweeps of the deterministic simulation.
//
//   bazel run -c opt //sim -- --seeds=2000 --first=1
//   bazel run -c opt //sim -- --seed=17 --trace
//   bazel run -c opt //sim -- --sweep
//
// Ends with 1 if a promise was broken.

#include <sys/resource.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "sim/campaign.h"
#include "sim/sweep.h"

DEFINE_int64(seeds, 1000, "How many scenarios");
DEFINE_uint64(first, 1, "The first seed");
DEFINE_uint64(seed, 0, "Only this one; 0: as the others say");
DEFINE_bool(sweep, false, "One rolling update, with each call of it failing in each way");
DEFINE_int32(stride, 1, "Of --sweep: only every so many-th run");
DEFINE_bool(trace, false, "Print every event of --seed");
DEFINE_bool(json, false, "End with one JSON object on one line");
DEFINE_int64(progress, 0, "Say so after each of so many seeds or runs; 0: never");

namespace {

// Of the processor, user and system.
absl::Duration ProcessorTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

int RunOne(uint64_t seed) {
  const sim::Scenario scenario = sim::MakeScenario(seed);
  const sim::ScenarioResult result = sim::RunScenario(scenario, FLAGS_trace);
  std::cout << sim::Describe(scenario);
  for (const std::string& line : result.trace) std::cout << line << "\n";
  if (!result.breach.has_value()) {
    std::cout << "every promise held: " << absl::FormatDuration(result.virtual_time) << ", "
              << result.writes << " writes, " << result.calls << " calls\n";
    return 0;
  }
  std::cout << sim::DescribeFailure({seed, *result.breach});
  return 1;
}

void PrintTotals(const sim::CampaignResult& result, absl::Duration wall, absl::Duration cpu) {
  const double seeds = static_cast<double>(result.seeds);
  std::cout << sim::DescribeCoverage(result)
            << absl::StrFormat(
                   "%d seeds from %d, %.1f virtual hours, %d calls, %d writes of ours, %d of the "
                   "ingress controller\n"
                   "%.1f s, %.1f seeds/s; %.1f s of one processor, %.1f seeds/s; %d failed\n",
                   result.seeds, FLAGS_first, absl::ToDoubleHours(result.virtual_time),
                   result.calls, result.writes, result.rival_writes, absl::ToDoubleSeconds(wall),
                   seeds / absl::ToDoubleSeconds(wall), absl::ToDoubleSeconds(cpu),
                   seeds / absl::ToDoubleSeconds(cpu), result.failures.size());
}

void PrintJson(const sim::CampaignResult& result, absl::Duration cpu) {
  std::cout << absl::StrFormat(
      R"({"first":%d,"seeds":%d,"failed":%d,"virtual_hours":%.1f,"cpu_seconds":%.1f,)"
      R"("seeds_per_cpu_second":%.1f,"coverage":{)",
      FLAGS_first, result.seeds, result.failures.size(), absl::ToDoubleHours(result.virtual_time),
      absl::ToDoubleSeconds(cpu), static_cast<double>(result.seeds) / absl::ToDoubleSeconds(cpu));
  bool first = true;
  for (const auto& [kind, coverage] : result.coverage) {
    std::cout << absl::StrFormat(R"(%s"%s":{"seeds":%d,"times":%d})", first ? "" : ",",
                                 sim::ActName(kind), coverage.seeds, coverage.fired);
    first = false;
  }
  std::cout << "}}\n";
}

int Sweep() {
  const absl::Time began = base::RealClock().Now();
  const sim::SweepResult result =
      sim::RunSweep({.stride = std::max(1, FLAGS_stride)}, [](const sim::SweepResult& so_far) {
        if (FLAGS_progress > 0 && so_far.runs % FLAGS_progress == 0) {
          std::cerr << so_far.runs << " runs of " << so_far.all << ", " << so_far.failures.size()
                    << " failed\n";
        }
      });
  const absl::Duration cpu = ProcessorTime();
  for (const sim::SweepFailure& failure : result.failures) {
    std::cout << sim::DescribeFailure(failure) << "\n";
  }
  std::cout
      << sim::DescribeSweep(result)
      << absl::StrFormat(
             "%d runs of %d over a rolling update of %d calls, %.1f virtual hours\n"
             "%.1f s; %.1f s of one processor; a single failure had no effect in %d; %d failed\n",
             result.runs, result.all, result.calls, absl::ToDoubleHours(result.virtual_time),
             absl::ToDoubleSeconds(base::RealClock().Now() - began), absl::ToDoubleSeconds(cpu),
             result.without_effect, result.failures.size());
  if (FLAGS_json) {
    std::cout << absl::StrFormat(
        R"({"calls":%d,"all":%d,"runs":%d,"without_effect":%d,"failed":%d,"virtual_hours":%.1f,)"
        R"("cpu_seconds":%.1f})"
        "\n",
        result.calls, result.all, result.runs, result.without_effect, result.failures.size(),
        absl::ToDoubleHours(result.virtual_time), absl::ToDoubleSeconds(cpu));
  }
  return result.failures.empty() ? 0 : 1;
}

// Errors go to the oracles, and the rest is in the trace. With --trace --v=1 each decision
// is told on standard error, explained.
void SetUpLog() {
  const bool explain = FLAGS_trace && FLAGS_v > 0;
  FLAGS_logtostderr = explain;
  FLAGS_minloglevel = explain ? google::GLOG_INFO : google::GLOG_ERROR;
  FLAGS_stderrthreshold = google::GLOG_FATAL;
  for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity) {
    google::SetLogDestination(severity, "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  gflags::SetUsageMessage("Campaigns of the deterministic simulation");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  SetUpLog();
  if (FLAGS_seed != 0) return RunOne(FLAGS_seed);
  if (FLAGS_sweep) return Sweep();
  const absl::Time began = base::RealClock().Now();
  sim::CampaignOptions options;
  options.first = FLAGS_first;
  options.seeds = FLAGS_seeds;
  options.on_seed = [](const sim::CampaignResult& result) {
    if (FLAGS_progress > 0 && result.seeds % FLAGS_progress == 0) {
      std::cerr << result.seeds << " seeds, " << result.failures.size() << " failed\n";
    }
  };
  const sim::CampaignResult result = sim::RunCampaign(options);
  const absl::Duration cpu = ProcessorTime();
  for (const sim::Failure& failure : result.failures) {
    std::cout << sim::DescribeFailure(failure) << "\n";
  }
  PrintTotals(result, base::RealClock().Now() - began, cpu);
  if (FLAGS_json) PrintJson(result, cpu);
  return result.failures.empty() ? 0 : 1;
}
