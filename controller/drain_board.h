// Where Pods wait for their drain: what each load balancer's last pass says about
// ending Pods, and who is waiting to hear it.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_DRAIN_BOARD_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_DRAIN_BOARD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "drain/input.h"
#include "drain/look.h"
#include "drain/plan.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

enum class DrainOutcome {
  kUnknownPod,      // no such Pod, or another UID
  kWaiting,         // a load balancer may send it new requests, or it is not ending yet
  kDrained,         // every set has let go of it
  kNotRegistered,   // no set holds it
  kLastBackend,     // time is up; its drain waits for a replacement
  kDeadlineMissed,  // time is up
};

// "Drained", "NotRegistered", ...: as the barrier and the Pod condition name it.
absl::string_view Name(DrainOutcome outcome);

struct DrainAnswer {
  struct Set {
    oci::Ocid load_balancer;
    drain::BackendKey key;
    drain::DrainProgress progress = drain::DrainProgress::kWaiting;
  };
  DrainOutcome outcome = DrainOutcome::kUnknownPod;
  std::vector<Set> sets;  // those that hold, or held, its backends
  // Of kWaiting: when time alone may change the answer.
  absl::Time look_again = absl::InfiniteFuture();
  // Of kWaiting: the look that was asked for has been taken, and it does not let go of the
  // Pod, or somebody else's write that may take the drain back is unfinished.
  bool refused = false;
};

struct PodId {
  kube::ObjectKey key;
  std::string uid;
};

// Thread-safe. No call blocks for longer than a look at its tables.
class DrainBoard {
 public:
  static constexpr size_t kMaxWaiters = 5000;

  // What it asks of the rest of the process; called without a lock held.
  struct Cluster {
    std::function<std::optional<kube::PodMetadata>(const kube::ObjectKey&)> find_pod;
    // Those of the Services that may have an endpoint of the Pod.
    std::function<std::set<oci::Ocid>(const kube::ObjectKey&)> load_balancers_of;
    // A pass is wanted: there is a waiter that the plan does not know of.
    std::function<void(const oci::Ocid&)> ask_for_pass;
  };
  explicit DrainBoard(Cluster cluster);

  // The result of a pass that was photographed at input.now.
  void Report(const drain::Input& input, const drain::Plan& plan);
  // The load balancer is not ours any more.
  void Forget(const oci::Ocid& load_balancer);

  // UIDs of Pods with a waiter, or with one that left within kAbsence without
  // having been let go: it asks again.
  std::set<std::string> Waiters(absl::Time now);
  static constexpr absl::Duration kAbsence = absl::Seconds(3);

  // Registers a waiter; `changed` is called, with a lock of the board held, on the
  // threads that report: it must only note that Look has news, and not call back.
  // `look_since` is that of its looks. ResourceExhausted beyond kMaxWaiters.
  absl::StatusOr<int64_t> Join(const PodId& pod, std::function<void()> changed,
                               absl::Time look_since = absl::InfinitePast());
  // `changed` is not called any more when this returns.
  void Leave(int64_t waiter, bool let_go, absl::Time now);

  // What the Pod is to be told now. For a Pod with a waiter it asks for the passes
  // that an answer needs. With `look_since` it is let go only by a look at each of its load
  // balancers that began no earlier and that shows nothing which may take the drain back;
  // when its time is up, by what is known.
  DrainAnswer Look(const PodId& pod, absl::Time now, absl::Time look_since = absl::InfinitePast());

  // When the load balancer is to be looked at because a Pod asked for a look that is newer
  // than the last one: `pause` after that one. InfiniteFuture(): no Pod did.
  absl::Time LookDue(const oci::Ocid& load_balancer, absl::Duration pause);

 private:
  struct LoadBalancerReport {
    absl::Time at = absl::InfinitePast();  // of the last complete pass
    drain::Look look;                      // that it rested on
    absl::flat_hash_map<std::string, std::vector<drain::Acknowledgement>> pods;
  };
  struct Waiter {
    std::function<void()> changed;
    absl::Time look_since;
  };
  // What the reports say of one Pod.
  struct Gathered {
    bool all_spoke = true;  // every load balancer has
    bool looked = true;     // every one since look_since
    bool quiet = true;      // those looks
    absl::Time release_at = absl::InfiniteFuture();
  };
  struct Waiting {
    std::map<int64_t, Waiter> waiters;
    absl::Time left_at = absl::InfinitePast();
    bool asked = false;
    // When it was first found deleted; passes photographed since know it.
    absl::Time ending_since = absl::InfiniteFuture();
  };

  // Fills the sets, and notes which looks are wanted.
  Gathered Gather(const std::string& uid, const std::set<oci::Ocid>& load_balancers,
                  absl::Time ending_since, absl::Time look_since, DrainAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True the first time, and once more when the Pod is first found ending.
  bool NoteLook(const std::string& uid, bool ending, absl::Time now, absl::Time* ending_since)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Cluster cluster_;
  absl::Mutex mutex_;
  std::map<oci::Ocid, LoadBalancerReport> reports_ ABSL_GUARDED_BY(mutex_);
  // The newest look_since of a Look.
  std::map<oci::Ocid, absl::Time> looks_wanted_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, std::string> uid_of_ ABSL_GUARDED_BY(mutex_);
  int64_t next_waiter_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_DRAIN_BOARD_H_
