// The open watches of the fake API server: who gets which events, bookmarks, the
// end. Bytes are queued here; whoever serves the connection takes them.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_WATCHES_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_WATCHES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/kube_faults.h"
#include "sim/kube_render.h"
#include "sim/kube_selector.h"
#include "sim/kube_store.h"

namespace sim {

struct KubeWatchOptions {
  const KubeResource* resource = nullptr;
  std::string ns;  // empty: all
  KubeSelector selector;
  KubeView view = KubeView::kFull;
  bool bookmarks = false;
  int64_t after = 0;  // resourceVersion of the last change that is known; 0: none
  absl::Time end;     // ends cleanly then
};

struct KubeWatchBytes {
  enum class State { kOpen, kEnded, kCut };
  std::string bytes;
  State state = State::kOpen;  // how the stream goes on after these bytes
};

// Not thread-safe. `store` and `faults` must outlive it.
class KubeWatches {
 public:
  KubeWatches(const KubeStore& store, KubeFaults& faults, absl::Duration bookmark_interval);

  // An identifier that is never used twice.
  int64_t Open(KubeWatchOptions options, absl::Time now);
  // Takes what is queued. An unknown or closed watch is kCut.
  KubeWatchBytes Take(int64_t id);
  // Whether Take would answer anything but an open watch without bytes.
  bool HasNews(int64_t id) const;
  void Close(int64_t id);
  size_t count() const { return watches_.size(); }

  // Queues what has happened and what is due.
  void Advance(absl::Time now);
  // When Advance has something to do without a change in the store.
  absl::Time NextDue() const;

  // These act on the watches of one resource (its plural) or, if empty, on all.
  void Cut(absl::string_view resource);     // breaks the connections
  void End(absl::string_view resource);     // ends them in an orderly way
  void Expire(absl::string_view resource);  // an ERROR event with 410, then the end
  void Inject(absl::string_view resource, absl::string_view bytes);

  // A watch that lets more than this pile up is ended, as a real server does.
  static constexpr size_t kMaxQueuedBytes = 64 << 20;

 private:
  struct Held {
    absl::Time until;
    std::string line;
    int64_t resource_version;
  };
  struct Watch {
    KubeWatchOptions options;
    std::string queued;
    std::deque<Held> held;
    int64_t seen = 0;       // of the store
    int64_t delivered = 0;  // to the client
    absl::Time next_bookmark = absl::InfiniteFuture();
    KubeWatchBytes::State state = KubeWatchBytes::State::kOpen;
  };

  void QueueInitial(Watch& watch);
  void QueueChanges(Watch& watch, absl::Time now);
  void QueueChange(Watch& watch, const KubeChange& change, absl::Time now);
  void QueueDue(Watch& watch, absl::Time now);
  void PlanBookmark(Watch& watch, absl::Time now);
  template <typename Action>
  void ForEach(absl::string_view resource, Action action);

  const KubeStore& store_;
  KubeFaults& faults_;
  const absl::Duration bookmark_interval_;
  std::map<int64_t, Watch> watches_;
  int64_t next_id_ = 1;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_WATCHES_H_
