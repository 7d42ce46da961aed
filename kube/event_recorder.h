// Events: deduplicated into series, limited per object, sent by whoever has time.
#ifndef OCI_BACKEND_DRAIN_KUBE_EVENT_RECORDER_H_
#define OCI_BACKEND_DRAIN_KUBE_EVENT_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "kube/kube_api.h"
#include "kube/types.h"

namespace kube {

// Something that happened to an object.
struct Occurrence {
  ObjectReference regarding;
  std::string type;  // "Normal" or "Warning"
  std::string reason;
  std::string action;
  std::string note;
  // What tells occurrences of one reason apart: the Pod, the backend set. Those
  // that agree in regarding, type, reason, action and this are one series.
  std::string note_key;
};

struct EventRecorderOptions {
  // Of events about objects without a namespace, as the API demands it.
  std::string cluster_scoped_namespace = "default";
  // A repetition is counted on its event when this has passed since the last
  // count, or when the count has doubled.
  absl::Duration series_interval = absl::Minutes(1);
  // After so long a silence a repetition is a new event.
  absl::Duration series_silence = absl::Minutes(10);
  // Per object and reason, so that what is frequent leaves room for what is rare: so many
  // calls at once, then one each `refill`.
  int burst = 25;
  absl::Duration refill = absl::Minutes(5);
  // Bounds. What is beyond them is dropped and counted.
  size_t max_queued = 1000;
  size_t max_series = 4096;
  size_t max_objects = 4096;  // times their reasons
  int max_calls_per_flush = 50;
  int max_attempts = 6;  // of a call that fails in passing
};

// The recorder has no thread: Record takes a note and returns, Flush talks to the
// API on its caller's thread.
//
//   EventRecorder events(base::Random(seed));
//   events.Record({service, "Warning", "InvalidAnnotation", "Parse", note, key}, now);
//   ... on another thread, every second or so:
//   if (events.NextFlush() <= now) events.Flush(api, now);
class EventRecorder {
 public:
  struct Counts {
    uint64_t sent = 0;          // created events and counted repetitions
    uint64_t dropped = 0;       // beyond a bound or the limit of an object
    uint64_t failed = 0;        // refused, or tried max_attempts times
    absl::Status last_failure;  // OK: none yet
  };

  explicit EventRecorder(base::Random random, EventRecorderOptions options = {});
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Thread-safe; never waits for the API.
  void Record(Occurrence occurrence, absl::Time now);

  // Sends what is due, at most max_calls_per_flush calls; stops at the first that
  // fails in passing. Thread-safe; a second caller waits for the first.
  void Flush(KubeApi& api, absl::Time now);

  // When Flush has something to do; InfiniteFuture(): nothing. Thread-safe, but
  // it waits for a running Flush.
  absl::Time NextFlush() const;

  Counts counts() const;

 private:
  using SeriesKey = std::tuple<ObjectReference, std::string, std::string, std::string, std::string>;
  struct Series {
    Event event;
    bool created = false;
    // Whether a call with this event's name was made whose answer got lost.
    bool may_exist = false;
    int count = 1;       // occurrences
    int sent_count = 0;  // of them, those that the API knows of
    absl::Time last_seen;
    absl::Time last_sent = absl::InfinitePast();
    int attempts = 0;
    absl::Time not_before = absl::InfinitePast();  // after a failure
    std::list<SeriesKey>::iterator recency;
  };
  using SeriesMap = std::map<SeriesKey, Series>;

  struct Queued {
    Occurrence occurrence;
    absl::Time at;
  };

  void Add(const Queued& queued) ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  void Forget(SeriesMap::iterator series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  void ForgetSilent(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  absl::Time DueAt(const Series& series) const;
  // Whether the next series may be sent now, too.
  bool Send(KubeApi& api, SeriesMap::iterator series, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  absl::Status Create(KubeApi& api, Series& series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  bool TakeToken(const ObjectReference& object, const std::string& reason, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  std::string NewName(const ObjectReference& regarding) ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_mutex_);
  void CountDropped();
  void CountFailed(const absl::Status& why);

  const EventRecorderOptions options_;

  // Held while the API is called; always taken before mutex_.
  mutable absl::Mutex flush_mutex_;
  base::Random random_ ABSL_GUARDED_BY(flush_mutex_);
  SeriesMap series_ ABSL_GUARDED_BY(flush_mutex_);
  std::list<SeriesKey> by_recency_ ABSL_GUARDED_BY(flush_mutex_);  // last seen first
  // When the bucket of an object and a reason was, or will be, empty.
  std::map<std::pair<ObjectReference, std::string>, absl::Time> empty_at_
      ABSL_GUARDED_BY(flush_mutex_);

  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(flush_mutex_);
  std::deque<Queued> queue_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_EVENT_RECORDER_H_
