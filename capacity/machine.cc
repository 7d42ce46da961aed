#include "capacity/machine.h"

#include <algorithm>

namespace capacity {

void PodQueue::Push(int64_t at, int count) {
  if (!empty() && items_.back().at == at) {
    items_.back().count += count;
  } else {
    items_.push_back({at, count});
  }
}

int PodQueue::Pop(int64_t now) {
  int count = 0;
  while (next() <= now && !empty()) count += items_[head_++].count;
  return count;
}

int PodQueue::Take(int count, int64_t* since) {
  *since = next();
  int taken = 0;
  while (taken < count && !empty()) {
    Item& item = items_[head_];
    const int part = std::min(count - taken, item.count);
    taken += part;
    item.count -= part;
    if (item.count == 0) ++head_;
  }
  return taken;
}

Machine::Machine(const Rollout& rollout)
    : rollout_(rollout),
      startup_(absl::ToInt64Milliseconds(rollout.startup)),
      address_(absl::ToInt64Milliseconds(rollout.address)),
      registration_(absl::ToInt64Milliseconds(rollout.registration)),
      removal_(registration_ * 2 / 3),
      drained_(absl::ToInt64Milliseconds(rollout.drained)),
      termination_(absl::ToInt64Milliseconds(rollout.termination)),
      min_ready_(absl::ToInt64Milliseconds(rollout.min_ready)),
      target_(rollout.replicas),
      old_(rollout.replicas),
      held_(rollout.replicas) {
  if (rollout.style == Style::kNone) target_ = 0;
  if (rollout.style == Style::kOrdered) {
    target_ = std::max(0, rollout.replicas - rollout.partition);
    rollout_.max_unavailable = std::max(1, rollout.max_unavailable);
  }
  if (rollout.max_surge <= 0 && rollout.max_unavailable <= 0) rollout_.max_unavailable = 1;
}

bool Machine::done() const {
  return available_ == target_ && created_ == target_ && waiting_ == 0 && ending_.empty() &&
         next_removal_ == leaving_.size();
}

int64_t Machine::NextEvent() const {
  int64_t next =
      std::min({publishing_.next(), starting_.next(), becoming_available_.next(), ending_.next()});
  if (next_removal_ < leaving_.size()) {
    next = std::min(next, leaving_[next_removal_].deleted_at + termination_ + removal_);
  }
  return next;
}

int64_t Machine::NextWithdrawal(absl::Duration minimum) const {
  for (size_t i = next_withdrawal_; i < leaving_.size(); ++i) {
    if (leaving_[i].holding == 0) continue;
    return leaving_[i].deleted_at + drained_ + absl::ToInt64Milliseconds(minimum) + registration_;
  }
  return kNever;
}

int Machine::Remove(int64_t now) {
  int removed = 0;
  while (next_removal_ < leaving_.size() &&
         leaving_[next_removal_].deleted_at + termination_ + removal_ <= now) {
    removed += leaving_[next_removal_].holding;
    leaving_[next_removal_++].holding = 0;
  }
  next_withdrawal_ = std::max(next_withdrawal_, next_removal_);
  held_ -= removed;
  return removed;
}

void Machine::Advance(int64_t now) {
  const int published = publishing_.Pop(now);
  if (published > 0) waits_.Push(now, published);
  waiting_ += published;
  started_ += starting_.Pop(now);
  NoteReady(now);
  const int available = becoming_available_.Pop(now);
  available_ += available;
  replacing_ -= available;
  const int ended = ending_.Pop(now);
  if (ended == 0) return;
  if (rollout_.style == Style::kOrdered) Create(now, ended);
  if (rollout_.style == Style::kRecreate && ending_.empty()) Create(now, target_);
}

void Machine::NoteReady(int64_t now) {
  const int ready = rollout_.gated ? std::min(started_, registered_) : started_;
  if (ready == ready_) return;
  becoming_available_.Push(now + min_ready_, ready - ready_);
  ready_ = ready;
}

void Machine::Create(int64_t now, int count) {
  created_ += count;
  publishing_.Push(now + address_ + registration_, count);
  starting_.Push(now + startup_, count);
}

void Machine::Delete(int64_t now, int count) {
  old_ -= count;
  leaving_.push_back({now, count});
  ending_.Push(now + termination_, count);
}

void Machine::Step(int64_t now) {
  switch (rollout_.style) {
    case Style::kRolling:
      StepRolling(now);
      break;
    case Style::kRecreate:
      if (old_ > 0) Delete(now, old_);
      break;
    case Style::kOrdered:
      StepOrdered(now);
      break;
    case Style::kNone:
      break;
  }
}

// As deployment/rolling.go: first the new ReplicaSet grows, then old ones shrink,
// and terminating Pods count nowhere.
void Machine::StepRolling(int64_t now) {
  for (;;) {
    const int grow = std::min(target_ + rollout_.max_surge - (old_ + created_), target_ - created_);
    if (grow > 0) {
      Create(now, grow);
      continue;
    }
    const int fewest = target_ - rollout_.max_unavailable;
    const int not_available = created_ - available_;
    const int surplus = old_ + available_ - fewest;
    if (old_ == 0 || old_ + created_ - fewest - not_available <= 0 || surplus <= 0) return;
    Delete(now, std::min(old_, surplus));
  }
}

void Machine::StepOrdered(int64_t now) {
  const int left = old_ - (rollout_.replicas - target_);
  const int count = std::min(left, rollout_.max_unavailable - replacing_);
  if (count <= 0) return;
  replacing_ += count;
  Delete(now, count);
}

int64_t Machine::Admit(int count, int64_t now) {
  int64_t since = now;
  const int admitted = waits_.Take(count, &since);
  waiting_ -= admitted;
  held_ += admitted;
  registered_ += admitted;
  NoteReady(now);
  return now - since;
}

int Machine::Withdraw(int count, int64_t now, absl::Duration minimum) {
  int withdrawn = 0;
  while (withdrawn < count && next_withdrawal_ < leaving_.size()) {
    Leaving& leaving = leaving_[next_withdrawal_];
    if (leaving.holding == 0) {
      ++next_withdrawal_;
      continue;
    }
    if (NextWithdrawal(minimum) > now) break;
    const int part = std::min(count - withdrawn, leaving.holding);
    leaving.holding -= part;
    withdrawn += part;
  }
  held_ -= withdrawn;
  return withdrawn;
}

}  // namespace capacity
