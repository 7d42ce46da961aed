#include "sim/rival_thread.h"

#include <utility>

#include "base/clock.h"

namespace sim {

RivalThread::RivalThread(RivalOptions options, RivalWorld& world, http::Transport& transport)
    : rival_(std::move(options), world, transport, base::RealClock().Now()),
      thread_([this] { Run(); }) {}

RivalThread::~RivalThread() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void RivalThread::Notify() {
  absl::MutexLock lock(&mutex_);
  notified_ = true;
}

RivalCounts RivalThread::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void RivalThread::Run() {
  while (true) {
    const absl::Time next = rival_.Step(base::RealClock().Now());
    absl::MutexLock lock(&mutex_);
    counts_ = rival_.counts();
    mutex_.AwaitWithDeadline(absl::Condition(this, &RivalThread::Woken), next);
    if (stop_) return;
    if (std::exchange(notified_, false)) rival_.Notify();
  }
}

}  // namespace sim
