// The ledger of a load balancer in its ConfigMap.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_STORE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_STORE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/lb_state.h"
#include "kube/kube_api.h"
#include "oci/types.h"

namespace controller {

// "oci-drain-" and the last part of the OCID.
std::string LedgerName(const oci::Ocid& load_balancer);

// Thread-safe for distinct load balancers. Blocks for the calls it makes.
class LedgerStore {
 public:
  // `api` must outlive it. `ns` is the controller's namespace.
  LedgerStore(kube::KubeApi& api, std::string ns);

  // Once per load balancer and process: what was stored joins state.ledger (what
  // this process knows already wins) and state.ledger_loaded becomes true. Without
  // a ConfigMap the ledger is empty. Errors leave the ledger as it was.
  //
  // After a failure of this or of Save nothing is asked until
  // state.ledger_not_before, later each time; the same error is answered.
  absl::Status Load(const oci::Ocid& load_balancer, LbState& state, absl::Time now);

  // Stores `ledger` if it differs from what is stored, also one that could not be
  // stored earlier. A conflict (somebody else wrote) reads the version and writes
  // again, once. Sets state.ledger_failing_since on failure and clears it on
  // success.
  absl::Status Save(const oci::Ocid& load_balancer, const drain::Ledger& ledger, LbState& state,
                    absl::Time now);

 private:
  absl::Status Fetch(const oci::Ocid& load_balancer, LbState& state);
  absl::Status Put(const oci::Ocid& load_balancer, const drain::Ledger& ledger, LbState& state);

  kube::KubeApi& api_;
  const std::string ns_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_STORE_H_
