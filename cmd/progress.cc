#include "cmd/progress.h"

namespace cmd {

Progress::Progress(std::ostream* out, absl::Duration patience) : out_(out) {
  if (out_ != nullptr) thread_ = std::thread([this, patience] { Run(patience); });
}

Progress::~Progress() {
  {
    absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Progress::Step(absl::string_view what) {
  absl::MutexLock lock(&mutex_);
  what_ = std::string(what);
  news_ = true;
}

void Progress::Run(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  if (mutex_.AwaitWithTimeout(absl::Condition(&over_), patience)) return;
  const auto due = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return over_ || news_; };
  for (;;) {
    mutex_.Await(absl::Condition(&due));
    if (over_) return;
    news_ = false;
    *out_ << "waiting for " << what_ << std::endl;
  }
}

}  // namespace cmd
