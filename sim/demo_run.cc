#include "sim/demo_run.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/random.h"

namespace sim {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr absl::Duration kShow = absl::Milliseconds(250);
constexpr absl::Duration kStartPatience = absl::Seconds(30);
// Of the ingress controller.
constexpr absl::Duration kTick = absl::Seconds(10);
// The same seed twice would tie the phase to the age of the first copy.
constexpr uint64_t kPhaseSeed = 1'000'003;
// By then the controller runs, and the ingress controller has looked once.
constexpr absl::Duration kSettled = absl::Seconds(2);

absl::Time Now() { return base::RealClock().Now(); }

DemoColor ColorOf(DemoEvent::Tone tone) {
  switch (tone) {
    case DemoEvent::Tone::kPlain:
      return DemoColor::kNone;
    case DemoEvent::Tone::kGood:
      return DemoColor::kGreen;
    case DemoEvent::Tone::kBad:
      return DemoColor::kRed;
  }
  return DemoColor::kNone;
}

}  // namespace

DemoRun::DemoRun(const DemoStage& stage, DemoRunPlan plan, size_t index)
    : stage_(stage), plan_(std::move(plan)), index_(index) {}

template <typename Condition>
absl::Status DemoRun::WaitFor(Condition condition, absl::Duration patience, const char* what) {
  const absl::Time end = Now() + patience;
  while (!condition()) {
    if (stage_.interrupted) return absl::CancelledError("interrupted");
    if (Now() > end) {
      return absl::DeadlineExceededError(absl::StrCat(plan_.name, ": ", what, " took longer than ",
                                                      absl::FormatDuration(patience)));
    }
    base::RealClock().SleepFor(kLook);
  }
  return absl::OkStatus();
}

absl::Status DemoRun::WaitForController() {
  absl::Status status = world_->StartController(stage_.controller);
  if (!status.ok()) return status;
  status = WaitFor([this] { return world_->ControllerHasRead() || !world_->ControllerIsRunning(); },
                   kStartPatience, "the controller's first look at the load balancer");
  if (status.ok() && !world_->ControllerIsRunning()) {
    status = absl::UnavailableError("the controller ended at once");
  }
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; its log is ", world_->controller_log()));
}

absl::Status DemoRun::SetUp() {
  stage_.screen.Progress(index_, absl::StrCat(plan_.name, ": Pods start"), Now());
  auto world = DemoWorld::Start(stage_.options, plan_.world);
  if (!world.ok()) return world.status();
  world_ = *std::move(world);
  timeline_.open(plan_.world.folder + "/timeline.txt");
  absl::Status status =
      WaitFor([this] { return world_->PodsAreReady(); }, kStartPatience, "starting the Pods");
  if (!status.ok()) return status;
  connected_ = Now();
  status = world_->Connect();
  if (status.ok() && plan_.with_controller) status = WaitForController();
  return status;
}

absl::Time DemoRun::TriggerTime() const {
  base::Random random(stage_.options.seed + kPhaseSeed);
  absl::Time trigger = connected_ + random.Fraction() * kTick;
  const absl::Time earliest = std::max(connected_ + kSettled, Now());
  while (trigger < earliest) trigger += kTick;
  return trigger;
}

absl::StatusOr<RunResult> DemoRun::Run() {
  absl::Status status = SetUp();
  if (!status.ok()) return status;
  const absl::Time planned = TriggerTime();
  stage_.screen.Progress(index_, absl::StrCat(plan_.name, ": is about to roll"), Now());
  status = WaitFor(
      [&] {
        world_->Look(Now());
        return Now() >= planned;
      },
      kStartPatience, "waiting for the start");
  trigger_ = Now();
  if (status.ok()) status = world_->StartRollout();
  if (!status.ok()) return status;
  // StartRollout has its own reading of the clock.
  trigger_ = world_->recorder().History(world_->service(0), trigger_).trigger;
  Watch();
  return Conclude();
}

void DemoRun::Watch() {
  absl::Time shown = absl::InfinitePast();
  for (;;) {
    end_ = Now();
    world_->Look(end_);
    Narrate(end_);
    if (end_ - shown >= kShow) {
      shown = end_;
      ShowProgress(end_);
    }
    if (IsOver(end_)) return;
    base::RealClock().SleepFor(kLook);
  }
}

bool DemoRun::IsOver(absl::Time now) {
  if (stage_.interrupted) {
    faults_.push_back("interrupted");
    return true;
  }
  if (!world_->ControllerIsRunning()) {
    faults_.push_back(absl::StrCat("the controller ended during the rollout; its log is ",
                                   world_->controller_log()));
    return true;
  }
  // What is being written may still change everything.
  const bool over = RolloutsAreOver(now);
  if (over && (HasNeighbour() || world_->WritesAreDone())) return true;
  if (now - trigger_ < stage_.options.patience) return false;
  if (over) return true;
  faults_.push_back(absl::StrCat("the rollout was not over after ",
                                 absl::FormatDuration(stage_.options.patience)));
  return true;
}

// One Service is watched until nothing of the old is left. Where there are two the
// questions are when the neighbour's replacements were routed, and whether the
// Pods of the first were drained.
bool DemoRun::RolloutsAreOver(absl::Time now) const {
  const DemoService& web = world_->service(0);
  const ServiceHistory history = world_->recorder().History(web, now);
  if (!HasNeighbour()) return RolloutIsOver(history, web.replicas);
  const DemoService& neighbour = world_->service(1);
  return ReplacementsRouted(history, web.replicas) && DeletedPodsHaveEnded(history) &&
         ReplacementsRouted(world_->recorder().History(neighbour, now), neighbour.replicas);
}

void DemoRun::Narrate(absl::Time until) {
  for (const DemoEvent& event : world_->recorder().TakeEvents(until)) {
    const std::string line = absl::StrFormat(
        "%6.1f s  %-13s %s", absl::ToDoubleSeconds(event.time - trigger_), event.actor, event.text);
    timeline_ << line << "\n";
    if (plan_.narrate) stage_.screen.Line(line, ColorOf(event.tone));
  }
}

void DemoRun::ShowProgress(absl::Time now) {
  const DemoService& service = world_->service(0);
  const ServiceHistory history = world_->recorder().History(service, now);
  const ServiceFigures figures = Measure(history);
  const auto routed =
      std::count_if(figures.replacement_latency.begin(), figures.replacement_latency.end(),
                    [](absl::Duration latency) { return latency < absl::InfiniteDuration(); });
  const auto drained =
      std::count_if(figures.drain_latency.begin(), figures.drain_latency.end(),
                    [](absl::Duration latency) { return latency < absl::InfiniteDuration(); });
  stage_.screen.Progress(
      index_,
      absl::StrFormat("%-27s %5.1f s good %2d new %2d/%d drained %2d/%d dead %.1f s", plan_.name,
                      absl::ToDoubleSeconds(now - trigger_), GoodBackends(history, now), routed,
                      service.replicas, drained, figures.terminated,
                      absl::ToDoubleSeconds(figures.dead + figures.dead_foreign)),
      now);
}

RunResult DemoRun::Conclude() {
  RunResult result;
  result.name = plan_.title;
  result.with_controller = plan_.with_controller;
  result.trigger = trigger_;
  result.took = end_ - trigger_;
  world_->Stop();
  result.web = Measure(world_->recorder().History(world_->service(0), end_));
  if (HasNeighbour()) {
    result.neighbour = Measure(world_->recorder().History(world_->service(1), end_));
  }
  result.writes = world_->CountWrites(faults_);
  result.controller_peak_mb = world_->controller_peak_mb();
  result.faults = faults_;
  world_->WriteLogs();
  stage_.screen.Progress(
      index_,
      absl::StrFormat("%-27s over after %.1f s", plan_.name, absl::ToDoubleSeconds(result.took)),
      Now());
  return result;
}

}  // namespace sim
