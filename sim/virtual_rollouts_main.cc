// The demonstration's rollout in virtual time, for many seeds: how often its
// promises hold, beside an ingress controller at any phase of its tick and cache.

#include <iostream>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "sim/virtual_rollout.h"

DEFINE_int32(seeds, 20, "How many rollouts");
DEFINE_int64(first, 1, "The first seed");
DEFINE_bool(controller, true, "With the controller beside the ingress controller");
DEFINE_bool(neighbour, false, "A second Service, not opted in, rolls at the same time");
DEFINE_bool(carry_all, false, "IngressClass annotation backend-drain-carry: \"all\"");
DEFINE_bool(trace, false, "Print every event");
DEFINE_bool(json, false, "End with one JSON object on one line");

namespace {

struct Totals {
  int clean = 0;        // every promise held
  int drained = 0;      // every Pod drained before its exit
  int enough_good = 0;  // never fewer good backends than replicas
  int no_dead = 0;      // no dead backend routable that nothing explains
  int min_good = 1 << 20;
  absl::Duration worst_latency;
  absl::Duration dead;
  absl::Duration dead_foreign;
  int pods_drained = 0;
  int pods_terminated = 0;
  int neighbour_in_time = 0;  // routed no later than by the ingress controller alone and more
  absl::Duration worst_neighbour_delay = -absl::InfiniteDuration();
};

// What a neighbour's replacements may take longer than with the ingress controller alone.
absl::Duration NeighbourDelay() { return FLAGS_carry_all ? absl::Seconds(10) : absl::Seconds(70); }

void Add(const sim::VirtualRolloutResult& result, Totals& totals) {
  const sim::ServiceFigures& f = result.figures;
  const bool drained = result.finished && f.terminated == f.drained_before_exit;
  const bool good = f.min_good_backends >= 10;
  const bool no_dead = f.dead == absl::ZeroDuration();
  totals.drained += drained ? 1 : 0;
  totals.enough_good += good ? 1 : 0;
  totals.no_dead += no_dead ? 1 : 0;
  totals.clean += drained && good && no_dead ? 1 : 0;
  totals.min_good = std::min(totals.min_good, f.min_good_backends);
  totals.worst_latency = std::max(totals.worst_latency, sim::Percentile(f.drain_latency, 100));
  totals.dead += f.dead;
  totals.dead_foreign += f.dead_foreign;
  totals.pods_drained += f.drained_before_exit;
  totals.pods_terminated += f.terminated;
}

void AddNeighbour(absl::Duration delay, Totals& totals) {
  totals.neighbour_in_time += delay <= NeighbourDelay() ? 1 : 0;
  totals.worst_neighbour_delay = std::max(totals.worst_neighbour_delay, delay);
}

sim::VirtualRolloutOptions OptionsOf(int64_t seed) {
  sim::VirtualRolloutOptions options;
  options.world.seed = static_cast<uint64_t>(seed);
  options.world.with_controller = FLAGS_controller;
  options.world.load_balancer.min_service_time = absl::Seconds(6);
  options.world.load_balancer.max_service_time = absl::Seconds(14);
  options.neighbour = FLAGS_neighbour;
  options.carry_all = FLAGS_carry_all;
  return options;
}

// When the ingress controller alone routes the neighbour's last replacement: the same
// moment of its tick, and the n-th work request takes as long.
absl::Duration NeighbourAlone(sim::VirtualRolloutOptions options) {
  options.world.with_controller = false;
  return sim::RunVirtualRollout(options).neighbour.replaced_after;
}

void Print(int64_t seed, const sim::VirtualRolloutResult& result, absl::Duration alone) {
  const sim::ServiceFigures& f = result.figures;
  for (const std::string& line : result.timeline) {
    if (FLAGS_trace) std::cout << line << "\n";
  }
  std::cout << absl::StrFormat(
      "seed %d: drained %d/%d, latency p50 %.1f s max %.1f s, fewest good %d, dead %.1f s, "
      "dead by a foreign write %.1f s, replaced after %.1f s, writes %d (%d UpdateBackend), "
      "NIC's %d, our 412s %d",
      seed, f.drained_before_exit, f.terminated,
      absl::ToDoubleSeconds(sim::Percentile(f.drain_latency, 50)),
      absl::ToDoubleSeconds(sim::Percentile(f.drain_latency, 100)), f.min_good_backends,
      absl::ToDoubleSeconds(f.dead), absl::ToDoubleSeconds(f.dead_foreign),
      absl::ToDoubleSeconds(f.replaced_after), result.writes, result.single_writes,
      result.rival_writes, result.conflicts);
  if (FLAGS_neighbour) {
    std::cout << absl::StrFormat(
        ", neighbour replaced after %.1f s, by the ingress controller alone after %.1f s",
        absl::ToDoubleSeconds(result.neighbour.replaced_after), absl::ToDoubleSeconds(alone));
  }
  std::cout << std::endl;
}

void PrintJson(const Totals& totals) {
  std::cout << absl::StrFormat(
      R"({"seeds":%d,"clean":%d,"all_drained":%d,"enough_good":%d,"no_dead":%d,)"
      R"("min_good_backends":%d,"drain_latency_max_s":%.1f,"dead_s":%.1f,"dead_foreign_s":%.1f,)"
      R"("pods_terminated":%d,"pods_drained":%d)",
      FLAGS_seeds, totals.clean, totals.drained, totals.enough_good, totals.no_dead,
      totals.min_good, absl::ToDoubleSeconds(totals.worst_latency),
      absl::ToDoubleSeconds(totals.dead), absl::ToDoubleSeconds(totals.dead_foreign),
      totals.pods_terminated, totals.pods_drained);
  if (FLAGS_neighbour) {
    std::cout << absl::StrFormat(R"(,"neighbour_in_time":%d,"neighbour_delay_max_s":%.1f)",
                                 totals.neighbour_in_time,
                                 absl::ToDoubleSeconds(totals.worst_neighbour_delay));
  }
  std::cout << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "The demonstration's rollout in virtual time, for many seeds.\n"
      "  bazel run -c opt //sim:virtual_rollouts -- --seeds=100\n"
      "  bazel run -c opt //sim:virtual_rollouts -- --first=7 --seeds=1 --trace");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  Totals totals;
  for (int64_t seed = FLAGS_first; seed < FLAGS_first + FLAGS_seeds; ++seed) {
    const sim::VirtualRolloutOptions options = OptionsOf(seed);
    const sim::VirtualRolloutResult result = sim::RunVirtualRollout(options);
    absl::Duration alone = result.neighbour.replaced_after;
    if (FLAGS_neighbour && FLAGS_controller) alone = NeighbourAlone(options);
    Print(seed, result, alone);
    AddNeighbour(result.neighbour.replaced_after - alone, totals);
    Add(result, totals);
  }
  std::cout << absl::StrFormat(
                   "%d rollouts: every promise held in %d; every Pod drained before its exit in "
                   "%d; never fewer than 10 good backends in %d; no unexplained dead backend in %d",
                   FLAGS_seeds, totals.clean, totals.drained, totals.enough_good, totals.no_dead)
            << std::endl;
  if (FLAGS_neighbour) {
    std::cout << absl::StrFormat(
                     "the neighbour's replacements were routed no later than by the ingress "
                     "controller alone plus %s in %d; worst plus %.1f s",
                     absl::FormatDuration(NeighbourDelay()), totals.neighbour_in_time,
                     absl::ToDoubleSeconds(totals.worst_neighbour_delay))
              << std::endl;
  }
  if (FLAGS_json) PrintJson(totals);
  return totals.enough_good == FLAGS_seeds ? 0 : 1;
}
