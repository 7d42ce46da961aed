// List and watch of one resource as a state machine: no thread, no sleep, no
// socket. A driver (controller/watcher.h in production, the simulator in tests)
// does what Next() says and reports back.
//
//   for (;;) {
//     Reflector::Step step = reflector.Next(clock.Now());
//     switch (step.kind) {
//       case kList:  page = api.List(step.list); reflector.OnPage(page, now); ...
//       case kWatch: status = api.Watch(step.watch, [&](bytes) {
//                      return reflector.OnBytes(bytes, clock.Now()); }, cancel);
//                    reflector.OnWatchEnd(status, now); ...
//       case kWait:  clock.SleepFor(step.until - now); ...
//     }
//   }
//
// The protocol: page through a list with limit and continue (an expired continue
// token lists anew), watch from its resourceVersion with bookmarks, resume from
// the last one seen after a clean end or a break, list again on 410 (as HTTP
// status and as ERROR event in a 200 stream) and after a line that cannot be
// read, back off with full jitter on errors (1 s first, 30 s cap, not less than
// the server's Retry-After; a whole list resets it for lists, an event or
// bookmark for watches).
#ifndef OCI_BACKEND_DRAIN_KUBE_REFLECTOR_H_
#define OCI_BACKEND_DRAIN_KUBE_REFLECTOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/backoff.h"
#include "base/random.h"
#include "kube/decoder.h"
#include "kube/kube_api.h"
#include "kube/types.h"
#include "kube/watch_decoder.h"

namespace kube {

// Receives what a reflector learns, on the driver's thread, in order.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  // A list begins: what is not seen until OnListEnd is gone.
  virtual void OnListBegin() = 0;
  virtual void OnListEnd() = 0;
  // Added, changed, or listed.
  virtual void OnObject(Object object) = 0;
  virtual void OnDeleted(const ObjectKey& key, const std::string& uid) = 0;
  // One object that cannot be decoded (its key if that much could be read, and
  // why). It keeps its former state; the others go on.
  virtual void OnBadObject(const ObjectKey& key, const absl::Status& why) = 0;
};

// Not thread-safe.
class Reflector {
 public:
  // What is followed: a namespace or all, and one object of it or all.
  struct Scope {
    Resource resource = Resource::kServices;
    std::string ns = {};
    std::string name = {};
  };
  // `sink` and `random` must outlive the reflector.
  Reflector(Scope scope, ReflectorSink& sink, base::Random& random);

  enum class StepKind { kList, kWatch, kWait };
  struct Step {
    StepKind kind = StepKind::kList;
    ListRequest list;
    WatchRequest watch;
    absl::Time until;
  };

  Step Next(absl::Time now) const;

  void OnPage(const absl::StatusOr<std::string>& page, absl::Time now);
  // A non-OK answer means: end the watch (410, or a line over kMaxLineBytes).
  absl::Status OnBytes(absl::string_view bytes, absl::Time now);
  void OnWatchEnd(const absl::Status& status, absl::Time now);

  // True once a whole list was read; stays true.
  bool synced() const { return synced_; }
  // The last time the server was heard (page, event, bookmark, clean end).
  absl::Time last_heard() const { return last_heard_; }
  // Why it is waiting; OK if it is not.
  const absl::Status& last_error() const { return last_error_; }

  // A watch line longer than this ends the watch with an error that names it;
  // the next step is a new list.
  static constexpr size_t kMaxLineBytes = 8 << 20;

 private:
  static constexpr base::BackoffPolicy kBackoff{absl::Seconds(1), absl::Seconds(30)};

  void ReadPage(ListPage page);
  void ListFailed(const absl::Status& why, absl::Time now);
  void WatchFailed(const absl::Status& why, absl::Time now);
  absl::Status TakeEvent(WatchEvent event, absl::Time now);
  void ListAnew();
  void WaitAfter(const absl::Status& why, int failures, absl::Time now);

  const Scope scope_;
  ReflectorSink& sink_;
  base::Random& random_;

  bool synced_ = false;
  absl::Time last_heard_ = absl::InfinitePast();
  absl::Status last_error_;
  absl::Time wait_until_ = absl::InfinitePast();

  bool watching_ = false;       // else listing
  bool list_begun_ = false;     // the sink was told OnListBegin
  std::string continue_token_;  // of the next page
  std::string resource_version_;
  absl::Duration watch_timeout_ = absl::ZeroDuration();
  WatchDecoder decoder_;
  // What ended the stream from our side: the status that OnBytes answered.
  absl::Status stream_error_;
  bool heard_in_watch_ = false;    // an event or bookmark since this watch began
  bool heard_since_list_ = false;  // ... since the last list
  int list_failures_ = 0;          // in a row
  int watch_failures_ = 0;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_REFLECTOR_H_
