// What is counted. An interface of ours, so that who records does not know who shows.
#ifndef OCI_BACKEND_DRAIN_HEALTH_METRICS_H_
#define OCI_BACKEND_DRAIN_HEALTH_METRICS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace health {

// What a write was for.
enum class WriteTarget {
  kUpdateBackend,
  kUpdateBackendSet,
  kLedger,
  kPodCondition,
  kPodLabel,
  kEvent,
};

// What came of it.
enum class WriteResult {
  kAccepted,
  kPreconditionFailed,  // 412: somebody else wrote since the read
  kConflict,            // 409, and a resourceVersion that is out of date
  kThrottled,           // 429
  kRefused,             // another 4xx
  kUnavailable,         // 5xx, or not reached
  kUnknown,             // no answer: it may have happened
  kFenced,              // not sent: this replica does not lead
};

// How the slots of one backend set are used.
struct SetSlots {
  std::string backend_set;
  std::string service = {};  // "shop/web"
  int limit = 0;             // how many backends it may hold
  int live = 0;
  int draining = 0;
  int foreign = 0;   // backends of nobody that takes part
  int waiting = 0;   // Pods without a slot
  int reserved = 0;  // free ones that are kept for rollouts
  int free = 0;
};

// The same of a whole load balancer.
struct LoadBalancerSlots {
  int limit = 0;
  int in_use = 0;  // those of other sets among them
  std::vector<SetSlots> sets;
};

// Thread-safe; no call waits.
class Metrics {
 public:
  virtual ~Metrics() = default;

  // A drain was confirmed: so long after the Pod's deletion and before its deadline.
  // Infinite: the Pod has none.
  virtual void CountDrain(absl::Duration latency, absl::Duration slack) = 0;
  virtual void CountMissedDeadline() = 0;
  // Drains that were in force and that somebody else's write cleared.
  virtual void CountTakenBack(int drains) = 0;
  virtual void CountWrite(WriteTarget target, WriteResult result) = 0;
  // One of ours has ended, so long after it was accepted.
  virtual void CountWorkRequest(bool succeeded, absl::Duration service_time) = 0;
  // Replaces what was known of the load balancer; empty: forgets it.
  virtual void SetSlotsOf(const std::string& load_balancer, const std::vector<SetSlots>& sets) = 0;
  // How long ago the server of a watch was heard: "pods in namespace shop".
  struct CacheAge {
    std::string watch;
    absl::Duration age;
  };
  virtual void SetCacheAges(const std::vector<CacheAge>& ages) = 0;
  virtual void SetQueueDepth(int load_balancers) = 0;
  virtual void SetLeader(bool leads) = 0;
};

// Counts nothing. Lives as long as the process.
Metrics& NoMetrics();

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_METRICS_H_
