// Capacity planning as a part of each pass: what may be added, what is withdrawn to
// make room, and what people are told.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_KEEPER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_KEEPER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "controller/answerer.h"
#include "controller/capacity_input.h"
#include "controller/lb_state.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "drain/plan.h"
#include "kube/store.h"

namespace controller {

// Thread-safe for distinct load balancers. Bound makes no call; Run may, and blocks
// for it.
class CapacityKeeper {
 public:
  struct Parts {
    const kube::ClusterStore& store;
    Reporter& reporter;
  };

  // Everything must outlive it.
  CapacityKeeper(const Parts& parts, const Edges& edges, const Settings& settings);

  // Shares the free slots over the sets of `photograph` (SetInput::max_additions), if
  // there are fewer than Pods that wait. Without a read of the load balancer, or with
  // slots for all, nothing is bound.
  void Bound(drain::Input& photograph, LbState& state);

  // After the pass: tells what was found and what has ended, and withdraws. In a dry
  // run it only tells. Answers when to look again.
  absl::Time Run(const TopologyView& view, const Photograph& photograph, LbState& state);

  // A limit of OCI's own was met, which no flag tells: until then the set is not to grow
  // beyond what it holds, but by what leaves it or the load balancer. False: that was so
  // already, so that the refusal is about something else.
  static bool NoteRefusal(const drain::Input& photograph, const oci::BackendSetName& set,
                          absl::Time until, LbState& state);

  // A refusal of OCI, or a failed work request, that speaks of a limit of backends is
  // told with the numbers.
  void TellRefusal(const TopologyView& view, const drain::Input& photograph,
                   const oci::BackendSetName& set, absl::string_view message);

  // For `oci-drain capacity`: facts and plan of this moment.
  struct Preview {
    CapacityFacts facts;
    capacity::Plan plan;
  };
  Preview MakePreview(const Photograph& photograph, LbState& state);

 private:
  // What is listed now and then.
  struct Listed {
    absl::Time until = absl::InfinitePast();
    AutoscalerMaxima maxima;
  };

  AutoscalerMaxima Autoscalers(const drain::Input& input);
  void Withdraw(const CapacityFacts& facts, const capacity::Plan& plan, LbState& state);
  // OK, or why nothing of this set is withdrawn.
  absl::Status CheckBudgets(const capacity::SetInput& set);

  const Parts parts_;
  Edges edges_;
  const Settings& settings_;

  absl::Mutex mutex_;
  std::map<std::string, Listed> autoscalers_ ABSL_GUARDED_BY(mutex_);
};

// Whether the text of a refusal or of a failed work request is about the number of
// backends.
bool IsBackendLimit(absl::string_view message);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_KEEPER_H_
