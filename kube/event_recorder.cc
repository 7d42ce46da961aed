#include "kube/event_recorder.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/backoff.h"

namespace kube {
namespace {

// An object's name is at most 253 bytes; a dot and the token take 17.
constexpr size_t kMaxNamePrefix = 200;
constexpr int kTokenLength = 16;
// Names that are taken, in a row; by chance there is not even one.
constexpr int kMaxNames = 3;
constexpr base::BackoffPolicy kBackoff{absl::Seconds(1), absl::Minutes(1)};
constexpr size_t kMaxNoteBytes = 1024;

bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAborted(status) || absl::IsUnauthenticated(status);
}

}  // namespace

EventRecorder::EventRecorder(base::Random random, EventRecorderOptions options)
    : options_(std::move(options)), random_(random) {}

void EventRecorder::Record(Occurrence occurrence, absl::Time now) {
  if (occurrence.note.size() > kMaxNoteBytes) occurrence.note.resize(kMaxNoteBytes + 1);
  absl::MutexLock lock(&mutex_);
  if (queue_.size() >= options_.max_queued) {
    ++counts_.dropped;
    return;
  }
  queue_.push_back({std::move(occurrence), now});
}

void EventRecorder::Add(const Queued& queued) {
  const Occurrence& occurrence = queued.occurrence;
  SeriesKey key(occurrence.regarding, occurrence.type, occurrence.reason, occurrence.action,
                occurrence.note_key);
  const auto known = series_.find(key);
  if (known != series_.end() && queued.at - known->second.last_seen <= options_.series_silence) {
    Series& series = known->second;
    ++series.count;
    series.last_seen = std::max(series.last_seen, queued.at);
    by_recency_.splice(by_recency_.begin(), by_recency_, series.recency);
    return;
  }
  if (known != series_.end()) Forget(known);
  if (!TakeToken(occurrence.regarding, occurrence.reason, queued.at)) return CountDropped();
  if (series_.size() >= options_.max_series) {
    const auto oldest = series_.find(by_recency_.back());
    if (!oldest->second.created) CountDropped();
    Forget(oldest);
  }
  by_recency_.push_front(key);
  Series series;
  series.event.regarding = occurrence.regarding;
  series.event.key.ns = occurrence.regarding.key.ns.empty() ? options_.cluster_scoped_namespace
                                                            : occurrence.regarding.key.ns;
  series.event.key.name = NewName(occurrence.regarding);
  series.event.type = occurrence.type;
  series.event.reason = occurrence.reason;
  series.event.action = occurrence.action;
  series.event.note = occurrence.note;
  series.event.event_time = queued.at;
  series.last_seen = queued.at;
  series.recency = by_recency_.begin();
  series_.emplace(std::move(key), std::move(series));
}

void EventRecorder::Forget(SeriesMap::iterator series) {
  by_recency_.erase(series->second.recency);
  series_.erase(series);
}

void EventRecorder::ForgetSilent(absl::Time now) {
  while (!by_recency_.empty()) {
    const auto oldest = series_.find(by_recency_.back());
    const Series& series = oldest->second;
    const bool is_told = series.created && series.sent_count == series.count;
    if (!is_told || now - series.last_seen <= options_.series_silence) break;
    Forget(oldest);
  }
  // A full bucket is as good as none.
  std::erase_if(empty_at_, [&](const auto& bucket) {
    return bucket.second + options_.refill * options_.burst <= now;
  });
}

bool EventRecorder::TakeToken(const ObjectReference& object, const std::string& reason,
                              absl::Time now) {
  const auto key = std::make_pair(object, reason);
  const auto known = empty_at_.find(key);
  if (known == empty_at_.end() && empty_at_.size() >= options_.max_objects) return false;
  const absl::Time full = now - options_.refill * options_.burst;
  const absl::Time before = known == empty_at_.end() ? full : std::max(known->second, full);
  if (before + options_.refill > now) return false;
  empty_at_[key] = before + options_.refill;
  return true;
}

std::string EventRecorder::NewName(const ObjectReference& regarding) {
  std::string prefix = regarding.key.name.substr(0, kMaxNamePrefix);
  while (!prefix.empty() && !absl::ascii_isalnum(static_cast<unsigned char>(prefix.back()))) {
    prefix.pop_back();
  }
  return absl::StrCat(prefix.empty() ? "event" : prefix, ".", random_.Token(kTokenLength));
}

absl::Time EventRecorder::DueAt(const Series& series) const {
  if (!series.created) return series.not_before;
  if (series.sent_count == series.count) return absl::InfiniteFuture();
  const absl::Time due = series.count >= 2 * series.sent_count
                             ? absl::InfinitePast()
                             : series.last_sent + options_.series_interval;
  return std::max(due, series.not_before);
}

absl::Status EventRecorder::Create(KubeApi& api, Series& series) {
  absl::Status status;
  for (int names = 0; names < kMaxNames; ++names) {
    status = api.CreateEvent(series.event);
    if (!absl::IsAlreadyExists(status)) return status;
    // It is the one whose answer was lost.
    if (series.may_exist) return absl::OkStatus();
    series.event.key.name = NewName(series.event.regarding);
  }
  return status;
}

bool EventRecorder::Send(KubeApi& api, SeriesMap::iterator it, absl::Time now) {
  Series& series = it->second;
  const bool is_repetition = series.created;
  if (is_repetition && !TakeToken(series.event.regarding, series.event.reason, now)) {
    series.not_before = now + options_.refill;
    return true;
  }
  const int count = series.count;
  absl::Status status = is_repetition
                            ? api.PatchEventSeries(series.event.key, count, series.last_seen)
                            : Create(api, series);
  if (is_repetition && absl::IsNotFound(status)) {
    // Events live for an hour or so in the API; this one is gone: it begins anew.
    series.event.key.name = NewName(series.event.regarding);
    series.event.event_time = series.last_seen;
    series.may_exist = false;
    status = Create(api, series);
    if (status.ok()) series.count = 1;
  }
  if (status.ok()) {
    series.created = true;
    // A creation tells of the first occurrence only.
    series.sent_count = is_repetition ? series.count : 1;
    series.last_sent = now;
    series.attempts = 0;
    absl::MutexLock lock(&mutex_);
    ++counts_.sent;
    return true;
  }
  series.may_exist = series.may_exist || absl::IsDeadlineExceeded(status);
  if (!IsPassing(status) || ++series.attempts >= options_.max_attempts) {
    CountFailed(status);
    Forget(it);
    return !IsPassing(status);
  }
  series.not_before = now + base::FullJitter(kBackoff, series.attempts, random_);
  return false;
}

void EventRecorder::Flush(KubeApi& api, absl::Time now) {
  absl::MutexLock flush_lock(&flush_mutex_);
  std::deque<Queued> queue;
  {
    absl::MutexLock lock(&mutex_);
    queue.swap(queue_);
  }
  for (const Queued& queued : queue) Add(queued);

  // Oldest first; by key, since sending may forget.
  std::vector<std::pair<absl::Time, SeriesKey>> due;
  for (const auto& [key, series] : series_) {
    if (DueAt(series) <= now) due.emplace_back(series.last_seen, key);
  }
  std::sort(due.begin(), due.end());
  int calls = 0;
  for (const auto& [last_seen, key] : due) {
    if (calls++ == options_.max_calls_per_flush) break;
    const auto series = series_.find(key);
    if (series != series_.end() && !Send(api, series, now)) break;
  }
  ForgetSilent(now);
}

absl::Time EventRecorder::NextFlush() const {
  absl::MutexLock flush_lock(&flush_mutex_);
  absl::MutexLock lock(&mutex_);
  if (!queue_.empty()) return absl::InfinitePast();
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [key, series] : series_) next = std::min(next, DueAt(series));
  return next;
}

EventRecorder::Counts EventRecorder::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void EventRecorder::CountDropped() {
  absl::MutexLock lock(&mutex_);
  ++counts_.dropped;
}

void EventRecorder::CountFailed(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  ++counts_.failed;
  counts_.last_failure = why;
}

}  // namespace kube
