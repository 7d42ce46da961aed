#include "sim/lifecycle_faults.h"

#include <algorithm>

namespace sim {

LifecycleFaults::LifecycleFaults(VirtualWorld& world, const Lifecycle& lifecycle)
    : world_(world), lifecycle_(lifecycle), calls_(lifecycle.max_oci_latency, lifecycle.seed) {}

absl::Time LifecycleFaults::Act(absl::Time now) {
  if (start_ == absl::InfiniteFuture()) return start_;
  if (expire_ <= now) {
    expire_ = absl::InfiniteFuture();
    world_.api_server().watches().Expire("");
  }
  const std::vector<sim::Act>& all = lifecycle_.faults;
  for (; next_ < all.size() && start_ + all[next_].at <= now; ++next_) {
    if (callback_) callback_(Describe(all[next_]));
    Do(all[next_], now);
  }
  absl::Time due = next_ < all.size() ? start_ + all[next_].at : absl::InfiniteFuture();
  const absl::Time gone = start_ + lifecycle_.barrier_gone_at;
  for (const absl::Time edge : {gone, gone + lifecycle_.barrier_gone_for, expire_}) {
    if (edge > now) due = std::min(due, edge);
  }
  return due;
}

CallFate LifecycleFaults::OnCall(const Call& call, absl::Time now) {
  return calls_.OnCall(call, now).fate;
}

bool LifecycleFaults::BarrierGone(absl::Time now) const {
  const absl::Time gone = start_ + lifecycle_.barrier_gone_at;
  return gone <= now && now < gone + lifecycle_.barrier_gone_for;
}

void LifecycleFaults::Do(const sim::Act& act, absl::Time now) {
  if (CallFaults::Takes(act.kind)) return calls_.Begin(act, now);
  switch (act.kind) {
    case ActKind::kCrashNow:
      return world_.EndController(act.length);
    case ActKind::kFreeze:
      return world_.load_balancer().Freeze(now + act.length, now);
    case ActKind::kFailedWork:
    case ActKind::kAnyFailedWork: {
      WorkFault fault;
      fault.times = act.number;
      if (act.kind == ActKind::kFailedWork) {
        fault.matches = [](const WriteRecord& write) {
          return write.client == VirtualWorld::kController;
        };
      }
      return world_.load_balancer().AddWorkFault(std::move(fault));
    }
    case ActKind::kWatchGone:
      return world_.api_server().watches().Expire("");
    case ActKind::kApiRestart:
      return world_.api_server().Restart();
    default:
      return DoToWatches(act, now);
  }
}

void LifecycleFaults::DoToWatches(const sim::Act& act, absl::Time now) {
  const absl::Time until = now + act.length;
  KubeWatchFault fault;
  fault.times = -1;
  fault.only_if = [this, until](const KubeChange&) { return world_.now() < until; };
  if (act.kind == ActKind::kWatchDrop) {
    fault.kind = KubeWatchFault::Kind::kDrop;
    expire_ = until;
  } else {
    fault.kind = KubeWatchFault::Kind::kDelay;
    fault.delay = absl::Seconds(act.number);
  }
  world_.api_server().faults().Add(std::move(fault));
}

}  // namespace sim
