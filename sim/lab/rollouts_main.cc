// The experiment: failures of applications that end in four ways, with more or less help.

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "gflags/gflags.h"
#include "probe/report.h"
#include "probe/timeline.h"
#include "sim/lab/lab_cells.h"
#include "sim/program.h"

DEFINE_bool(full, false, "every combination, at the experiment's own times");
DEFINE_double(factor, 0, "shorten every time by it; 0: 10, with --full 1");
DEFINE_int32(jobs, 8, "measurements at a time");
DEFINE_bool(json, false, "one JSON object as the last line of standard output");
DEFINE_string(docs, "", "put the tables into rollouts.md of this folder, and plots beside it");
DEFINE_string(logs, "", "keep every measurement's logs in this folder");
DEFINE_uint64(seed, 1, "of all that is drawn by lot");

namespace sim {
namespace {

constexpr char kBegin[] = "<!-- measured: begin -->\n";
constexpr char kEnd[] = "<!-- measured: end -->\n";

std::atomic<bool> interrupted = false;
void OnSignal(int) { interrupted = true; }

int Complain(const absl::Status& status) {
  std::cerr << "rollouts: " << status.message() << std::endl;
  return 2;
}

// The experiment's: 20 clients, some 175 requests a second, 110 s, the rollout after 25 s.
LabLoad Load(double factor) {
  LabLoad load;
  load.control = absl::Seconds(30) / factor;
  load.before = absl::Seconds(25) / factor;
  load.after = absl::Seconds(5) / factor;
  load.patience = absl::Minutes(6);
  return load;
}

LabCell MakeCell(const LabPrograms& programs, Application application, Help help) {
  LabCell cell;
  cell.options.programs = programs;
  cell.options.application = application;
  cell.options.help = help;
  cell.options.factor = FLAGS_factor;
  cell.options.seed = FLAGS_seed;
  cell.load = Load(FLAGS_factor);
  cell.name = absl::StrReplaceAll(absl::StrCat(ApplicationName(application), "-", HelpName(help)),
                                  {{" ", "_"}, {",", ""}});
  return cell;
}

constexpr Application kRows[] = {Application::kNaive, Application::kGraceful, Application::kPreStop,
                                 Application::kConnectionClose};

std::vector<Help> Columns() {
  if (!FLAGS_full) return {Help::kNone, Help::kBarrierAndGate};
  return {Help::kNone, Help::kDrain, Help::kBarrier, Help::kBarrierAndGate};
}

// What is left when the drain is confirmed before SIGTERM: one request of twenty takes
// shorter or longer than drain-wait lingers, which is 2 s.
struct LongRequests {
  Application application;
  absl::Duration takes;
};
constexpr LongRequests kLongRequests[] = {{Application::kNaive, absl::Seconds(1)},
                                          {Application::kNaive, absl::Seconds(4)},
                                          {Application::kGraceful, absl::Seconds(4)}};

std::vector<LabCell> MakeCells(const LabPrograms& programs) {
  std::vector<LabCell> cells;
  for (const Application row : kRows) {
    for (const Help column : Columns()) cells.push_back(MakeCell(programs, row, column));
  }
  if (!FLAGS_full) return cells;
  for (const LongRequests& one : kLongRequests) {
    LabCell cell = MakeCell(programs, one.application, Help::kBarrierAndGate);
    cell.load.slow = one.takes / FLAGS_factor;
    cell.load.slow_fraction = 0.05;
    absl::StrAppend(&cell.name, "-long_", absl::FormatDuration(one.takes));
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string Classes(const probe::RunFigures& figures) {
  std::vector<std::string> parts;
  for (int i = 0; i < probe::kFailureClasses; ++i) {
    if (figures.by_class[i] == 0) continue;
    parts.push_back(absl::StrCat(probe::FailureName(static_cast<probe::FailureClass>(i)), " ",
                                 figures.by_class[i]));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Failed(const LabCell& cell) {
  return absl::StrCat(cell.result->run.failed, " of ", cell.result->run.requests());
}

std::string RowOf(absl::string_view name, const std::vector<std::string>& values) {
  return absl::StrCat("| ", name, " | ", absl::StrJoin(values, " | "), " |\n");
}

// Of the cells for kLongRequests.
std::string LongTable(const std::vector<LabCell>& cells) {
  std::string text =
      "\n| with drain, barrier, gate; a request in 20 is long | failed | how |\n"
      "| --- | --- | --- |\n";
  for (const LabCell& cell : cells) {
    const absl::Duration takes = cell.load.slow * FLAGS_factor;
    text += RowOf(absl::StrCat(ApplicationName(cell.options.application), ", ",
                               absl::FormatDuration(takes), " long"),
                  {Failed(cell), Classes(cell.result->run)});
  }
  return text;
}

std::string Tables(const std::vector<LabCell>& cells) {
  const std::vector<Help> columns = Columns();
  std::vector<std::string> heads;
  for (const Help column : columns) heads.emplace_back(HelpName(column));
  std::string text = RowOf("failed requests", heads);
  text += RowOf("---", std::vector<std::string>(columns.size(), "---"));
  size_t at = 0;
  int64_t controls = 0;
  int64_t control_failed = 0;
  std::vector<std::string> classes;
  for (const LabCell& cell : cells) {
    controls += cell.result->control.requests();
    control_failed += cell.result->control.failed;
  }
  for (const Application row : kRows) {
    std::vector<std::string> values;
    for (size_t i = 0; i < columns.size(); ++i, ++at) {
      values.push_back(Failed(cells[at]));
      if (cells[at].result->run.failed == 0) continue;
      classes.push_back(RowOf(absl::StrCat(ApplicationName(row), ", ", heads[i]),
                              {Classes(cells[at].result->run)}));
    }
    text += RowOf(ApplicationName(row), values);
  }
  absl::StrAppend(&text, "\nControl runs, without a rollout: ", control_failed, " failed of ",
                  controls, ".\n");
  if (FLAGS_full) text += LongTable({cells.begin() + static_cast<long>(at), cells.end()});
  if (classes.empty()) return text;
  return absl::StrCat(text, "\n| the failures | |\n| --- | --- |\n", absl::StrJoin(classes, ""));
}

std::string Settings() {
  return absl::StrCat(
      absl::FormatTime("%Y-%m-%d", base::RealClock().Now(), absl::UTCTimeZone()), ", `./demo ",
      FLAGS_full ? "--full" : "", "`, seed ", FLAGS_seed, ", ", FLAGS_jobs,
      " measurements at a time, every time shortened by ", FLAGS_factor,
      ": 4 replicas, maxSurge 1, maxUnavailable 0; 20 clients that keep their connections, at "
      "most 175 requests a second; one rollout after 25 s; work requests of 6 to 14 s. ",
      "HAProxy with its default http-reuse, and `retries 0`.\n");
}

std::string CellJson(const LabCell& cell) {
  const LabResult& result = *cell.result;
  return absl::StrFormat(
      "{\"application\":\"%s\",\"help\":\"%s\",\"long_request_seconds\":%g,\"requests\":%d,"
      "\"failed\":%d,\"control_requests\":%d,\"control_failed\":%d,\"rollout_seconds\":%.1f}",
      ApplicationName(cell.options.application), HelpName(cell.options.help),
      absl::ToDoubleSeconds(cell.load.slow), result.run.requests(), result.run.failed,
      result.control.requests(), result.control.failed, absl::ToDoubleSeconds(result.rollout_time));
}

absl::Status WriteDocs(const std::vector<LabCell>& cells) {
  const std::string page = FLAGS_docs + "/rollouts.md";
  auto text = ReadFile(page);
  if (!text.ok()) return text.status();
  const size_t begin = text->find(kBegin);
  const size_t end = text->find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(page, ": the marks for the tables are gone"));
  }
  const size_t from = begin + sizeof(kBegin) - 1;
  text->replace(from, end - from, absl::StrCat("\n", Settings(), "\n", Tables(cells), "\n"));
  std::ofstream(page) << *text;
  for (const LabCell& cell : cells) {
    if (cell.options.application != Application::kNaive || cell.load.slow_fraction > 0) continue;
    const bool helped = cell.options.help == Help::kBarrierAndGate;
    if (!helped && cell.options.help != Help::kNone) continue;
    std::ofstream(FLAGS_docs + (helped ? "/rollout_helped.svg" : "/rollout_naive.svg"))
        << probe::TimelineSvg(absl::StrCat(ApplicationName(cell.options.application), ", ",
                                           HelpName(cell.options.help)),
                              cell.result->run, cell.result->marks);
  }
  return absl::OkStatus();
}

void TellCell(const LabCell& cell) {
  std::cerr << cell.name << ": "
            << (cell.result.ok() ? absl::StrCat(Failed(cell), " failed")
                                 : std::string(cell.result.status().message()))
            << std::endl;
  if (!cell.result.ok()) return;
  std::ofstream(cell.options.folder + "/report.txt")
      << probe::FormatReport({cell.result->control, cell.result->run, cell.result->marks});
}

int Run() {
  const auto programs = FindLabPrograms();
  if (!programs.ok()) return Complain(programs.status());
  const bool keep = !FLAGS_logs.empty();
  const auto folder = keep ? absl::StatusOr<std::string>(FLAGS_logs) : MakeLabFolder();
  if (!folder.ok()) return Complain(folder.status());
  std::vector<LabCell> cells = MakeCells(*programs);
  RunCells(*folder, FLAGS_jobs, interrupted, TellCell, cells);
  if (interrupted) return 130;
  if (const absl::Status status = FirstError(cells); !status.ok()) {
    std::cerr << "The logs are in " << *folder << std::endl;
    return Complain(status);
  }
  (FLAGS_json ? std::cerr : std::cout)
      << "\nRequests that a rollout lost, on real connections through HAProxy.\n"
      << Settings() << "\n"
      << Tables(cells) << std::flush;
  if (!FLAGS_docs.empty()) {
    if (const absl::Status status = WriteDocs(cells); !status.ok()) return Complain(status);
  }
  if (FLAGS_json) {
    std::vector<std::string> parts;
    for (const LabCell& cell : cells) parts.push_back(CellJson(cell));
    std::cout << "{\"factor\":" << FLAGS_factor << ",\"cells\":[" << absl::StrJoin(parts, ",")
              << "]}" << std::endl;
  }
  std::error_code error;
  if (!keep) std::filesystem::remove_all(*folder, error);
  return 0;
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "the requests that a rollout loses, on real connections; see docs/rollouts.md");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_factor == 0) FLAGS_factor = FLAGS_full ? 1 : 10;
  if (FLAGS_factor < 1 || FLAGS_factor > 50 || FLAGS_jobs < 1 || FLAGS_jobs > 16) {
    std::cerr << "rollouts: expected --factor from 1 to 50 and --jobs from 1 to 16" << std::endl;
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, sim::OnSignal);
  std::signal(SIGTERM, sim::OnSignal);
  return sim::Run();
}
