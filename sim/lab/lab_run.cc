#include "sim/lab/lab_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "probe/probe.h"

namespace sim {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(5);

absl::Time Now() { return base::RealClock().Now(); }

// The probe in a thread of its own, until it is told to end.
class Load {
 public:
  explicit Load(const probe::Options& options)
      : thread_([this, options] {
          figures_ = probe::Run(options, base::RealClock(), {.interrupted = &ended_});
        }) {}
  ~Load() { Join(); }

  absl::StatusOr<probe::RunFigures> End() {
    Join();
    if (figures_.ok()) figures_->interrupted = false;
    return std::move(figures_);
  }

 private:
  void Join() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<bool> ended_ = false;
  absl::StatusOr<probe::RunFigures> figures_ = absl::UnavailableError("it has not run");
  std::thread thread_;
};

class Measurement {
 public:
  Measurement(LabWorld& world, const LabLoad& load, const std::atomic<bool>& interrupted)
      : world_(world), load_(load), interrupted_(interrupted) {}

  absl::StatusOr<LabResult> Run() {
    LabResult result;
    Load control(Options());
    absl::Status status = Let(load_.control);
    auto figures = control.End();
    if (!status.ok()) return status;
    if (!figures.ok()) return figures.status();
    result.control = *std::move(figures);
    Load load(Options());
    status = Let(load_.before);
    for (int i = 0; i < load_.rollouts && status.ok(); ++i) {
      status = Roll(result);
      if (status.ok()) ++result.rollouts;
    }
    if (status.ok()) status = Let(load_.after);
    figures = load.End();
    if (!status.ok()) return status;
    if (!figures.ok()) return figures.status();
    result.run = *std::move(figures);
    result.marks = world_.marks();
    std::stable_sort(result.marks.begin(), result.marks.end(),
                     [](const probe::Mark& a, const probe::Mark& b) { return a.time < b.time; });
    result.killed = world_.killed();
    return result;
  }

 private:
  probe::Options Options() const {
    probe::Options options;
    options.host = "127.0.0.1";
    options.port = world_.port();
    options.clients = load_.clients;
    options.rate = load_.rate;
    options.duration = probe::Options::kMaxDuration;
    options.slow_fraction = load_.slow_fraction;
    options.slow_target = absl::StrCat("/slow?ms=", absl::ToInt64Milliseconds(load_.slow));
    options.timeout = load_.slow + absl::Seconds(20);
    return options;
  }

  template <typename Condition>
  absl::Status Until(Condition condition) {
    for (;;) {
      if (const absl::Status status = world_.Act(); !status.ok()) return status;
      if (interrupted_) return absl::CancelledError("interrupted");
      if (condition()) return absl::OkStatus();
      base::RealClock().SleepFor(kPoll);
    }
  }

  absl::Status Let(absl::Duration pass) {
    const absl::Time end = Now() + pass;
    return Until([end] { return Now() >= end; });
  }

  absl::Status Roll(LabResult& result) {
    const absl::Time start = Now();
    absl::Status status = world_.StartRollout();
    if (!status.ok()) return status;
    bool over = false;
    status = Until([&] {
      over = world_.RolloutIsOver();
      return over || Now() - start > load_.patience;
    });
    result.rollout_time += Now() - start;
    if (!status.ok() || over) return status;
    return absl::DeadlineExceededError(
        absl::StrCat("a rollout was not over after ", absl::FormatDuration(load_.patience)));
  }

  LabWorld& world_;
  const LabLoad& load_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace

absl::StatusOr<LabResult> RunLab(const LabOptions& options, const LabLoad& load,
                                 const std::atomic<bool>& interrupted) {
  auto world = LabWorld::Start(options);
  if (!world.ok()) return world.status();
  auto result = Measurement(**world, load, interrupted).Run();
  (*world)->WriteLogs();
  return result;
}

}  // namespace sim
