#include "health/vitals.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace health {

Vitals::LoopId Vitals::AddLoop(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  loops_[next_loop_].name = std::string(name);
  return next_loop_++;
}

void Vitals::RemoveLoop(LoopId loop) {
  absl::MutexLock lock(&mutex_);
  loops_.erase(loop);
}

void Vitals::Tick(LoopId loop) {
  std::string name;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = loops_.find(loop);
    if (it == loops_.end()) return;
    it->second.ticked = true;
    it->second.until = absl::ZeroDuration();
    if (on_tick_) name = it->second.name;
  }
  if (on_tick_) on_tick_(name);
}

void Vitals::Wait(LoopId loop, absl::Duration until) {
  absl::MutexLock lock(&mutex_);
  const auto it = loops_.find(loop);
  if (it != loops_.end()) it->second.until = until;
}

void Vitals::SetPart(absl::string_view name, bool ok, absl::string_view note) {
  absl::MutexLock lock(&mutex_);
  parts_[std::string(name)] = {std::string(name), ok, std::string(note)};
}

VitalsReport Vitals::Look(absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  if (last_look_ != absl::InfiniteDuration()) {
    seen_ += std::clamp(now - last_look_, absl::ZeroDuration(), kLongestGap);
  }
  last_look_ = now;
  VitalsReport report;
  report.ready = true;
  for (auto& [id, loop] : loops_) {
    if (std::exchange(loop.ticked, false) || now < loop.until) loop.since = seen_;
    const absl::Duration age = seen_ - loop.since;
    const bool stuck = age > wedge_after_;
    if (stuck && wedge_.empty()) {
      wedge_ = absl::StrFormat("%s is stuck, for %.1f s", loop.name, absl::ToDoubleSeconds(age));
    }
    if (stuck) report.ready = false;
    report.loops.push_back({loop.name, age, stuck});
  }
  for (const auto& [name, part] : parts_) {
    if (!part.ok) report.ready = false;
    report.parts.push_back(part);
  }
  report.wedge = wedge_;
  report.wedged = !wedge_.empty();
  if (report.wedged) report.ready = false;
  return report;
}

}  // namespace health
