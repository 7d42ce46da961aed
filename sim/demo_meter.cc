#include "sim/demo_meter.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>

namespace sim {
namespace {

BackendState StateOf(const AppliedState& state, const std::string& backend) {
  const auto found = state.drained_by_backend.find(backend);
  if (found == state.drained_by_backend.end()) return BackendState::kAbsent;
  return found->second ? BackendState::kDrained : BackendState::kRoutable;
}

bool Routable(const AppliedState& state, const std::string& backend) {
  return StateOf(state, backend) == BackendState::kRoutable;
}

// nullptr before the first.
const AppliedState* StateAt(const std::vector<AppliedState>& states, absl::Time when) {
  const auto after = std::upper_bound(
      states.begin(), states.end(), when,
      [](absl::Time time, const AppliedState& state) { return time < state.time; });
  return after == states.begin() ? nullptr : &*std::prev(after);
}

bool RunsAt(const PodTimes& pod, absl::Time when) {
  return pod.running <= when && when < pod.ended;
}

// The states as a function of time.
class States {
 public:
  explicit States(const ServiceHistory& history) : states_(history.states) {}

  bool RoutableAt(const std::string& backend, absl::Time when) const {
    return BackendAt(states_, backend, when) == BackendState::kRoutable;
  }

  // The first time at or after `from` at which it is, or is not, routable.
  absl::Time First(const std::string& backend, bool routable, absl::Time from) const {
    if (RoutableAt(backend, from) == routable) return from;
    for (const AppliedState& state : states_) {
      if (state.time >= from && Routable(state, backend) == routable) return state.time;
    }
    return absl::InfiniteFuture();
  }

  // The state that made it routable, as it is at `when`.
  const AppliedState* Origin(const std::string& backend, absl::Time when) const {
    const AppliedState* origin = nullptr;
    for (const AppliedState& state : states_) {
      if (state.time > when) break;
      if (!Routable(state, backend)) origin = nullptr;
      if (Routable(state, backend) && origin == nullptr) origin = &state;
    }
    return origin;
  }

 private:
  const std::vector<AppliedState>& states_;
};

// Every moment at which a figure may change, from the trigger to the end.
std::vector<absl::Time> Moments(const ServiceHistory& history) {
  std::set<absl::Time> moments = {history.trigger, history.end};
  const auto add = [&](absl::Time time) {
    if (time > history.trigger && time < history.end) moments.insert(time);
  };
  for (const AppliedState& state : history.states) add(state.time);
  for (const PodTimes& pod : history.pods) {
    add(pod.running);
    add(pod.ended);
  }
  return {moments.begin(), moments.end()};
}

class Meter {
 public:
  explicit Meter(const ServiceHistory& history) : history_(history), states_(history) {}

  ServiceFigures Run() {
    figures_.min_good_backends = GoodBackends(history_, history_.trigger);
    for (const PodTimes& pod : history_.pods) {
      if (pod.deleted >= history_.trigger && pod.deleted <= history_.end) MeasureDrain(pod);
      if (pod.created >= history_.trigger && pod.deleted > history_.end) MeasureReplacement(pod);
    }
    std::sort(figures_.drain_latency.begin(), figures_.drain_latency.end());
    std::sort(figures_.replacement_latency.begin(), figures_.replacement_latency.end());
    const std::vector<absl::Time> moments = Moments(history_);
    for (size_t i = 0; i + 1 < moments.size(); ++i) MeasureInterval(moments[i], moments[i + 1]);
    return std::move(figures_);
  }

 private:
  void MeasureDrain(const PodTimes& pod) {
    ++figures_.terminated;
    if (pod.ended <= history_.end) {
      if (!states_.RoutableAt(pod.backend, pod.ended)) {
        ++figures_.drained_before_exit;
      } else if (OriginOf(pod, pod.ended, pod.ended).foreign) {
        ++figures_.undrained_by_foreign;
      }
    }
    figures_.drain_latency.push_back(states_.First(pod.backend, false, pod.deleted) - pod.deleted);
  }

  void MeasureReplacement(const PodTimes& pod) {
    const absl::Time routed = states_.First(pod.backend, true, pod.created);
    figures_.replacement_latency.push_back(routed - pod.created);
    figures_.replaced_after = std::max(figures_.replaced_after, routed - history_.trigger);
  }

  void MeasureInterval(absl::Time from, absl::Time to) {
    const int good = GoodBackends(history_, from);
    if (good < figures_.min_good_backends) {
      figures_.min_good_backends = good;
      figures_.min_good_at = from - history_.trigger;
    }
    if (good == 0) figures_.without_good += to - from;
    bool foreign = false;
    bool unexplained = false;
    for (const PodTimes& pod : history_.pods) {
      if (!IsDead(pod, from)) continue;
      (AddDeadTime(pod, from, to) ? foreign : unexplained) = true;
    }
    if (unexplained) {
      figures_.dead += to - from;
    } else if (foreign) {
      figures_.dead_foreign += to - from;
    }
  }

  bool IsDead(const PodTimes& pod, absl::Time when) const {
    if (pod.ended > when || !states_.RoutableAt(pod.backend, when)) return false;
    // Its address may have another Pod by now.
    return std::none_of(history_.pods.begin(), history_.pods.end(), [&](const PodTimes& other) {
      return other.backend == pod.backend && RunsAt(other, when);
    });
  }

  // Who made it routable as it is at `from`.
  DeadTime OriginOf(const PodTimes& pod, absl::Time from, absl::Time to) const {
    const AppliedState* origin = states_.Origin(pod.backend, from);
    DeadTime dead{.pod = pod.name, .from = from, .to = to};
    dead.by_rival = origin->by_rival;
    dead.accepted = origin->accepted;
    const auto confirmed = history_.confirmed.find(pod.uid);
    if (confirmed != history_.confirmed.end()) dead.confirmed = confirmed->second;
    dead.foreign = dead.by_rival && dead.confirmed < dead.accepted;
    return dead;
  }

  // Whether a foreign write explains it.
  bool AddDeadTime(const PodTimes& pod, absl::Time from, absl::Time to) {
    const DeadTime dead = OriginOf(pod, from, to);
    for (DeadTime& earlier : figures_.dead_times) {
      if (earlier.pod == dead.pod && earlier.to == from && earlier.accepted == dead.accepted) {
        earlier.to = to;
        return dead.foreign;
      }
    }
    figures_.dead_times.push_back(dead);
    return dead.foreign;
  }

  const ServiceHistory& history_;
  const States states_;
  ServiceFigures figures_;
};

}  // namespace

BackendState BackendAt(const std::vector<AppliedState>& states, const std::string& backend,
                       absl::Time when) {
  const AppliedState* state = StateAt(states, when);
  return state == nullptr ? BackendState::kAbsent : StateOf(*state, backend);
}

ServiceFigures Measure(const ServiceHistory& history) { return Meter(history).Run(); }

int GoodBackends(const ServiceHistory& history, absl::Time when) {
  const AppliedState* state = StateAt(history.states, when);
  if (state == nullptr) return 0;
  std::set<std::string> good;
  for (const PodTimes& pod : history.pods) {
    if (RunsAt(pod, when) && Routable(*state, pod.backend)) good.insert(pod.backend);
  }
  return static_cast<int>(good.size());
}

bool ReplacementsRouted(const ServiceHistory& history, int replicas) {
  if (history.states.empty()) return false;
  int replaced = 0;
  for (const PodTimes& pod : history.pods) {
    if (pod.deleted != absl::InfiniteFuture()) continue;
    if (pod.created < history.trigger || !Routable(history.states.back(), pod.backend)) {
      return false;
    }
    ++replaced;
  }
  return replaced == replicas;
}

bool DeletedPodsHaveEnded(const ServiceHistory& history) {
  return std::all_of(history.pods.begin(), history.pods.end(), [](const PodTimes& pod) {
    return pod.deleted == absl::InfiniteFuture() || pod.ended != absl::InfiniteFuture();
  });
}

bool RolloutIsOver(const ServiceHistory& history, int replicas) {
  return ReplacementsRouted(history, replicas) &&
         std::all_of(history.pods.begin(), history.pods.end(), [&](const PodTimes& pod) {
           return pod.deleted == absl::InfiniteFuture() ||
                  (pod.removed != absl::InfiniteFuture() &&
                   !Routable(history.states.back(), pod.backend));
         });
}

absl::Duration Percentile(const std::vector<absl::Duration>& ascending, int percent) {
  if (ascending.empty()) return absl::InfiniteDuration();
  const size_t rank = (ascending.size() * static_cast<size_t>(percent) + 99) / 100;
  return ascending[std::clamp<size_t>(rank, 1, ascending.size()) - 1];
}

}  // namespace sim
