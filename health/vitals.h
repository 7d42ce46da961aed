// Whether this process is well: which of its loops still go round.
//
//   Vitals vitals(absl::Seconds(10));
//   const Vitals::LoopId loop = vitals.AddLoop("worker-0");
//   vitals.Tick(loop);                       // each time round
//   vitals.Wait(loop, clock.Monotonic() + timeout);  // before a wait with an end
//   ... elsewhere, several times a second:
//   const VitalsReport report = vitals.Look(clock.Monotonic());
//
// A loop that has not ticked for `wedge_after` is stuck, unless it has said that it
// waits and the end of that wait has not come. The rule is behaviour.md, section 8.
#ifndef OCI_BACKEND_DRAIN_HEALTH_VITALS_H_
#define OCI_BACKEND_DRAIN_HEALTH_VITALS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace health {

struct LoopReport {
  std::string name;
  // How long ago it ticked, or its declared wait ended; zero within one.
  absl::Duration age;
  bool stuck = false;
};

// Something that has to be so before the process is ready.
struct PartReport {
  std::string name;  // "caches"
  bool ok = false;
  std::string note;  // what is missing; what else there is to say
};

struct VitalsReport {
  std::vector<LoopReport> loops;  // in the order in which they were added
  std::vector<PartReport> parts;  // by name
  // Some loop was found stuck once. It stays so: what a stuck thread does when it
  // goes on is not known.
  bool wedged = false;
  std::string wedge;  // which one it was, and for how long
  // Not wedged, no loop stuck, every part ok.
  bool ready = false;
};

// Thread-safe, and no call waits for anything but another call of this class. It
// reads no clock: moments are base::Clock::Monotonic().
class Vitals {
 public:
  using LoopId = int64_t;

  explicit Vitals(absl::Duration wedge_after) : wedge_after_(wedge_after) {}
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  // A loop begins: its first tick is now. Names may repeat.
  LoopId AddLoop(absl::string_view name);
  // It has ended, in order.
  void RemoveLoop(LoopId loop);

  void Tick(LoopId loop);
  // It does not tick before `until`, and that is as it should be. The next Tick ends
  // the wait.
  void Wait(LoopId loop, absl::Duration until);

  // Adds the part, or changes it.
  void SetPart(absl::string_view name, bool ok, absl::string_view note);

  // How all is at `now`. Moments of two calls do not go back. Time counts as far as
  // somebody looks: of a gap between two looks no more than kLongestGap counts, since
  // who could not look was stopped itself, and with it the loops (a process that
  // is paused is not stuck).
  VitalsReport Look(absl::Duration now);
  static constexpr absl::Duration kLongestGap = absl::Seconds(1);

  // Called on the loop's own thread after each of its ticks, without a lock held. For
  // tests that hold a loop up. Set before there are loops.
  void OnTick(std::function<void(const std::string& loop)> callback) {
    on_tick_ = std::move(callback);
  }

 private:
  struct Loop {
    std::string name;
    bool ticked = true;  // since the last look
    absl::Duration until = absl::ZeroDuration();
    absl::Duration since = absl::ZeroDuration();  // of `seen_`
  };

  const absl::Duration wedge_after_;
  std::function<void(const std::string&)> on_tick_;
  absl::Mutex mutex_;
  std::map<LoopId, Loop> loops_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, PartReport> parts_ ABSL_GUARDED_BY(mutex_);
  LoopId next_loop_ ABSL_GUARDED_BY(mutex_) = 0;
  // How much time was looked at, until last_look_.
  absl::Duration seen_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  absl::Duration last_look_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  std::string wedge_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_VITALS_H_
