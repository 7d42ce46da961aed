// What is carried from one pass to the next: the ledger, which survives a
// restart, and the memory, which does not and need not.
#ifndef OCI_BACKEND_DRAIN_DRAIN_MEMORY_H_
#define OCI_BACKEND_DRAIN_DRAIN_MEMORY_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/shared.h"
#include "drain/backend_map.h"
#include "oci/types.h"

namespace drain {

// One drain, ours or an operator's. Only backends in the ledger are un-drained
// by us, and never those of an operator.
struct LedgerEntry {
  std::string pod;      // name, for people
  std::string pod_uid;  // the Pod that had the address; empty if it was never known
  absl::Time since;     // when it was entered
  // The moment of SIGKILL of that Pod; InfiniteFuture() if it has none.
  absl::Time deadline = absl::InfiniteFuture();
  // When its deletion was asked for; InfinitePast() if that was not seen.
  absl::Time deleted_at = absl::InfinitePast();
  bool offline = false;
  bool confirmed = false;    // see "Confirmed" in docs/life_of_a_drain.md
  bool by_operator = false;  // drained by somebody else while its Pod lived
  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

using Ledger = std::map<BackendKey, LedgerEntry>;

// Why a set is written. In the order of precedence.
enum class WriteReason {
  kUndrain,        // a live Pod's backend is drained by us
  kDrain,          // a wave of drains is due
  kBehindForeign,  // queued behind a foreign whole-set write
  kReassert,       // somebody cleared drains that are in force
  kRestore,        // our write behind a foreign one reverted it
  kRegister,       // NIC is shut out by us and a published Pod waits
  kNeighbour,      // membership of a Service without opt-in, P/backend-drain-carry: "all"
};

// A write of ours that was accepted and is not known to be finished.
struct OwnWrite {
  oci::WorkRequestId work_request;
  oci::BackendSetName set;
  WriteReason reason = WriteReason::kDrain;
  absl::Time accepted_at;
  // The set as it will be once applied; absent for UpdateBackend.
  std::optional<base::Shared<oci::BackendSet>> sent;
  // Of UpdateBackend: the backend whose settings it echoed, flags as read.
  std::optional<oci::Backend> sent_backend;
  // Foreign work requests that were unfinished when it was accepted.
  std::set<oci::WorkRequestId> behind;
};

// A write of ours without an answer: it may have been accepted.
struct LostWrite {
  bool whole_set = false;
  absl::Time sent_at;
  // Foreign work requests that were unfinished when it was sent: it is none of them.
  std::set<oci::WorkRequestId> behind;
};

// A Pod's address that this process saw published by the set's Service.
struct KnownBackend {
  std::string pod_uid;
  std::string pod;  // its name
  // When it was first seen published no more; InfiniteFuture() while it is.
  absl::Time gone_at = absl::InfiniteFuture();
  bool seen_deleted = false;  // with a deletionTimestamp
  bool served = false;        // by its slice, at some time
};

// A foreign change that a write of ours, queued behind it, takes back.
struct Restoration {
  base::Shared<oci::BackendSet> foreign;  // the set as the foreign write left it
  base::Shared<oci::BackendSet> sent;     // what our write behind it made of it
  oci::WorkRequestId restored_by;         // the write that does, once accepted; else empty
};

struct Memory {
  // Flips that are due, and since when: the coalescing window counts from here.
  std::map<BackendKey, absl::Time> due_since;
  // First read that showed the backend in the set; InfinitePast() for those that
  // the first read of this process had.
  BackendMap<absl::Time> registered_at;
  BackendMap<KnownBackend> known;
  std::optional<OwnWrite> own_write;
  std::optional<LostWrite> lost_write;
  absl::Time last_write = absl::InfinitePast();  // accepted, on this load balancer
  absl::Time last_burst = absl::InfinitePast();  // its first accepted write
  // Sets of the running burst that are still to be written.
  std::set<oci::BackendSetName> burst_sets;
  // Published addresses that a set lacks, or that left publication and are still
  // in it, and since when.
  std::map<BackendKey, absl::Time> pending_since;
  // Drains that belong to a wave that was counted, and those that an accepted
  // write carried; the value is the Pod's UID.
  std::map<BackendKey, std::string> in_wave;
  std::map<BackendKey, std::string> carried;
  // Single flips sent beside foreign work requests of unknown content.
  int beside_foreign = 0;
  // Foreign work requests answered by a write queued behind them, per set.
  std::set<std::pair<oci::BackendSetName, oci::WorkRequestId>> answered;
  std::map<oci::BackendSetName, Restoration> restorations;
  // Pods whose drain somebody else set while they terminated: an ingress
  // controller that drains by itself.
  std::set<std::string> drained_by_others;
  std::set<BackendKey> last_drained;          // drain=true in the last read
  std::vector<absl::Duration> service_times;  // acceptance to finish of ours, newest last
  std::map<BackendKey, absl::Time> health_asked_at;
  // Backends whose registration was proven healthy once.
  std::set<BackendKey> proven;
  // Ending Pods that a set, by a proving look, does not hold; the value is the UID.
  std::map<BackendKey, std::string> not_registered;
  // Backends that are proven to route to a Pod whose gate waits; the value is the UID.
  std::map<BackendKey, std::string> routed;
  // By the name of a workload at a limit: the UID of its Pod that was made ready without
  // a slot.
  std::map<std::string, std::string> gate_released;
  std::map<std::string, absl::Time> gate_since;  // by the UID of a Pod that waits
  // Ending Pods that were seen waiting at the drain barrier, and workloads whose
  // last deleted Pod was ("Deployment shop/web").
  std::set<std::string> waited;
  std::set<std::string> waiting_workloads;
  std::set<std::string> let_go;  // of `waited`: those of which every set has let go
  std::set<std::string> told;    // notices that are given once
  bool first_read_done = false;
  int waves = 0;  // groups of flips that fell due together, per set, summed
};

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_MEMORY_H_
