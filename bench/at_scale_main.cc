// The controller's own binary in a large cluster, as a whole process.
//
//   bazel run --config=opt //bench:at_scale -- --measure=cold_start
//   bazel run --config=opt //bench:at_scale -- --measure=event_to_wire --churn=2000
//   bazel run --config=opt //bench:at_scale -- --measure=at_rest --churn=2000
//   bazel run --config=opt //bench:at_scale -- --measure=storm --services=1 --load_balancers=50
//
// cold_start: from the start of the process until everything is watched and every load
// balancer read, beside a bare loop that reads the same pages of Pods.
// event_to_wire: as //bench:event_to_wire, among all these Pods.
// at_rest: processor time while nothing happens that concerns a load balancer.
// storm: all Pods of one Service of each load balancer, scaled to none, in one second.
#include <gflags/gflags.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "bench/distribution.h"
#include "bench/mass_world.h"

DEFINE_string(measure, "cold_start", "cold_start, event_to_wire, at_rest or storm.");
DEFINE_int32(pods, 100'000, "Pods in all.");
DEFINE_int32(load_balancers, 50, "Load balancers.");
DEFINE_int32(services, 16, "Services of each load balancer.");
DEFINE_int32(published, 512, "Pods of each load balancer that are published.");
DEFINE_int32(namespaces, 0, "Namespaces; 0: as many as load balancers.");
DEFINE_int32(churn, 0, "Events a second of Pods that are not published.");
DEFINE_int32(drains, 500, "event_to_wire: how many Pods are deleted, one after the other.");
DEFINE_int32(seconds, 20, "at_rest: for how long.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");
DEFINE_string(controller, "cmd/oci-drain-controller", "The controller's binary.");

namespace bench {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr absl::Duration kServiceTime = absl::Seconds(10);  // storm

// What was measured, by name, in the order of the names.
using Numbers = std::map<std::string, double>;

void Say(absl::string_view what) { std::cerr << "at_scale: " << what << std::endl; }

double Megabytes(double bytes) { return bytes / (1 << 20); }

MassOptions OptionsFromFlags() {
  MassOptions options;
  options.controller = FLAGS_controller;
  options.controller_flags = {"--oci_qps=500", "--oci_burst=500"};
  options.shape.load_balancers = FLAGS_load_balancers;
  options.shape.services = FLAGS_services;
  options.shape.published = FLAGS_published;
  options.shape.pods = FLAGS_pods;
  options.shape.namespaces = FLAGS_namespaces == 0 ? FLAGS_load_balancers : FLAGS_namespaces;
  return options;
}

absl::StatusOr<std::unique_ptr<MassWorld>> StartSynced(const MassOptions& options) {
  Say(absl::StrCat("rendering ", options.shape.pods, " Pods"));
  auto world = MassWorld::Start(options);
  if (!world.ok()) return world.status();
  Say("the controller starts");
  const auto synced = (*world)->StartController(kPatience);
  if (!synced.ok()) return synced.status();
  return world;
}

// Events of Pods that are not published, evenly spread over time, while it lives.
class Churn {
 public:
  Churn(MassCluster& cluster, const MassShape& shape, int per_second)
      : thread_([this, &cluster, shape, per_second] {
          if (per_second <= 0) return;
          const int pods = shape.pods - shape.load_balancers * shape.published;
          const absl::Duration pause = absl::Seconds(1) / per_second;
          absl::Time next = base::RealClock().Now();
          for (int i = 0; !over_ && pods > 0; i = (i + 7919) % pods) {
            cluster.Touch(i);
            ++sent_;
            next += pause;
            base::RealClock().SleepFor(next - base::RealClock().Now());
          }
        }) {}
  ~Churn() {
    over_ = true;
    thread_.join();
  }
  int64_t sent() const { return sent_; }

 private:
  std::atomic<bool> over_{false};
  std::atomic<int64_t> sent_{0};
  std::thread thread_;
};

absl::StatusOr<Numbers> ColdStart() {
  const MassOptions options = OptionsFromFlags();
  Say(absl::StrCat("rendering ", options.shape.pods, " Pods"));
  auto world = MassWorld::Start(options);
  if (!world.ok()) return world.status();
  const std::vector<std::string> pages = (*world)->cluster().PodPages(/*by_namespace=*/false);
  // The best of three: what is beside it on the machine only adds.
  BareLoop best;
  for (int i = 0; i < 3; ++i) {
    const auto bare = RunBareLoop((*world)->cluster().port(), pages);
    if (!bare.ok()) return bare.status();
    if (i == 0 || bare->seconds < best.seconds) best = *bare;
  }
  const size_t read_before = (*world)->cluster().list_bytes();
  Say(absl::StrFormat("the bare loop took %.2f s; the controller starts", best.seconds));
  const auto synced = (*world)->StartController(kPatience);
  if (!synced.ok()) return synced.status();
  const double cpu = (*world)->controller().CpuSeconds();
  const double peak = (*world)->controller().PeakMegabytes();
  base::RealClock().SleepFor(absl::Seconds(3));
  Numbers numbers;
  numbers["rss_mb"] = (*world)->controller().ResidentMegabytes();
  numbers["peak_mb"] = std::max(peak, (*world)->controller().PeakMegabytes());
  numbers["seconds"] = absl::ToDoubleSeconds(synced->reads);
  numbers["seconds_to_watches"] = absl::ToDoubleSeconds(synced->lists);
  numbers["cpu_seconds"] = cpu;
  numbers["bare_seconds"] = best.seconds;
  numbers["bare_cpu_seconds"] = best.cpu_seconds;
  numbers["ratio_to_bare_parse"] = numbers["seconds"] / best.seconds;
  numbers["cpu_ratio_to_bare_parse"] = cpu / best.cpu_seconds;
  numbers["pages_mb"] = Megabytes(static_cast<double>(best.bytes));
  numbers["pods_read_mb"] =
      Megabytes(static_cast<double>((*world)->cluster().list_bytes() - read_before));
  return numbers;
}

// A Pod of a set that no other drain of this run has: the sets of one load balancer
// after another, so that few have drains in force at a time.
absl::StatusOr<absl::Duration> DrainOne(MassWorld& world, int i) {
  const MassShape& shape = world.shape();
  const MassPod pod{i % shape.load_balancers, i / shape.load_balancers % shape.services,
                    i / shape.load_balancers / shape.services};
  const auto number = static_cast<size_t>(pod.load_balancer);
  const LoadBalancerLog before = world.logs()[number];
  const absl::Time sent = world.cluster().Delete(pod, absl::Hours(1));
  // Entered in the ledger, drained, and its confirmation entered.
  const bool done = world.Await(
      [&](const std::vector<LoadBalancerLog>& logs) {
        return logs[number].writes() > before.writes() &&
               logs[number].ledgers.size() >= before.ledgers.size() + 2;
      },
      kPatience);
  const LoadBalancerLog after = world.logs()[number];
  if (!done || after.drains.size() != before.drains.size() + 1 || after.refused != before.refused) {
    return absl::InternalError(absl::StrCat("drain ", i, " was not one accepted UpdateBackend; ",
                                            "the controller said:\n", world.LogTail()));
  }
  if (after.ledgers[before.ledgers.size()] > after.drains.back()) {
    return absl::InternalError("the ledger was written after the drain");
  }
  return after.drains.back() - sent;
}

absl::StatusOr<Numbers> EventToWire() {
  MassOptions options = OptionsFromFlags();
  options.controller_flags = {"--coalesce_window=0", "--work_request_poll=5ms", "--oci_qps=100000",
                              "--oci_burst=100000"};
  auto world = StartSynced(options);
  if (!world.ok()) return world.status();
  const Churn churn((*world)->cluster(), options.shape, FLAGS_churn);
  std::vector<absl::Duration> durations;
  for (int i = 0; i < FLAGS_drains; ++i) {
    if (i % 100 == 0) Say(absl::StrCat(i, " of ", FLAGS_drains, " drains"));
    const auto took = DrainOne(**world, i);
    if (!took.ok()) return took.status();
    durations.push_back(*took);
  }
  const Distribution result = DistributionOf(durations);
  return Numbers{{"p50_ms", result.p50_ms},
                 {"p99_ms", result.p99_ms},
                 {"mean_ms", result.mean_ms},
                 {"max_ms", result.max_ms},
                 {"drains", static_cast<double>(durations.size())},
                 {"churn_events", static_cast<double>(churn.sent())},
                 {"rss_mb", (*world)->controller().ResidentMegabytes()}};
}

absl::StatusOr<Numbers> AtRest() {
  auto world = StartSynced(OptionsFromFlags());
  if (!world.ok()) return world.status();
  base::RealClock().SleepFor(absl::Seconds(2));
  const Churn churn((*world)->cluster(), (*world)->shape(), FLAGS_churn);
  const double cpu_before = (*world)->controller().CpuSeconds();
  const int64_t sent_before = churn.sent();
  const absl::Time start = base::RealClock().Now();
  Say(absl::StrCat("watching it for ", FLAGS_seconds, " s"));
  base::RealClock().SleepFor(absl::Seconds(FLAGS_seconds));
  const double took = absl::ToDoubleSeconds(base::RealClock().Now() - start);
  const double cpu = (*world)->controller().CpuSeconds() - cpu_before;
  return Numbers{{"cpu_percent", cpu / took * 100},
                 {"events_per_second", static_cast<double>(churn.sent() - sent_before) / took},
                 {"rss_mb", (*world)->controller().ResidentMegabytes()}};
}

struct StormResult {
  double seconds = 0;
  size_t writes = 0;
  double cpu_seconds = 0;
};

// From the first event until the last load balancer's drains are confirmed.
absl::StatusOr<StormResult> StormOver(int load_balancers) {
  MassOptions options = OptionsFromFlags();
  options.service_time = kServiceTime;
  options.shape.load_balancers = options.shape.namespaces = load_balancers;
  options.shape.pods = std::max(FLAGS_pods, load_balancers * options.shape.published);
  auto world = StartSynced(options);
  if (!world.ok()) return world.status();
  base::RealClock().SleepFor(absl::Seconds(2));
  const std::vector<LoadBalancerLog> before = (*world)->logs();
  const double cpu_before = (*world)->controller().CpuSeconds();
  const absl::Time start = base::RealClock().Now();
  for (int i = 0; i < load_balancers; ++i) {
    (*world)->cluster().ScaleToZero(i, 0);
    for (int k = 0; k < options.shape.published_each(); ++k) {
      (*world)->cluster().Delete({i, 0, k}, absl::Hours(1));
    }
  }
  Say(absl::StrFormat("sent within %.2f s",
                      absl::ToDoubleSeconds(base::RealClock().Now() - start)));
  const auto confirmed = [&](const std::vector<LoadBalancerLog>& logs) {
    for (size_t i = 0; i < logs.size(); ++i) {
      if (logs[i].ledgers.size() < before[i].ledgers.size() + 2) return false;
    }
    return true;
  };
  if (!(*world)->Await(confirmed, kPatience)) {
    return absl::UnavailableError(absl::StrCat("not confirmed; it said:\n", (*world)->LogTail()));
  }
  StormResult result;
  for (const LoadBalancerLog& log : (*world)->logs()) {
    result.writes += log.writes();
    result.seconds = std::max(result.seconds, absl::ToDoubleSeconds(log.ledgers.back() - start));
  }
  result.cpu_seconds = (*world)->controller().CpuSeconds() - cpu_before;
  return result;
}

absl::StatusOr<Numbers> Storm() {
  const auto one = StormOver(1);
  if (!one.ok()) return one.status();
  const auto all = StormOver(FLAGS_load_balancers);
  if (!all.ok()) return all.status();
  return Numbers{{"one_seconds", one->seconds},
                 {"one_writes", static_cast<double>(one->writes)},
                 {"all_seconds", all->seconds},
                 {"all_writes", static_cast<double>(all->writes)},
                 {"all_cpu_seconds", all->cpu_seconds},
                 {"load_balancers", static_cast<double>(FLAGS_load_balancers)},
                 {"ratio", all->seconds / one->seconds}};
}

void Print(Numbers numbers) {
  double load = 0;
  if (getloadavg(&load, 1) == 1) numbers["load_average"] = load;
  std::string json;
  for (const auto& [name, value] : numbers) {
    std::cout << absl::StrFormat("%-28s %12.2f\n", name, value);
    absl::StrAppend(&json, json.empty() ? "" : ",", "\"", name,
                    "\":", absl::StrFormat("%.4g", value));
  }
  if (FLAGS_json) std::cout << "{" << json << "}" << std::endl;
}

int Run() {
  const std::map<std::string, std::function<absl::StatusOr<Numbers>()>> measures = {
      {"cold_start", ColdStart},
      {"event_to_wire", EventToWire},
      {"at_rest", AtRest},
      {"storm", Storm}};
  const auto measure = measures.find(FLAGS_measure);
  const bool fits = FLAGS_services >= 1 && FLAGS_services <= 16 && FLAGS_load_balancers >= 1 &&
                    FLAGS_load_balancers <= 250 && FLAGS_published >= FLAGS_services &&
                    FLAGS_published <= 512 && FLAGS_pods >= FLAGS_load_balancers * FLAGS_published;
  if (measure == measures.end() || !fits) {
    std::cerr << "at_scale: --measure names none, or --pods, --load_balancers (1 to 250), "
                 "--services (1 to 16) and --published (to 512) do not fit together\n";
    return 2;
  }
  const absl::StatusOr<Numbers> numbers = measure->second();
  if (!numbers.ok()) {
    std::cerr << "at_scale: " << numbers.status().message() << "\n";
    return 1;
  }
  Print(*numbers);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Measures the controller as a whole process in a large cluster.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    std::cerr << "at_scale: '" << argv[1] << "' is not a flag; --help lists them\n";
    return 2;
  }
  return bench::Run();
}
