// What is promised where others write to the same load balancer.
#ifndef OCI_BACKEND_DRAIN_SIM_ORACLES_FOREIGN_H_
#define OCI_BACKEND_DRAIN_SIM_ORACLES_FOREIGN_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "drain/memory.h"
#include "sim/oracle.h"
#include "sim/overdue.h"

namespace sim {

// A drain is confirmed only when a read has shown it, never by a 204, and not while
// a foreign work request that can touch backends is unfinished.
class ConfirmationOracle final : public Oracle {
 public:
  ConfirmationOracle() : Oracle("confirmation") {}
  void OnAnswer(const Call& call, const absl::Status& status, const oci::LoadBalancerRead* read,
                const Truth& truth) override;
  void OnStart(const Truth& truth) override;

 private:
  void Check(const drain::BackendKey& key, const Truth& truth) const;

  bool has_read_ = false;                   // this process has
  std::map<drain::BackendKey, bool> read_;  // drain by backend, as last read
  drain::Ledger before_;
};

// A foreign change that a write of ours, queued behind it, took back is restored by
// our next write to that set. Only a look between the two shows what it was, and there
// is one a second: where both are applied within one nothing is owed, nor while reads
// fail.
class RestorationOracle final : public Oracle {
 public:
  RestorationOracle() : Oracle("restoration") {}
  void OnFinished(const WriteRecord& write, const Truth& truth) override;
  void OnStep(absl::Duration since_last, const Truth& truth) override;

 private:
  // What has to be in the next effect, as it would be named there.
  struct Debt {
    absl::Time since;
    std::set<std::string> changed;
    std::set<std::string> added;
    std::set<std::string> removed;
    bool empty() const { return changed.empty() && added.empty() && removed.empty(); }
  };
  static Debt DebtOf(const WriteRecord& write, const TrueService& service);

  std::map<int, Debt> debts_;  // by Service
  Overdue<int> unpaid_{absl::Seconds(40)};
};

// While the set of a Service without opt-in waits for the ingress controller, we
// write in bursts at most once in 70 s, unless a deadline would be missed: a write at
// the end of the 70 s may have two others ahead of it.
class NeighbourOracle final : public Oracle {
 public:
  NeighbourOracle() : Oracle("neighbour") {}
  void OnAccepted(const WriteRecord& write, const Truth& truth) override;
  void OnFinished(const WriteRecord& write, const Truth& truth) override;
  void OnStep(absl::Duration since_last, const Truth& truth) override;

 private:
  absl::Time pending_since_ = absl::InfiniteFuture();
  std::map<std::string, absl::Time> last_write_;  // of ours, by set
  std::map<std::string, absl::Time> soon_;        // by work request: the last one
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ORACLES_FOREIGN_H_
