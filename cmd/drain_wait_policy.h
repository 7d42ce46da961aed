// When drain-wait asks, waits and ends: decided without a clock or a socket.
#ifndef OCI_BACKEND_DRAIN_CMD_DRAIN_WAIT_POLICY_H_
#define OCI_BACKEND_DRAIN_CMD_DRAIN_WAIT_POLICY_H_

#include "absl/time/time.h"

namespace cmd {

struct DrainWaitOptions {
  // From the start to the end of the waiting, whatever is answered.
  absl::Duration timeout = absl::Seconds(180);
  // After the drain, for requests that are in flight.
  absl::Duration linger = absl::Seconds(2);
  // Without a usable answer for so long there is nobody to wait for.
  absl::Duration fallback = absl::Seconds(15);
  // Between two questions, counted from the start of the first.
  absl::Duration retry = absl::Seconds(1);
  // The barrier holds a question back for so long at most.
  absl::Duration longest_question = absl::Seconds(25);
  // For the way there and back, beside the time that the barrier holds it.
  absl::Duration network = absl::Seconds(5);
};

enum class BarrierVerdict {
  kDrained,   // SIGTERM may come if it is so at the end of the linger, too
  kReleased,  // SIGTERM may come whatever the load balancer does: time is up
  kWait,      // ask again
  kUseless,   // nobody answered, or not what the barrier answers
};

struct DrainWaitStep {
  enum class Action { kAsk, kPause, kEnd };
  Action action = Action::kAsk;
  bool confirm = false;   // of kAsk: only a look that is younger than the question counts
  absl::Duration hold;    // of kAsk: how long the barrier may hold the question
  absl::Time by;          // of kAsk: when the answer must be there; of kPause: until when
  absl::Duration linger;  // of kEnd
  bool drained = false;   // of kEnd
};

// One wait. Every path ends at start + timeout + linger at the latest:
//   DrainWait wait(options, clock.Now());
//   for (step = wait.Next(now); step.action != kEnd; step = wait.Next(now)) {
//     kAsk: ask, then wait.Note(verdict, when asked, now); kPause: sleep until step.by
//   }
// behaviour: a barrier that cannot be reached, or that answers nonsense, is given
// up `fallback` after the last usable answer (or the start); one that waits is
// believed until `timeout`. Once drained it lingers, and then asks whether the backend
// still is: somebody else's write may have taken the drain back. If it is not, it waits
// on, and lingers again.
class DrainWait {
 public:
  // A fallback above the timeout counts as the timeout.
  DrainWait(const DrainWaitOptions& options, absl::Time start);

  DrainWaitStep Next(absl::Time now) const;
  void Note(BarrierVerdict verdict, absl::Time asked_at, absl::Time now);

 private:
  const DrainWaitOptions options_;
  const absl::Time end_;
  absl::Time usable_at_;  // the last usable answer or what it lingered for, or the start
  absl::Time next_question_;
  absl::Time lingers_until_ = absl::InfinitePast();
  bool heard_ = false;     // there was a usable answer
  bool drained_ = false;   // the last usable one was that SIGTERM may come
  bool confirms_ = false;  // one was
  bool over_ = false;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_DRAIN_WAIT_POLICY_H_
