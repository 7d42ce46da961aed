// One pass for one load balancer: photograph, plan, explain, carry out.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_RECONCILER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_RECONCILER_H_

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "controller/answerer.h"
#include "controller/capacity_keeper.h"
#include "controller/collector.h"
#include "controller/drain_board.h"
#include "controller/executor.h"
#include "controller/lb_state.h"
#include "controller/ledger_store.h"
#include "controller/pod_conditions.h"
#include "controller/preview.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/status_board.h"
#include "controller/topology.h"
#include "drain/plan.h"

namespace controller {

// Thread-safe for distinct load balancers; one load balancer is passed by one
// thread at a time (DueQueue sees to that).
class Reconciler {
 public:
  struct Parts {
    const kube::ClusterStore& store;
    Topology& topology;
    Reporter& reporter;
    DrainBoard& board;
    PodConditions& conditions;
    StatusBoard* status = nullptr;  // null: nobody asks
  };

  // Everything must outlive it.
  Reconciler(const Parts& parts, const Edges& edges, const Settings& settings, uint64_t seed);

  // Reads, plans and writes. Answers when to look again; a change of the cluster
  // may ask for it earlier.
  absl::Time Pass(const oci::Ocid& load_balancer);

  // This process leads anew: what it knew of load balancers is forgotten, since
  // others have written; the next passes read the ledger and the load balancer.
  void BeginTerm();

  // Whether the last pass found nothing under way and nothing wanted.
  bool AtRest(const oci::Ocid& load_balancer);

  // A plan on the facts of this moment, asked for where they are missing, and not
  // carried out: `oci-drain plan`.
  using Preview = controller::Preview;
  absl::StatusOr<Preview> MakePreview(const oci::Ocid& load_balancer);
  // The same for `oci-drain capacity`.
  absl::StatusOr<CapacityKeeper::Preview> MakeCapacityPreview(const oci::Ocid& load_balancer);

 private:
  LbState& StateOf(const oci::Ocid& load_balancer);
  // The same, fresh if it is of an earlier term. For the pass alone.
  LbState& StateForPass(const oci::Ocid& load_balancer);
  Preview PlanFor(const TopologyView& view, const oci::Ocid& load_balancer, LbState& state,
                  absl::Status* oci_status);
  absl::Time LookDue(const drain::Input& input);
  absl::Time AfterRead(const TopologyView& view, const oci::Ocid& load_balancer, LbState& state,
                       const absl::Status& status, absl::Time next);
  absl::Time AfterWrite(const TopologyView& view, const Preview& preview, LbState& state,
                        const Executor::Outcome& outcome);
  void TellStatus(Preview preview, const LbState& state, const Executor::Outcome& outcome,
                  const absl::Status& read, absl::Time next);
  void TellDryRun(const Preview& preview, LbState& state);
  absl::Duration Backoff(const absl::Status& status, int failures);
  absl::Duration ReadBackoff(const absl::Status& status, int failures);
  void NoteWorkRequest(const TopologyView& view, drain::Input& input, LbState& state);

  Parts parts_;
  Edges edges_;
  const Settings& settings_;
  LedgerStore ledgers_;
  Collector collector_;
  Answerer answerer_;
  Executor executor_;
  CapacityKeeper capacity_;
  absl::Mutex mutex_;
  std::map<oci::Ocid, std::unique_ptr<LbState>> states_ ABSL_GUARDED_BY(mutex_);
  int term_ ABSL_GUARDED_BY(mutex_) = 0;
  base::Random random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_RECONCILER_H_
