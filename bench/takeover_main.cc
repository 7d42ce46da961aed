// How long it takes until another replica drains.
//
//   bazel run -c opt //bench:takeover
//   bazel run -c opt //bench:takeover -- --runs=5 --kinds=sigterm --json
//
// Three replicas of the controller's binary with its default lease between the fakes.
// The leader is killed, ended or made to stand still, and a Pod is deleted: from that
// signal to the moment when the load balancer has received the UpdateBackend that
// drains the Pod's backend. Each run has replicas of its own.
#include <gflags/gflags.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/world.h"

DEFINE_int32(runs, 20, "Of each kind.");
DEFINE_string(kinds, "kill,wedge,sigterm", "What happens to the leader.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");
DEFINE_uint64(seed, 1, "When in the lease's period it happens.");
DEFINE_string(controller, "cmd/oci-drain-controller-wedge",
              "The controller's binary, of a build that can be made to stand still.");

namespace bench {
namespace {

constexpr int kStandbys = 2;
constexpr absl::Duration kPatience = absl::Minutes(2);
// By then what is to stand still does, and who is to end begins no pass any more: the
// drain that is measured is another replica's.
constexpr absl::Duration kWedgeTime = absl::Seconds(1);
constexpr absl::Duration kEndTime = absl::Milliseconds(100);
constexpr const char* kWedges[] = {"worker", "watch", "pool"};

absl::StatusOr<absl::Duration> RunOnce(const std::string& kind, int run, base::Random& random) {
  base::Clock& clock = base::RealClock();
  WorldOptions options;
  options.controller = FLAGS_controller;
  options.controller_flags = {absl::StrCat("--test_wedge=", kWedges[run % 3]),
                              "--coalesce_window=0"};
  options.seed = static_cast<uint64_t>(run) + 1;
  auto world = World::Start(options);
  if (!world.ok()) return world.status();
  for (int i = 0; i < kStandbys; ++i) {
    const absl::Status added = (*world)->AddReplica();
    if (!added.ok()) return added;
  }
  clock.SleepFor(absl::Milliseconds(random.Between(0, 2'000)));
  const Pod pod = (*world)->LivePods().back();
  (*world)->journal().Clear();
  const absl::Time from = clock.Now();
  (*world)->controller().Signal(kind == "kill" ? SIGKILL : kind == "wedge" ? SIGUSR1 : SIGTERM);
  if (kind == "wedge") clock.SleepFor(kWedgeTime);
  if (kind == "sigterm") clock.SleepFor(kEndTime);
  (*world)->Delete(pod);
  absl::Time drained;
  const auto is_drained = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      if (entry.kind != Entry::Kind::kUpdateBackend || !entry.accepted()) continue;
      drained = entry.time;
      return true;
    }
    return false;
  };
  if ((*world)->journal().Await(is_drained, kPatience)) return drained - from;
  return absl::DeadlineExceededError(
      absl::StrCat(kind, ": nobody drained; the leader said last:\n", (*world)->LogTail()));
}

using Results = std::map<std::string, std::vector<absl::Duration>>;

absl::StatusOr<Results> Run() {
  Results results;
  base::Random random(FLAGS_seed);
  const std::vector<std::string> kinds = absl::StrSplit(FLAGS_kinds, ',');
  for (const std::string& kind : kinds) {
    if (kind != "kill" && kind != "wedge" && kind != "sigterm") {
      return absl::InvalidArgumentError(absl::StrCat("--kinds: ", kind));
    }
    for (int run = 0; run < FLAGS_runs; ++run) {
      const absl::StatusOr<absl::Duration> took = RunOnce(kind, run, random);
      if (!took.ok()) return took.status();
      results[kind].push_back(*took);
      std::cerr << absl::StrFormat("takeover: %s %d of %d, %.2f s\n", kind, run + 1, FLAGS_runs,
                                   absl::ToDoubleSeconds(*took));
    }
    std::sort(results[kind].begin(), results[kind].end());
  }
  return results;
}

double Seconds(const std::vector<absl::Duration>& sorted, double share) {
  const auto at = static_cast<size_t>(share * static_cast<double>(sorted.size() - 1));
  return absl::ToDoubleSeconds(sorted[at]);
}

void Print(const Results& results) {
  std::cout << absl::StrFormat("%-10s %5s %8s %8s %8s\n", "seconds", "runs", "min", "p50", "max");
  for (const auto& [kind, times] : results) {
    std::cout << absl::StrFormat("%-10s %5d %8.2f %8.2f %8.2f\n", kind, times.size(),
                                 Seconds(times, 0), Seconds(times, 0.5), Seconds(times, 1));
  }
}

void PrintJson(const Results& results) {
  std::string members;
  for (const auto& [kind, times] : results) {
    absl::StrAppend(&members,
                    absl::StrFormat("%s\"%s_s_min\":%.3f,\"%s_s_p50\":%.3f,\"%s_s_max\":%.3f",
                                    members.empty() ? "" : ",", kind, Seconds(times, 0), kind,
                                    Seconds(times, 0.5), kind, Seconds(times, 1)));
  }
  std::cout << absl::StrFormat("{\"runs\":%d,%s}", FLAGS_runs, members) << std::endl;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Measures how long it takes until another replica drains.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1 || FLAGS_runs < 1) {
    std::cerr << "takeover: flags only, and --runs at least 1; --help lists them\n";
    return 2;
  }
  const absl::StatusOr<bench::Results> results = bench::Run();
  if (!results.ok()) {
    std::cerr << "takeover: " << results.status().message() << "\n";
    return absl::IsInvalidArgument(results.status()) ? 2 : 1;
  }
  FLAGS_json ? bench::PrintJson(*results) : bench::Print(*results);
  return 0;
}
