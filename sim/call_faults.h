// What is wrong with the controller's calls at a time: the acts of a scenario that
// concern them.
#ifndef OCI_BACKEND_DRAIN_SIM_CALL_FAULTS_H_
#define OCI_BACKEND_DRAIN_SIM_CALL_FAULTS_H_

#include <functional>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "sim/call_gate.h"
#include "sim/scenario.h"

namespace sim {

// Not thread-safe.
class CallFaults {
 public:
  // Calls to OCI take up to `max_oci_latency`, those to Kubernetes a tenth of it.
  CallFaults(absl::Duration max_oci_latency, uint64_t seed);

  // Whether `kind` is one of these.
  static bool Takes(ActKind kind);
  // Whether a call of that kind can suffer from the act.
  static bool Concerns(ActKind kind, CallKind call);
  // From `now` on: for its length, or for as many calls as its number says.
  void Begin(const Act& act, absl::Time now);
  // What becomes of a call at `now`. `hit`, if set, is the act that it suffers
  // from.
  struct Fate {
    CallFate fate;
    bool hit = false;
    ActKind by = ActKind::kRollingUpdate;
  };
  Fate OnCall(const Call& call, absl::Time now);

 private:
  struct Active {
    Act act;
    absl::Time until = absl::InfiniteFuture();
    int calls = 0;  // that are left; of a crash: before it happens
  };

  bool Apply(Active& active, const Call& call, CallFate& fate);

  const absl::Duration max_oci_latency_;
  base::Random random_;
  std::vector<Active> active_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CALL_FAULTS_H_
