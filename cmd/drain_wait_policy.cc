#include "cmd/drain_wait_policy.h"

#include <algorithm>

namespace cmd {

DrainWait::DrainWait(const DrainWaitOptions& options, absl::Time start)
    : options_(options), end_(start + options.timeout), usable_at_(start), next_question_(start) {}

DrainWaitStep DrainWait::Next(absl::Time now) const {
  using Action = DrainWaitStep::Action;
  const absl::Time give_up = std::min(usable_at_ + options_.fallback, end_);
  DrainWaitStep step;
  step.drained = drained_;
  if (over_ || now >= end_) {
    step.action = Action::kEnd;
    // At the timeout, too, requests may be in flight: the drain was on its way.
    if (heard_) step.linger = options_.linger;
    if (drained_) step.linger = std::max(lingers_until_ - now, absl::ZeroDuration());
  } else if (drained_ && now < lingers_until_) {
    step.action = Action::kPause;
    step.by = std::min(lingers_until_, end_);
  } else if (now >= give_up) {
    step.action = Action::kEnd;
  } else if (now < next_question_) {
    step.action = Action::kPause;
    step.by = std::min(next_question_, give_up);
  } else {
    step.confirm = confirms_;
    step.hold = std::min(options_.longest_question, end_ - now);
    // Who is drained and nowhere answered waits for the fallback, not for the longest hold.
    if (confirms_) step.hold = std::min(step.hold, options_.fallback);
    step.by = std::min(now + step.hold + options_.network, end_);
    // Somebody who has never answered is not waited for longer than the fallback. A barrier
    // that is there holds the question, so the first one is short enough to be answered.
    if (!heard_) {
      step.by = std::min(step.by, std::max(give_up, now + options_.retry));
      step.hold = std::min(step.hold, (step.by - now) / 2);
    }
  }
  return step;
}

void DrainWait::Note(BarrierVerdict verdict, absl::Time asked_at, absl::Time now) {
  next_question_ = asked_at + options_.retry;
  if (verdict == BarrierVerdict::kUseless) return;
  heard_ = true;
  usable_at_ = now;
  const bool confirmed = drained_;  // it lingered since the last word, and asked again
  drained_ = verdict != BarrierVerdict::kWait;
  if (!drained_) return;
  if (verdict == BarrierVerdict::kDrained && confirmed) {
    over_ = true;
    return;
  }
  confirms_ = true;
  lingers_until_ = next_question_ = usable_at_ = now + options_.linger;
  // Without a linger the word has just come.
  over_ = verdict == BarrierVerdict::kReleased || options_.linger <= absl::ZeroDuration();
}

}  // namespace cmd
