// What is promised about Pods: the living stay routable, the dying are drained.
#ifndef OCI_BACKEND_DRAIN_SIM_ORACLES_PODS_H_
#define OCI_BACKEND_DRAIN_SIM_ORACLES_PODS_H_

#include <set>
#include <string>

#include "sim/oracle.h"
#include "sim/overdue.h"

namespace sim {

// A live Pod's backend is never drained by us, but for one pass and the work
// requests that are ahead of its un-drain. The un-drain is left to an ingress
// controller that drains by itself; QuietOracle asks for it at the end.
class LivePodOracle final : public Oracle {
 public:
  LivePodOracle() : Oracle("live-pod") {}
  void OnFinished(const WriteRecord& write, const Truth& truth) override;
  void OnStep(absl::Duration since_last, const Truth& truth) override;

 private:
  Overdue<TrueKey> drained_{absl::Seconds(10)};
};

// Every terminating Pod that is published is drained in time, when nothing fails
// and nobody's write is ahead.
class TerminatingPodOracle final : public Oracle {
 public:
  TerminatingPodOracle() : Oracle("terminating-pod") {}
  void OnStep(absl::Duration since_last, const Truth& truth) override;

 private:
  Overdue<TrueKey> routable_{absl::Seconds(15)};
};

// Once nothing fails and nothing happens any more: nobody alive is drained by us,
// the ledger holds nothing dead, and nothing is written.
class QuietOracle final : public Oracle {
 public:
  QuietOracle() : Oracle("quiet") {}
  void OnAccepted(const WriteRecord& write, const Truth& truth) override;
  void OnEnd(const Truth& truth) override;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ORACLES_PODS_H_
