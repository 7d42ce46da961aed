// What the controller keeps for one load balancer between passes.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_LB_STATE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_LB_STATE_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/capacity_state.h"
#include "drain/input.h"
#include "drain/memory.h"
#include "drain/plan.h"

namespace controller {

// Touched by one pass at a time; the work queue sees to that.
struct LbState {
  int term = 0;  // of Reconciler::BeginTerm, in which all of this was learnt
  std::optional<drain::Read> read;
  std::optional<drain::WorkRequests> work_requests;
  std::set<oci::WorkRequestId> listed;  // in the last list, also finished ones
  drain::Memory memory;
  absl::Time own_work_request_polled_at = absl::InfinitePast();

  // The ledger as it should be, and as its ConfigMap has it.
  drain::Ledger ledger;
  drain::Ledger stored_ledger;
  // The last write of the ConfigMap had no answer: it may hold something else.
  bool ledger_put_lost = false;
  std::string ledger_version;
  bool ledger_loaded = false;
  absl::Time ledger_failing_since = absl::InfiniteFuture();
  // The last failure, and when to try again.
  absl::Status ledger_error;
  absl::Time ledger_not_before = absl::InfinitePast();

  // Answers about Pods that do not serve, by UID, good while the watch shows the
  // same version of the Pod.
  struct KnownPod {
    std::string resource_version;
    drain::PodLookup lookup;
  };
  std::map<std::string, KnownPod> pods;
  int lookups_this_pass = 0;

  int aborted_in_row = 0;   // 412 and 409
  int failures_in_row = 0;  // of writes, everything else
  int read_failures_in_row = 0;
  absl::Time read_failing_since = absl::InfiniteFuture();
  int work_failures_in_row = 0;  // work requests of ours that ended FAILED
  absl::Time write_not_before = absl::InfinitePast();
  // Nothing is asked of OCI before, whatever changes in the cluster.
  absl::Time read_not_before = absl::InfinitePast();
  // Whole-set writes do not go through: drain flags only until then, and after a
  // refusal as malformed one by one.
  absl::Time flags_only_until = absl::InfinitePast();
  absl::Time single_writes_until = absl::InfinitePast();
  CapacityState capacity;
  std::string last_summary;
  // What LogUnresolved has told.
  std::map<drain::BackendKey, drain::Rule> unresolved;
  // Of a dry run: drains that were told of, with the Pod's UID. They stay due.
  std::map<drain::BackendKey, std::string> told_dry;
  bool at_rest = false;  // as of the last plan
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_LB_STATE_H_
