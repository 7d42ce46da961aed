// Carries a plan out.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_EXECUTOR_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_EXECUTOR_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/random.h"
#include "controller/answerer.h"
#include "controller/lb_state.h"
#include "controller/ledger_store.h"
#include "controller/settings.h"
#include "drain/plan.h"
#include "oci/types.h"

namespace controller {

// Thread-safe for distinct load balancers. Blocks for the calls it makes.
class Executor {
 public:
  // Everything must outlive it. `seed` makes retry tokens and request ids.
  Executor(const Edges& edges, LedgerStore& ledgers, const Settings& settings, uint64_t seed);

  struct Outcome {
    // OK also if there was nothing to write. Otherwise what came of the write; the
    // codes say what to do next, as in oci/load_balancer_api.h.
    absl::Status status;
    bool accepted = false;
    // The write waits for the ledger: look again soon.
    bool ledger_first = false;
  };

  // The ledger first, then the write, on the ETag that the plan names. A write
  // that nothing records goes out only once the ledger has failed for the plan's
  // patience. `state` takes the plan's memory and ledger.
  Outcome Run(const drain::Input& input, const drain::Plan& plan, LbState& state);

 private:
  absl::StatusOr<oci::WorkRequestId> Send(const oci::Ocid& load_balancer,
                                          const drain::Write& write);
  oci::WriteGuard GuardFor(const drain::Write& write);

  Edges edges_;
  LedgerStore& ledgers_;
  const Settings& settings_;
  absl::Mutex mutex_;
  base::Random random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_EXECUTOR_H_
