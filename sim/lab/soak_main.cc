// Many rollouts of one replica and of ten under load, with drain, barrier and gate.

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gflags/gflags.h"
#include "probe/report.h"
#include "sim/lab/lab_cells.h"

DEFINE_int32(rollouts, 100, "of one replica, and as many of ten");
DEFINE_bool(faults, false, "a second time, with faults of the control plane");
DEFINE_bool(json, false, "one JSON object as the last line of standard output");
DEFINE_double(factor, 10, "work requests and the life of Pods are shortened by it");
DEFINE_double(rate, 500, "requests a second in each world");
DEFINE_int32(jobs, 4, "worlds at a time; every second one has a naive application");
DEFINE_string(logs, "", "keep the logs of every world in this folder");
DEFINE_uint64(seed, 1, "of all that is drawn by lot");

namespace sim {
namespace {

std::atomic<bool> interrupted = false;
void OnSignal(int) { interrupted = true; }

int Complain(const absl::Status& status) {
  std::cerr << "soak: " << status.message() << std::endl;
  return 2;
}

struct Sum {
  int64_t rollouts = 0;
  int64_t requests = 0;
  int64_t failed = 0;
  int64_t own_failures = 0;
  int64_t control_requests = 0;
  int64_t control_failed = 0;
};

// The rollouts of one size, shared out among worlds.
void AddCells(const LabPrograms& programs, int replicas, bool faults, std::vector<LabCell>& cells) {
  for (int job = 0; job < FLAGS_jobs; ++job) {
    LabCell cell;
    cell.load.rollouts = FLAGS_rollouts / FLAGS_jobs + (job < FLAGS_rollouts % FLAGS_jobs ? 1 : 0);
    if (cell.load.rollouts == 0) continue;
    cell.name = absl::StrCat(replicas, "-replicas-", job, faults ? "-faults" : "");
    cell.options.programs = programs;
    cell.options.application = job % 2 == 0 ? Application::kNaive : Application::kGraceful;
    cell.options.help = Help::kBarrierAndGate;
    cell.options.replicas = replicas;
    cell.options.max_surge = replicas < 3 ? 1 : 3;
    cell.options.factor = FLAGS_factor;
    cell.options.seed = FLAGS_seed * 100 + static_cast<uint64_t>(job);
    cell.options.faults = faults;
    cell.load.rate = FLAGS_rate;
    cell.load.control = absl::Seconds(5);
    cell.load.before = absl::Seconds(1);
    cell.load.after = absl::Seconds(1);
    cells.push_back(std::move(cell));
  }
}

void TellCell(const LabCell& cell) {
  if (!cell.result.ok()) {
    std::cerr << cell.name << ": " << cell.result.status().message() << std::endl;
    return;
  }
  const LabResult& result = *cell.result;
  std::cerr << cell.name << " (" << ApplicationName(cell.options.application)
            << "): " << result.rollouts << " rollouts, " << result.run.failed << " failed of "
            << result.run.requests() << std::endl;
  std::ofstream(cell.options.folder + "/report.txt")
      << probe::FormatReport({result.control, result.run, result.marks});
}

Sum SumOf(const std::vector<LabCell>& cells, bool faults) {
  Sum sum;
  for (const LabCell& cell : cells) {
    if (cell.options.faults != faults) continue;
    sum.rollouts += cell.result->rollouts;
    sum.requests += cell.result->run.requests();
    sum.failed += cell.result->run.failed;
    sum.own_failures += cell.result->run.own_failures;
    sum.control_requests += cell.result->control.requests();
    sum.control_failed += cell.result->control.failed;
  }
  return sum;
}

std::string Describe(absl::string_view name, const Sum& sum) {
  const double per_million =
      sum.requests == 0 ? 0
                        : static_cast<double>(sum.failed) * 1e6 / static_cast<double>(sum.requests);
  return absl::StrFormat(
      "%s: %d rollouts, %d requests, %d failed (%.1f per million), %d failures of the probe "
      "itself; control: %d failed of %d\n",
      name, sum.rollouts, sum.requests, sum.failed, per_million, sum.own_failures,
      sum.control_failed, sum.control_requests);
}

std::string Json(const Sum& without, const Sum& with) {
  std::string text = absl::StrFormat(
      "{\"rollouts\":%d,\"factor\":%g,\"requests\":%d,\"failed\":%d,\"control_requests\":%d,"
      "\"control_failed\":%d,\"own_failures\":%d",
      without.rollouts, FLAGS_factor, without.requests, without.failed, without.control_requests,
      without.control_failed, without.own_failures);
  if (FLAGS_faults) {
    absl::StrAppendFormat(&text,
                          ",\"rollouts_with_faults\":%d,\"requests_with_faults\":%d,"
                          "\"failed_with_faults\":%d",
                          with.rollouts, with.requests, with.failed);
  }
  return text + "}";
}

int Run() {
  const auto programs = FindLabPrograms();
  if (!programs.ok()) return Complain(programs.status());
  const bool keep = !FLAGS_logs.empty();
  const auto folder = keep ? absl::StatusOr<std::string>(FLAGS_logs) : MakeLabFolder();
  if (!folder.ok()) return Complain(folder.status());
  std::cerr << "Work requests of 6 to 14 s and the life of Pods are shortened by " << FLAGS_factor
            << "." << std::endl;
  std::vector<LabCell> cells;
  for (const bool faults : {false, true}) {
    if (faults && !FLAGS_faults) continue;
    for (const int replicas : {1, 10}) AddCells(*programs, replicas, faults, cells);
  }
  RunCells(*folder, FLAGS_jobs, interrupted, TellCell, cells);
  if (interrupted) return 130;
  const absl::Status status = FirstError(cells);
  if (!status.ok()) {
    std::cerr << "The logs are in " << *folder << std::endl;
    return Complain(status);
  }
  const Sum without = SumOf(cells, false);
  const Sum with = SumOf(cells, true);
  std::ostream& out = FLAGS_json ? std::cerr : std::cout;
  out << Describe("without faults", without);
  if (FLAGS_faults) out << Describe("with faults of the control plane", with);
  out << std::flush;
  if (FLAGS_json) std::cout << Json(without, with) << std::endl;
  const bool clean = without.failed == 0 && without.control_failed == 0;
  if (!clean) std::cerr << "The logs are in " << *folder << std::endl;
  std::error_code error;
  if (clean && !keep) std::filesystem::remove_all(*folder, error);
  return clean ? 0 : 1;
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "rollouts under load with drain, barrier and gate; exit status 0 if no request failed "
      "without faults, 1 if one did, 2 if it could not be done");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_rollouts < 1 || FLAGS_rollouts > 10'000 || FLAGS_jobs < 1 || FLAGS_jobs > 16 ||
      FLAGS_factor < 1 || FLAGS_factor > 50 || FLAGS_rate < 1 || FLAGS_rate > 20'000) {
    std::cerr << "soak: expected --rollouts from 1 to 10000, --jobs to 16, --factor to 50 and "
                 "--rate to 20000"
              << std::endl;
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, sim::OnSignal);
  std::signal(SIGTERM, sim::OnSignal);
  return sim::Run();
}
