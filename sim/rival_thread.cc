#include "sim/rival_thread.h"

#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"

namespace sim {

RivalThread::RivalThread(RivalOptions options, RivalWorld& world, http::Transport& transport)
    : rival_(std::move(options), world, transport, base::RealClock().Now()),
      thread_([this] { Run(); }) {}

RivalThread::~RivalThread() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void RivalThread::Notify() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    notified_ = true;
  }
  woken_.notify_one();
}

RivalCounts RivalThread::counts() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

void RivalThread::Run() {
  while (true) {
    const absl::Time next = rival_.Step(base::RealClock().Now());
    std::unique_lock<std::mutex> lock(mutex_);
    counts_ = rival_.counts();
    woken_.wait_until(lock, absl::ToChronoTime(next), [this] { return stop_ || notified_; });
    if (stop_) return;
    if (std::exchange(notified_, false)) rival_.Notify();
  }
}

}  // namespace sim
