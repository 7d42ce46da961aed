// What the controller has decided and done of late, for people who ask.
//
// Passes report; the thread of the probes asks. What a pass reports is made into plain
// values on its own thread and is not changed any more, so that whoever asks waits for
// nothing but a look at a table.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_STATUS_BOARD_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_STATUS_BOARD_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "controller/packed_pass.h"
#include "controller/pod_explanation.h"
#include "controller/preview.h"
#include "controller/topology.h"
#include "drain/memory.h"
#include "health/metrics.h"
#include "health/status.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// One pass, after it was carried out.
struct PassReport {
  Preview preview;
  const drain::Memory& memory;  // what the next pass will know
  // What came of the plan's write; nothing: there was none, or it was not sent.
  std::optional<absl::Status> written = {};
  bool dry_run = false;
  absl::Status read;  // of the load balancer
  health::LoadBalancerSlots slots;
  // Since when drains are known to be confirmed.
  const std::map<drain::BackendKey, absl::Time>& confirmed_at;
  absl::Time next_look;
};

// Thread-safe. Of distinct load balancers passes may report at once.
class StatusBoard {
 public:
  // What is remembered of the past, of all load balancers together.
  static constexpr size_t kMaxDecisions = 2000;

  void Report(PassReport report);
  // The load balancers that are known, looked at or not.
  void SetTopology(std::shared_ptr<const TopologyView> view);
  // Its plans are another's now, or nobody's.
  void Forget(const oci::Ocid& load_balancer);

  // What the board knows: load balancers, drains, decisions, work requests.
  health::Status Show(absl::Time now) const;

  // The Pod in every set that knows it, by the last pass of each load balancer, and what
  // was decided about it. NotFound says what is known instead.
  absl::StatusOr<PodExplanation> Explain(const kube::ObjectKey& pod, absl::Time now) const;

 private:
  // What was said of a backend: action, reason and the Pod's UID.
  using Said = std::map<drain::BackendKey, std::vector<std::string>>;
  // Of one pass; immutable once it is on the board.
  struct Record {
    PackedPass pass;
    health::LoadBalancerStatus load_balancer;
    std::vector<health::DrainStatus> drains;
    std::vector<health::WorkRequestStatus> work_requests;
    Said said;
    std::vector<std::string> notices;
  };

  static Record MakeRecord(PassReport& report);
  // What is new in `record`, the oldest first.
  static std::vector<health::DecisionStatus> News(const PassReport& report, const Record& record,
                                                  const Record* before);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const TopologyView> view_ ABSL_GUARDED_BY(mutex_);
  std::map<oci::Ocid, std::shared_ptr<const Record>> records_ ABSL_GUARDED_BY(mutex_);
  std::deque<health::DecisionStatus> decisions_ ABSL_GUARDED_BY(mutex_);  // oldest first
  std::deque<health::WorkRequestStatus> ended_ ABSL_GUARDED_BY(mutex_);   // of ours
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_STATUS_BOARD_H_
