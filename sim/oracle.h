// What must always hold in a simulated world. Each oracle is one promise of
// behaviour.md, section 2 or 3, checked against the truth, not against what the
// controller believes.
#ifndef OCI_BACKEND_DRAIN_SIM_ORACLE_H_
#define OCI_BACKEND_DRAIN_SIM_ORACLE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "oci/types.h"
#include "sim/call_gate.h"
#include "sim/truth.h"
#include "sim/write_record.h"

namespace sim {

// Not thread-safe. The functions are called as things happen, `truth` being up to
// date; a breach is told by Fail, and the first one ends the run.
class Oracle {
 public:
  // `name`: the invariant, for people: "live-pod".
  explicit Oracle(absl::string_view name) : name_(name) {}
  virtual ~Oracle() = default;
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  absl::string_view name() const { return name_; }
  void OnFail(std::function<void(const Oracle&, const std::string&)> callback) {
    on_fail_ = std::move(callback);
  }

  // A write of anybody was accepted, or has ended.
  virtual void OnAccepted(const WriteRecord& /*write*/, const Truth& /*truth*/) {}
  virtual void OnFinished(const WriteRecord& /*write*/, const Truth& /*truth*/) {}
  // The controller sends a call, or has its answer.
  virtual void OnCall(const Call& /*call*/, const Truth& /*truth*/) {}
  virtual void OnAnswer(const Call& /*call*/, const absl::Status& /*status*/,
                        const oci::LoadBalancerRead* /*read*/, const Truth& /*truth*/) {}
  // A controller process has started: what it knew is gone.
  virtual void OnStart(const Truth& /*truth*/) {}
  // Between the last step and this one the world was as the truth says.
  virtual void OnStep(absl::Duration /*since_last*/, const Truth& /*truth*/) {}
  virtual void OnEnd(const Truth& /*truth*/) {}

 protected:
  void Fail(const std::string& what) const { on_fail_(*this, what); }

 private:
  const std::string name_;
  std::function<void(const Oracle&, const std::string&)> on_fail_;
};

// One of each.
std::vector<std::unique_ptr<Oracle>> MakeOracles();

// "web-0 10.0.0.3:8080"
std::string Describe(const TrueKey& key);
// Whether somebody else's write, or one of ours that is not known any more, was
// applied between the pass that decided the write and its end: what it overwrote then
// could not be seen.
bool WentBehindForeign(const WriteRecord& write, const Truth& truth);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ORACLE_H_
