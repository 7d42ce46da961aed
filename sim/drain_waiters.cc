#include "sim/drain_waiters.h"

#include <algorithm>
#include <vector>

#include "sim/kube_fields_of.h"

namespace sim {
namespace {

using controller::DrainOutcome;
using Action = cmd::DrainWaitStep::Action;

bool RunsDrainWait(const JsonTree& pod) {
  for (const JsonTree& container : pod["spec"]["containers"].items()) {
    for (const JsonTree& word : container["lifecycle"]["preStop"]["exec"]["command"].items()) {
      const std::string& text = word.AsString();
      if (text.substr(text.rfind('/') + 1) == "drain-wait") return true;
    }
  }
  return false;
}

// As drain-wait reads the barrier's HTTP status.
cmd::BarrierVerdict VerdictOf(DrainOutcome outcome) {
  switch (outcome) {
    case DrainOutcome::kUnknownPod:
      return cmd::BarrierVerdict::kUseless;
    case DrainOutcome::kWaiting:
      return cmd::BarrierVerdict::kWait;
    case DrainOutcome::kDrained:
    case DrainOutcome::kNotRegistered:
      return cmd::BarrierVerdict::kDrained;
    case DrainOutcome::kLastBackend:
    case DrainOutcome::kDeadlineMissed:
      return cmd::BarrierVerdict::kReleased;
  }
  return cmd::BarrierVerdict::kUseless;
}

}  // namespace

DrainWaiters::DrainWaiters(Kubelet& kubelet, const cmd::DrainWaitOptions& options)
    : kubelet_(kubelet), options_(options) {
  kubelet_.SetPreStopHooks(this);
}

DrainWaiters::~DrainWaiters() { kubelet_.SetPreStopHooks(nullptr); }

bool DrainWaiters::Begin(const JsonTree& pod, absl::Time now) {
  if (!RunsDrainWait(pod)) return false;
  Wait wait;
  wait.pod = {{NamespaceOf(pod), NameOf(pod)}, UidOf(pod)};
  wait.began = now;
  waiting_.emplace(
      UidOf(pod), Waiting{wait, cmd::DrainWait(options_, now), std::nullopt, absl::InfinitePast()});
  return true;
}

void DrainWaiters::OnCutOff(const std::string& uid, absl::Time now) {
  const auto found = waiting_.find(uid);
  if (found == waiting_.end()) return;
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  const std::optional<Question>& question = waiting.question;
  if (question.has_value() && last_.board != nullptr && question->start == last_.start) {
    last_.board->Leave(question->waiter, /*let_go=*/false, now);
  }
  waiting.wait.cut_off = true;
  waiting.wait.sigterm = now;
  if (callback_) callback_(waiting.wait);
}

void DrainWaiters::Ask(Waiting& waiting, const Barrier& barrier, const cmd::DrainWaitStep& step,
                       absl::Time now) {
  const absl::Time look_since = step.confirm ? now : absl::InfinitePast();
  const auto news = std::make_shared<bool>(true);
  absl::StatusOr<int64_t> waiter = absl::UnavailableError("nobody listens");
  if (barrier.board != nullptr && barrier.reachable) {
    waiter = barrier.board->Join(
        waiting.wait.pod, [news] { *news = true; }, look_since);
  }
  if (!waiter.ok()) {
    waiting.policy.Note(cmd::BarrierVerdict::kUseless, now, now);
    return;
  }
  waiting.wait.asked = now;
  waiting.wait.asked_of = barrier.start;
  waiting.question = Question{now, look_since, now + step.hold, now, barrier.start, *waiter, news};
}

bool DrainWaiters::Hear(Waiting& waiting, const Barrier& barrier, absl::Time now) {
  Question& question = *waiting.question;
  const bool same = barrier.board != nullptr && barrier.start == question.start;
  if (!same || !barrier.reachable) {
    if (same) barrier.board->Leave(question.waiter, /*let_go=*/false, now);
    waiting.policy.Note(cmd::BarrierVerdict::kUseless, question.asked_at, now);
    return true;
  }
  if (!*question.news && now < question.look) return false;
  *question.news = false;
  const controller::DrainAnswer answer =
      barrier.board->Look(waiting.wait.pod, now, question.look_since);
  const bool ended = answer.outcome != DrainOutcome::kWaiting;
  if (!ended && !answer.refused && now < question.until) {
    question.look =
        std::max(std::min(question.until, answer.look_again), now + absl::Milliseconds(1));
    return false;
  }
  barrier.board->Leave(question.waiter, /*let_go=*/ended, now);
  const cmd::BarrierVerdict verdict = VerdictOf(answer.outcome);
  waiting.policy.Note(verdict, question.asked_at, now);
  if (verdict != cmd::BarrierVerdict::kUseless) {
    waiting.wait.outcome = answer.outcome;
    waiting.wait.told = ended ? now : absl::InfiniteFuture();
  }
  return true;
}

bool DrainWaiters::Advance(Waiting& waiting, const Barrier& barrier, absl::Time now,
                           absl::Time& due) {
  while (waiting.lingers == absl::InfinitePast()) {
    if (waiting.question.has_value()) {
      if (!Hear(waiting, barrier, now)) {
        due = std::min(due, waiting.question->look);
        return true;
      }
      waiting.question.reset();
    }
    const cmd::DrainWaitStep step = waiting.policy.Next(now);
    if (step.action == Action::kEnd) {
      waiting.lingers = now + step.linger;
    } else if (step.action == Action::kPause) {
      due = std::min(due, step.by);
      return true;
    } else {
      Ask(waiting, barrier, step, now);
    }
  }
  due = std::min(due, waiting.lingers);
  return waiting.lingers > now;
}

absl::Time DrainWaiters::Act(const Barrier& barrier, absl::Time now) {
  last_ = barrier;
  absl::Time due = absl::InfiniteFuture();
  std::vector<std::string> over;
  for (auto& [uid, waiting] : waiting_) {
    if (!Advance(waiting, barrier, now, due)) over.push_back(uid);
  }
  for (const std::string& uid : over) {
    Wait wait = waiting_.extract(uid).mapped().wait;
    wait.sigterm = now;
    kubelet_.EndPreStop(uid, now);
    if (callback_) callback_(wait);
  }
  // The kubelet is looked at again at once.
  return over.empty() ? due : now;
}

}  // namespace sim
