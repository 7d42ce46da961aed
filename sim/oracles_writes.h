// What is promised about each write of ours.
#ifndef OCI_BACKEND_DRAIN_SIM_ORACLES_WRITES_H_
#define OCI_BACKEND_DRAIN_SIM_ORACLES_WRITES_H_

#include <map>
#include <set>
#include <string>

#include "sim/oracle.h"

namespace sim {

// A foreign backend, and any field but drain, is never changed by us but by a write
// behind a foreign one.
class UntouchedOracle final : public Oracle {
 public:
  UntouchedOracle() : Oracle("untouched") {}
  void OnFinished(const WriteRecord& write, const Truth& truth) override;

 private:
  void Check(const WriteRecord& write, const Truth& truth) const;

  std::set<std::string> behind_;  // sets whose last write of ours went behind a foreign one
};

// A set of a Service that is not opted in gets nothing but membership, and that
// only with backend-drain-carry: "all".
class OptInOracle final : public Oracle {
 public:
  OptInOracle() : Oracle("opt-in") {}
  void OnFinished(const WriteRecord& write, const Truth& truth) override;
};

// No act of ours undoes an operator's drain while its Pod lives.
class OperatorOracle final : public Oracle {
 public:
  OperatorOracle() : Oracle("operator") {}
  void OnFinished(const WriteRecord& write, const Truth& truth) override;
  void OnStep(absl::Duration since_last, const Truth& truth) override;

 private:
  std::map<TrueKey, std::string> drains_;  // of live Pods, with the UID
};

// No write without the ETag of the read that it was decided on.
class GuardOracle final : public Oracle {
 public:
  GuardOracle() : Oracle("guard") {}
  void OnCall(const Call& call, const Truth& truth) override;
  void OnAnswer(const Call& call, const absl::Status& status, const oci::LoadBalancerRead* read,
                const Truth& truth) override;
  void OnAccepted(const WriteRecord& write, const Truth& truth) override;
  void OnStart(const Truth& truth) override;

 private:
  oci::Etag etag_;  // of the last read; empty: none
};

// One writer, and one write of it in flight, whether its answer came or not; a new
// process does not know of the last one's.
class OneWriteOracle final : public Oracle {
 public:
  OneWriteOracle() : Oracle("one-write") {}
  void OnAccepted(const WriteRecord& write, const Truth& truth) override;
};

// A limit is never exceeded by an act of ours: no write of ours is refused for it.
class LimitOracle final : public Oracle {
 public:
  LimitOracle() : Oracle("limit") {}
  void OnAnswer(const Call& call, const absl::Status& status, const oci::LoadBalancerRead* read,
                const Truth& truth) override;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ORACLES_WRITES_H_
