// What is really the case in a world, as opposed to what the controller knows:
// the applied load balancer, its queue, and the Pods behind each address.
#ifndef OCI_BACKEND_DRAIN_SIM_TRUTH_H_
#define OCI_BACKEND_DRAIN_SIM_TRUTH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "drain/memory.h"
#include "sim/scenario.h"
#include "sim/virtual_world.h"

namespace sim {

// A backend of a Service's set.
struct TrueKey {
  int service = 0;
  std::string backend;  // "ip:port"
  friend auto operator<=>(const TrueKey&, const TrueKey&) = default;
};

struct TruePod {
  std::string uid;
  bool live = true;        // it exists and is not leaving
  absl::Time known_since;  // it is so at this address of this Service
  absl::Time deadline = absl::InfiniteFuture();
};

struct TrueBackend {
  bool drain = false;
  bool offline = false;
  std::string drained_by = {};  // who set drain, if it is set; empty: it was there at first
  absl::Time since = {};        // it is in the set
};

struct TrueService {
  bool opted_in = false;
  absl::Time opted_since;  // ... or out
  int wanted = 0;          // spec.replicas
  int max_unavailable = 0;
  std::map<std::string, TrueBackend> backends;            // of its set
  std::map<std::string, std::vector<TruePod>> published;  // by "ip:port"
  // Every address that one of its Pods ever had, and when it was published last; of one
  // that `published` has, only when a change was last seen.
  std::map<std::string, absl::Time> ever;

  // A Pod at that address that lives; null if there is none.
  const TruePod* LiveAt(const std::string& backend) const;
  // The addresses that the ingress controller wants and the set lacks, or has and
  // should not.
  bool MembershipPending() const;
};

// Not thread-safe.
class Truth {
 public:
  // `world` must outlive it.
  Truth(VirtualWorld& world, const Scenario& scenario);

  // Reads what has changed since the last call.
  void Refresh();
  // A write of the load balancer has just been applied.
  void OnFinished(const WriteRecord& write);

  absl::Time now() const { return now_; }
  const std::vector<TrueService>& services() const { return services_; }
  // -1: none.
  int ServiceOfSet(const std::string& set) const;
  // Unfinished writes, oldest first.
  const std::vector<const WriteRecord*>& queue() const { return queue_; }
  bool idle() const { return queue_.empty(); }

  // A write of ours that the running process does not know of: its answer was lost,
  // or another process sent it.
  bool IsOrphan(const WriteRecord& write) const {
    return orphans_.count(write.work_request_id) != 0;
  }
  // Another process sent it.
  bool IsInherited(const WriteRecord& write) const {
    return inherited_.count(write.work_request_id) != 0;
  }
  // When the pass began that decided it, for a write of ours; else its acceptance.
  absl::Time DecidedAt(const WriteRecord& write) const;
  void OnAccepted(const WriteRecord& write);
  void OnAnswered();
  void OnStart();

  // What the calls of a pass can take in all.
  absl::Duration LongestPass() const { return 8 * scenario_.max_oci_latency; }

  // Before this time promises may be late: something failed, or the controller
  // started.
  absl::Time excused_until() const { return excused_until_; }
  void ExcuseUntil(absl::Time until) { excused_until_ = std::max(excused_until_, until); }
  bool excused() const { return now_ < excused_until_; }

  VirtualWorld& world() const { return world_; }
  const Scenario& scenario() const { return scenario_; }
  // When the controller started first: acts are counted from there.
  absl::Time start() const { return start_; }
  void SetStart(absl::Time start) { start_ = start; }
  // As its ConfigMap has it; empty if there is none.
  absl::StatusOr<drain::Ledger> StoredLedger() const;

 private:
  void ReadLoadBalancer();
  void ReadServices();
  void ReadPods();

  VirtualWorld& world_;
  const Scenario& scenario_;
  absl::Time now_;
  absl::Time start_ = absl::InfiniteFuture();
  std::vector<TrueService> services_;
  std::vector<const WriteRecord*> queue_;
  size_t queued_ = 0;                          // of the fake's writes
  std::map<std::string, absl::Time> decided_;  // writes of ours, by work request
  std::set<std::string> orphans_;
  std::set<std::string> inherited_;
  std::string last_own_;  // work request of our newest write
  // Who had drained what when it was accepted: a write that went behind a foreign
  // one sets such a drain again, and it stays theirs.
  std::map<TrueKey, std::string> drained_by_others_;
  int64_t lb_version_ = -1;
  int64_t pods_version_ = -1;
  int64_t services_version_ = -1;
  absl::Time excused_until_ = absl::InfinitePast();
};

// Whether a work request of this type may change backends.
bool TouchesBackends(const std::string& type);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_TRUTH_H_
