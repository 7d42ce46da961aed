#include "capacity/forecast.h"

#include <algorithm>
#include <utility>

#include "capacity/machine.h"

namespace capacity {
namespace {

absl::Duration FromMs(int64_t ms) { return absl::Milliseconds(ms); }

int32_t Narrow(int64_t ms) {
  return static_cast<int32_t>(std::min<int64_t>(ms, std::numeric_limits<int32_t>::max()));
}

// Keeps what holds at the end of each moment.
void Note(Curve& curve, int64_t now, int count) {
  const int32_t at = Narrow(now);
  if (!curve.empty() && curve.back().at_ms == at) {
    curve.back().count = count;
    if (curve.size() > 1 && curve[curve.size() - 2].count == count) curve.pop_back();
  } else if (curve.empty() || curve.back().count != count) {
    curve.push_back({at, count});
  }
}

class Simulation {
 public:
  Simulation(absl::Span<const Rollout> rollouts, const Room& room) : room_(room) {
    machines_.reserve(rollouts.size());
    for (const Rollout& rollout : rollouts) machines_.emplace_back(rollout);
    for (const Machine& machine : machines_) held_ += machine.held();
    result_.forecast.steady = held_;
  }

  Confined Run() && {
    Settle();
    for (int64_t next = NextEvent(); next != kNever; next = NextEvent()) {
      now_ = next;
      for (Machine& machine : machines_) held_ -= machine.Remove(now_);
      for (Machine& machine : machines_) machine.Advance(now_);
      Settle();
    }
    Forecast& forecast = result_.forecast;
    result_.finishes = std::all_of(machines_.begin(), machines_.end(),
                                   [](const Machine& machine) { return machine.done(); });
    forecast.duration = result_.finishes ? FromMs(now_) : absl::InfiniteDuration();
    forecast.peak = 0;
    for (const Point& point : forecast.backends) {
      forecast.peak = std::max(forecast.peak, static_cast<int>(point.count));
    }
    if (!result_.finishes) result_.longest_wait = absl::InfiniteDuration();
    return std::move(result_);
  }

 private:
  void Settle() {
    for (Machine& machine : machines_) machine.Step(now_);
    for (Machine& machine : machines_) Admit(machine);
    if (Waiting() > 0 && room_.withdraw) Exchange(Waiting() + held_ - room_.slots);
    Note(result_.forecast.backends, now_, held_);
    Note(result_.waiting, now_, Waiting());
  }

  int Waiting() const {
    int waiting = 0;
    for (const Machine& machine : machines_) waiting += machine.waiting();
    return waiting;
  }

  void Admit(Machine& machine) {
    const int count = std::min(machine.waiting(), std::max(0, room_.slots - held_));
    if (count == 0) return;
    result_.longest_wait = std::max(result_.longest_wait, FromMs(machine.Admit(count, now_)));
    held_ += count;
  }

  // Replacements take the slots of terminating Pods in the same write.
  void Exchange(int wanted) {
    int withdrawn = 0;
    for (Machine& machine : machines_) {
      withdrawn += machine.Withdraw(wanted - withdrawn, now_, room_.minimum);
    }
    held_ -= withdrawn;
    result_.withdrawn += withdrawn;
    for (Machine& machine : machines_) Admit(machine);
  }

  int64_t NextEvent() const {
    int64_t next = kNever;
    for (const Machine& machine : machines_) next = std::min(next, machine.NextEvent());
    if (!room_.withdraw || Waiting() == 0) return next;
    for (const Machine& machine : machines_) {
      next = std::min(next, machine.NextWithdrawal(room_.minimum));
    }
    return next;
  }

  const Room room_;
  std::vector<Machine> machines_;
  int64_t now_ = 0;
  int held_ = 0;
  Confined result_;
};

// What no rollout of this kind exceeds: each Pod once, and its successor.
Forecast Unsimulated(const Rollout& rollout) {
  Forecast forecast;
  const bool beside = rollout.style == Style::kRolling;
  forecast.steady = rollout.replicas;
  forecast.peak = static_cast<int>(std::min<int64_t>(
      rollout.replicas * (beside ? int64_t{2} : int64_t{1}), std::numeric_limits<int>::max()));
  forecast.duration = absl::InfiniteDuration();
  forecast.backends = {{0, forecast.peak}};
  return forecast;
}

}  // namespace

absl::Duration Forecast::Above(int level) const {
  absl::Duration total = absl::ZeroDuration();
  for (size_t i = 0; i < backends.size(); ++i) {
    if (backends[i].count <= level) continue;
    const bool last = i + 1 == backends.size();
    total += (last ? duration : FromMs(backends[i + 1].at_ms)) - FromMs(backends[i].at_ms);
  }
  return total;
}

int Forecast::At(absl::Duration moment) const {
  const int64_t at = absl::ToInt64Milliseconds(moment);
  const auto after =
      std::upper_bound(backends.begin(), backends.end(), at,
                       [](int64_t value, const Point& point) { return value < point.at_ms; });
  return after == backends.begin() ? steady : std::prev(after)->count;
}

Forecast Simulate(const Rollout& rollout) {
  if (rollout.replicas > kMaxReplicas) return Unsimulated(rollout);
  return std::move(Simulation({rollout}, Room())).Run().forecast;
}

Forecast Together(absl::Span<const Forecast* const> forecasts) {
  const auto bounded = [](int64_t count) {
    return static_cast<int32_t>(std::min<int64_t>(count, kMostTogether));
  };
  Forecast sum;
  std::vector<std::pair<int32_t, int32_t>> changes;
  for (const Forecast* forecast : forecasts) {
    sum.steady = bounded(int64_t{sum.steady} + forecast->steady);
    sum.duration = std::max(sum.duration, forecast->duration);
    int32_t before = 0;
    for (const Point& point : forecast->backends) {
      changes.emplace_back(point.at_ms, point.count - before);
      before = point.count;
    }
  }
  std::sort(changes.begin(), changes.end());
  int64_t count = 0;
  Note(sum.backends, 0, 0);
  for (const auto& [at, change] : changes) Note(sum.backends, at, bounded(count += change));
  for (const Point& point : sum.backends) sum.peak = std::max<int>(sum.peak, point.count);
  return sum;
}

Confined SimulateWithin(absl::Span<const Rollout> rollouts, const Room& room) {
  int64_t replicas = 0;
  for (const Rollout& rollout : rollouts) replicas += rollout.replicas;
  if (replicas <= kMaxReplicas) return std::move(Simulation(rollouts, room)).Run();
  Confined confined;
  std::vector<Forecast> parts;
  std::vector<const Forecast*> pointers;
  for (const Rollout& rollout : rollouts) parts.push_back(Unsimulated(rollout));
  for (const Forecast& part : parts) pointers.push_back(&part);
  confined.forecast = Together(pointers);
  confined.longest_wait = absl::InfiniteDuration();
  confined.finishes = false;
  return confined;
}

}  // namespace capacity
