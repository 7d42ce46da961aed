// How long the Pods of a workload take to start and to end, as the passes see it.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_ROLLOUT_TIMES_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_ROLLOUT_TIMES_H_

#include <deque>
#include <map>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "capacity/rollout.h"
#include "drain/input.h"

namespace controller {

// For one load balancer; not thread-safe. Of each workload, the median of the last
// kSamples Pods; nothing is measured before three of them.
class RolloutTimes {
 public:
  static constexpr size_t kSamples = 20;

  // Looks at the endpoints of a pass. `withdrawn` are UIDs of Pods that were made to
  // leave before their end.
  void Observe(const drain::Input& input, const std::set<std::string>& withdrawn);

  // What was measured, and the defaults of capacity::Times otherwise. Startup counts
  // from the moment at which the Pod was first seen published.
  capacity::Times Of(const std::string& workload_uid, const drain::Memory& memory) const;

 private:
  struct PodTimes {
    std::string workload;
    absl::Time first_seen = absl::InfinitePast();  // not serving; InfinitePast(): it was
    absl::Time deleted_at = absl::InfiniteFuture();
    bool seen = false;
  };
  struct Samples {
    std::deque<absl::Duration> startup;
    std::deque<absl::Duration> termination;
  };

  void ObserveEndpoint(const drain::Input& input, const drain::Endpoint& endpoint);

  absl::flat_hash_map<std::string, PodTimes> pods_;  // by UID
  std::map<std::string, Samples> samples_;
  bool begun_ = false;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_ROLLOUT_TIMES_H_
