// What this process is doing, as plain values: what /statusz and /statusz.json show.
//
// Every list has a bound; what is beyond it is counted. Texts from the cluster and from
// OCI are as they came, but for their length: who shows them escapes them.
#ifndef OCI_BACKEND_DRAIN_HEALTH_STATUS_H_
#define OCI_BACKEND_DRAIN_HEALTH_STATUS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "health/metrics.h"

namespace health {

// The first of a list, and how many there are beyond.
template <typename T>
struct Shown {
  std::vector<T> items;
  size_t more = 0;

  // True if there was room.
  bool Add(T item, size_t most) {
    if (items.size() >= most) {
      ++more;
      return false;
    }
    items.push_back(std::move(item));
    return true;
  }
};

inline constexpr size_t kMaxShownLoadBalancers = 100;
inline constexpr size_t kMaxShownSets = 500;  // of all load balancers together
inline constexpr size_t kMaxShownDrains = 200;
inline constexpr size_t kMaxShownDecisions = 100;
inline constexpr size_t kMaxShownWorkRequests = 50;
inline constexpr size_t kMaxShownLoops = 200;
// A longer text is cut there.
inline constexpr size_t kMaxShownBytes = 512;

// `text` up to kMaxShownBytes, cut between two characters and then ended by "...".
std::string ShownText(std::string text);

struct LoadBalancerStatus {
  std::string id;    // its OCID
  std::string name;  // empty: not read yet
  std::vector<std::string> classes;
  std::string state;  // "ACTIVE"; empty: not read yet
  bool paused = false;
  std::string trouble;  // why it cannot be read; empty: it can
  absl::Time read_at = absl::InfinitePast();
  absl::Time next_look = absl::InfiniteFuture();
  LoadBalancerSlots slots;  // without its sets
  Shown<SetSlots> sets;
};

enum class DrainState { kWaits, kWritten, kConfirmed };

// A backend that is drained, or is to be, and is still in its set.
struct DrainStatus {
  std::string load_balancer;
  std::string backend_set;
  std::string backend;
  std::string pod;  // "shop/web-1"; empty: not known
  DrainState state = DrainState::kWaits;
  std::string reason;                              // which rule, and what it waits for
  absl::Time until = absl::InfiniteFuture();       // the wait ends at the latest
  absl::Time deadline = absl::InfiniteFuture();    // SIGKILL; infinite: it has none
  absl::Time confirmed_at = absl::InfinitePast();  // infinite: not, or not known since when

  // Of a confirmed drain what was left then, otherwise what is left now. Negative: late;
  // infinite: it has no deadline.
  absl::Duration Slack(absl::Time now) const;
};

// Something that was decided or done, and why.
struct DecisionStatus {
  absl::Time at;
  std::string load_balancer;
  std::string backend_set;
  std::string backend;  // empty: about the set as a whole
  std::string pod;      // "shop/web-1"; empty: about no single one
  std::string action;   // "drain", "wait", "BackendDrained"
  std::string reason;
  bool warning = false;
};

struct WorkRequestStatus {
  std::string id;
  std::string load_balancer;
  std::string backend_set;  // empty: not ours
  std::string what;         // "UpdateBackendSet, drain"; of others' the type
  bool ours = false;
  std::string state;  // "in progress", "succeeded", "failed"
  absl::Time accepted = absl::InfinitePast();
  absl::Time finished = absl::InfiniteFuture();
  std::string error;
};

struct Status {
  absl::Time at;
  absl::Time started;
  std::string version;
  bool dry_run = false;
  bool elects = false;   // several replicas, of which one leads
  bool leads = false;    // this one may write
  std::string identity;  // of this process in the election
  std::string leader;    // as far as is known
  int terms = 0;         // of its own that have begun
  int queue = 0;         // load balancers that wait for their next pass
  Shown<LoadBalancerStatus> load_balancers;
  Shown<DrainStatus> drains;               // the earliest deadline first
  Shown<DecisionStatus> decisions;         // the newest first
  Shown<WorkRequestStatus> work_requests;  // those under way, then the newest
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_STATUS_H_
