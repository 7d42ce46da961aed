// Everything a plan for one load balancer rests on, as plain values.
//
// An Input is a photograph: stores of the watches, the last read of the load
// balancer, answers to questions that an earlier plan of the same pass asked,
// the ledger, and what the last pass remembered. The same Input gives the same
// Plan, on any machine, for ever; testdata/drain/ holds such photographs.
#ifndef OCI_BACKEND_DRAIN_DRAIN_INPUT_H_
#define OCI_BACKEND_DRAIN_DRAIN_INPUT_H_

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/shared.h"
#include "drain/memory.h"
#include "kube/types.h"
#include "oci/types.h"

namespace drain {

// How sets are written (--drain_write).
enum class WriteMode { kAuto, kBackend, kBackendSet };

// Settings, from flags. The defaults are the product's.
struct Options {
  absl::Duration coalesce_window = absl::Milliseconds(200);
  absl::Duration coalesce_at_most = absl::Seconds(1);
  absl::Duration active_poll = absl::Seconds(2);        // while a drain is in force or due
  absl::Duration idle_poll = absl::Seconds(60);         // otherwise
  absl::Duration work_request_poll = absl::Seconds(1);  // while a write of ours is in flight
  // After its acceptance a write without an end counts as somebody else's; longer
  // than a control plane stands still.
  absl::Duration own_write_give_up = absl::Hours(1);
  absl::Duration health_poll = absl::Seconds(5);         // while a drain waits for health
  absl::Duration lookup_retry = absl::Seconds(1);        // after a lookup that decided nothing
  absl::Duration shut_out = absl::Seconds(70);           // NIC's cache age plus one tick
  absl::Duration established_after = absl::Seconds(30);  // in the set for so long: proven
  absl::Duration foreign_quiet = absl::Minutes(2);       // without a change of an Ingress
  absl::Duration force_after = absl::Minutes(5);         // a drain stays in force past deadline
  absl::Duration ledger_patience = absl::Seconds(2);     // then drain without the ledger
  int brake_percent = 50;
  int max_backends_per_set = 512;
  int max_backends_per_load_balancer = 512;
  bool carry_membership = true;           // --membership=carry|observe
  bool membership_behind_foreign = true;  // --write_behind_foreign=membership|never
  WriteMode write_mode = WriteMode::kAuto;
  bool release = false;  // `oci-drain release`: un-drain what we drained and lives
  // A drain-barrier waiter is presumed for so long after a deletion.
  absl::Duration presume_waiter = absl::Seconds(3);
  // Every ending Pod is to be told how far its drain is, not only those that wait
  // at the barrier: the load balancer is looked at for them too.
  bool acknowledge_all = false;
  // Pods with our readiness gate are looked after, and made ready after so long in
  // any case (0: never).
  bool gates = false;
  absl::Duration gate_fail_safe = absl::ZeroDuration();
  // Where no slot is free and none will be, one waiting Pod of a workload is made ready
  // without (--gate_at_limit=release), so that the rollout ends an old one.
  bool gate_release_at_limit = false;
};

// What a live GET of a Pod answered.
enum class LookupState { kNotAsked, kNotFound, kFound, kNoAnswer };

struct PodLookup {
  LookupState state = LookupState::kNotAsked;
  std::string uid;
  std::vector<std::string> pod_ips;
  std::string phase;
  bool disruption_target = false;
  bool gated = false;      // our readiness gate is among its gates
  bool gate_true = false;  // and its condition is True
  absl::Time deletion_timestamp = absl::InfiniteFuture();
  absl::Duration deletion_grace = absl::ZeroDuration();
};

// One published address of a Service on one of its ports, from the merged
// endpoint slices, with what is known about the Pod that it names.
struct Endpoint {
  oci::BackendName backend;  // ip:port, port of this endpoint's own slice
  std::string ip;
  int port = 0;
  kube::ObjectKey pod;  // empty name: targetRef is no Pod of this namespace
  std::string uid;      // UID in targetRef
  bool serving = true;
  bool terminating = false;

  // From the watch of Pods. cached_uid is empty if no Pod of that name is cached.
  std::string cached_uid;
  absl::Time deletion_timestamp = absl::InfiniteFuture();  // the moment of SIGKILL
  absl::Duration deletion_grace = absl::ZeroDuration();
  int workload = -1;  // index into Input::workloads; -1: unknown

  PodLookup lookup;
};

// The Deployment or StatefulSet that owns Pods.
struct Workload {
  kube::ObjectReference reference;
  int wanted = 0;           // spec.replicas
  int max_unavailable = 0;  // Pods
  bool deleting = false;
  bool gated = false;  // its Pods have our readiness gate
};

// An address of core Endpoints with NIC's one port: a backend that NIC wants.
struct Member {
  oci::BackendName backend;
  std::string ip;
  int port = 0;
};

// The answer to a question for a Service's membership, from a live GET of core
// Endpoints in this pass.
struct Membership {
  bool answered = false;  // false: the GET failed or was truncated; flags only
  std::vector<Member> members;
};

// One backend set that something in the cluster maps to.
struct SetInput {
  oci::BackendSetName name;
  kube::ObjectReference service;
  bool opted_in = false;
  bool publishes_terminating = false;  // publishNotReadyAddresses
  bool contested = false;              // several Services map here: hands off
  // False for sets from --lb_map_file: flags only, ever.
  bool has_membership = true;
  absl::Duration serving = absl::ZeroDuration();  // P/backend-drain-serving
  absl::Duration shutdown = absl::Seconds(30);    // P/backend-drain-shutdown
  // P/backend-drain-sticky-cutoff; absent: drained backends keep their sessions.
  std::optional<absl::Duration> sticky_cutoff;
  std::vector<Endpoint> endpoints;
  // NIC's one port: with it and an endpoint's ip, what NIC wants in the set.
  // 0: the port cannot be told, so nothing is said about membership.
  int target_port = 0;
  std::optional<Membership> membership;  // absent: not asked in this pass
  // Of the free slots of the load balancer, what this set may take now; absent: all.
  std::optional<int> max_additions;
  // A while ago OCI refused to let the set hold more than this; absent: it did not.
  std::optional<int> refused_beyond;
};

// How many backends the set may hold as far as is known: the limit, or what OCI refused
// to exceed.
inline int LimitOf(const Options& options, const SetInput& set) {
  return std::min(options.max_backends_per_set,
                  set.refused_beyond.value_or(options.max_backends_per_set));
}

struct Read {
  base::Shared<oci::LoadBalancer> load_balancer;  // hundreds of backends, perhaps
  oci::Etag etag;
  absl::Time at;
  bool this_pass = false;
};

struct WorkRequests {
  std::vector<oci::WorkRequest> all;  // but for finished ones, which decide nothing
  absl::Time at;
  bool this_pass = false;
};

struct HealthAnswer {
  bool answered = false;
  oci::BackendHealth health;
};

struct SetHealthAnswer {
  bool answered = false;
  oci::BackendSetHealth health;
};

struct Input {
  absl::Time now;
  Options options;
  oci::Ocid load_balancer;
  bool paused = false;     // P/backend-drain-paused on a class of this load balancer
  bool carry_all = false;  // P/backend-drain-carry: "all"
  // The last change of an Ingress or IngressClass of this load balancer.
  absl::Time last_ingress_change = absl::InfinitePast();
  std::vector<SetInput> sets;
  std::vector<Workload> workloads;
  // UIDs of Pods that wait at the drain barrier: their processes do not end before
  // it says so.
  std::set<std::string> waiters;

  // Absent: never read. A failed question leaves the last answer in place and
  // sets its _failed flag, so that it is not asked again in this pass.
  std::optional<Read> read;
  bool read_failed = false;
  std::optional<WorkRequests> work_requests;
  bool work_requests_failed = false;
  std::optional<oci::WorkRequest> own_work_request;  // of this pass
  bool own_work_request_failed = false;
  absl::Time own_work_request_polled_at = absl::InfinitePast();
  std::map<BackendKey, HealthAnswer> health;  // of this pass
  std::map<oci::BackendSetName, SetHealthAnswer> set_health;

  Ledger ledger;
  bool ledger_loaded = true;
  // Writing the ledger fails since then; InfiniteFuture(): it does not.
  absl::Time ledger_failing_since = absl::InfiniteFuture();
  // No write before this time: backoff after an error, or --oci_qps.
  absl::Time write_not_before = absl::InfinitePast();

  Memory memory;
};

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_INPUT_H_
