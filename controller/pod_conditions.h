// Which conditions Pods are to have, and their way to the API server.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_POD_CONDITIONS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_POD_CONDITIONS_H_

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "controller/drain_board.h"
#include "controller/settings.h"
#include "drain/input.h"
#include "drain/plan.h"
#include "kube/kube_api.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// Thread-safe. Passes report and never wait; one thread writes, by server-side
// apply with the Pod's UID as precondition, only what has changed. A gate that was
// written True for a UID is never written False.
class PodConditions {
 public:
  // `load_balancers_of` as in DrainBoard::Cluster. `board` must outlive it.
  PodConditions(DrainBoard& board,
                std::function<std::set<oci::Ocid>(const kube::ObjectKey&)> load_balancers_of,
                PodConditionChoice choice);

  // The result of a pass, after DrainBoard::Report.
  void Report(const drain::Input& input, const drain::Plan& plan);
  void Forget(const oci::Ocid& load_balancer);
  // Nothing waits to be written any more: this process leads no longer.
  void ForgetWanted();

  // One write, if one is due; says whether there was. Not to be called by two
  // threads at a time.
  bool WriteOne(kube::KubeApi& api, absl::Time now);
  // When the next one is due; InfiniteFuture(): none is wanted.
  absl::Time NextDue() const;

  // Beyond it new conditions are dropped until there is room; passes repeat them.
  static constexpr size_t kMaxWanted = 10'000;

 private:
  struct Value {
    bool status = false;
    std::string reason;
    friend bool operator==(const Value&, const Value&) = default;
  };
  // By UID and condition type.
  using Key = std::pair<std::string, std::string>;
  struct Wanted {
    kube::ObjectKey pod;
    Value value;
    absl::Time not_before = absl::InfinitePast();
    int failures = 0;
    // What was written last will be another value in a moment.
    bool under_way = false;
    // A gate's True has gone out: it may hold whatever the answer is, or will be.
    bool opened = false;
  };
  struct Written {
    Value value;
    absl::Time since;  // lastTransitionTime: of the status, not of the reason
  };
  struct Gates {
    absl::Time at = absl::InfinitePast();
    std::map<std::string,
             std::pair<kube::ObjectKey, std::map<drain::BackendKey, drain::GateProgress>>>
        pods;
  };

  void WantDrained(const drain::Plan& plan, absl::Time now);
  void WantGates(const drain::Input& input, const drain::Plan& plan);
  std::optional<Value> GateOf(const std::string& uid,
                              const std::set<oci::Ocid>& load_balancers) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Want(const PodId& pod, absl::string_view type, const Value& value);
  void Settle(const Key& key, const Wanted& wanted, const kube::PodCondition& sent,
              const absl::Status& status, absl::Time now);

  DrainBoard& board_;
  const std::function<std::set<oci::Ocid>(const kube::ObjectKey&)> load_balancers_of_;
  const PodConditionChoice choice_;
  mutable absl::Mutex mutex_;
  std::map<oci::Ocid, Gates> gates_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, Wanted> wanted_ ABSL_GUARDED_BY(mutex_);
  // What was written, newest last; the oldest are forgotten.
  std::map<Key, Written> written_ ABSL_GUARDED_BY(mutex_);
  std::deque<Key> written_order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_POD_CONDITIONS_H_
