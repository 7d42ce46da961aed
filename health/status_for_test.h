// Statuses to show in tests: an ordinary one, and one whose texts want to be more.
#ifndef OCI_BACKEND_DRAIN_HEALTH_STATUS_FOR_TEST_H_
#define OCI_BACKEND_DRAIN_HEALTH_STATUS_FOR_TEST_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "health/status.h"
#include "health/vitals.h"

namespace health {

inline const absl::Time kStatusNow = absl::FromUnixSeconds(1'796'040'000);

inline SetSlots MakeSlots(const std::string& set, const std::string& service,
                          const std::vector<int>& counts) {
  SetSlots slots;
  slots.backend_set = set;
  slots.service = service;
  slots.limit = 512;
  slots.live = counts[0];
  slots.draining = counts[1];
  slots.foreign = counts[2];
  slots.waiting = counts[3];
  slots.reserved = counts[4];
  slots.free = 512 - slots.live - slots.draining - slots.foreign;
  return slots;
}

inline DrainStatus MakeDrain(const std::string& pod, const std::string& backend, DrainState state,
                             absl::Duration deadline_in) {
  DrainStatus drain;
  drain.load_balancer = "ocid1.loadbalancer.oc1.iad.aaaaaaaaexample";
  drain.backend_set = "bs_f151df96ee98ff0";
  drain.backend = backend;
  drain.pod = pod;
  drain.state = state;
  drain.reason = "its Pod is terminating";
  drain.deadline = kStatusNow + deadline_in;
  if (state == DrainState::kConfirmed) drain.confirmed_at = kStatusNow - absl::Seconds(3);
  return drain;
}

inline WorkRequestStatus MakeWorkRequest(const std::string& id, const std::string& state,
                                         absl::Duration accepted_ago) {
  WorkRequestStatus request;
  request.id = id;
  request.load_balancer = "ocid1.loadbalancer.oc1.iad.aaaaaaaaexample";
  request.backend_set = "bs_f151df96ee98ff0";
  request.what = "UpdateBackendSet, drain";
  request.ours = true;
  request.state = state;
  request.accepted = kStatusNow - accepted_ago;
  if (state != "in progress") request.finished = request.accepted + absl::Seconds(9);
  if (state == "failed") request.error = "BAD_INPUT: backend 10.0.3.9:8080 is not there";
  return request;
}

// A rollout with something of everything.
inline Status OrdinaryStatus() {
  Status status;
  status.at = kStatusNow;
  status.started = kStatusNow - absl::Hours(53) - absl::Minutes(12);
  status.version = "0.1.0 (3f2a91c)";
  status.elects = status.leads = true;
  status.identity = status.leader = "oci-backend-drain-7c9d8f6b5-x2kqp_1a2b3c4d";
  status.terms = 1;
  LoadBalancerStatus balancer;
  balancer.id = "ocid1.loadbalancer.oc1.iad.aaaaaaaaexample";
  balancer.name = "shop-public";
  balancer.classes = {"public", "public-canary"};
  balancer.state = "ACTIVE";
  balancer.read_at = kStatusNow - absl::Milliseconds(800);
  balancer.next_look = kStatusNow + absl::Milliseconds(1200);
  balancer.slots.limit = 512;
  balancer.slots.in_use = 331;
  balancer.sets.items = {MakeSlots("bs_f151df96ee98ff0", "shop/web", {120, 14, 0, 0, 60}),
                         MakeSlots("bs_0c2b4e8d7a61f35", "shop/checkout", {180, 0, 2, 3, 90}),
                         MakeSlots("default_ingress", "shop/landing", {15, 0, 0, 0, 4})};
  status.load_balancers.items.push_back(balancer);
  status.drains.items = {
      MakeDrain("shop/web-6d5f7-lq2vd", "10.0.3.17:8080", DrainState::kWritten, absl::Seconds(-2)),
      MakeDrain("shop/web-6d5f7-9xkzt", "10.0.3.21:8080", DrainState::kWritten, absl::Seconds(11)),
      MakeDrain("shop/web-6d5f7-c8rjm", "10.0.4.4:8080", DrainState::kWaits, absl::Seconds(47)),
      MakeDrain("shop/web-6d5f7-t5wpn", "10.0.4.9:8080", DrainState::kConfirmed,
                absl::Seconds(31))};
  status.drains.items[2].reason =
      "its Pod is terminating; last serving backend of its workload, waits for a healthy "
      "replacement";
  status.drains.items[2].until = kStatusNow + absl::Seconds(27);
  status.work_requests.items = {
      MakeWorkRequest("ocid1.loadbalancerworkrequest.oc1.iad.aaaab1", "in progress",
                      absl::Seconds(4)),
      MakeWorkRequest("ocid1.loadbalancerworkrequest.oc1.iad.aaaab0", "succeeded",
                      absl::Seconds(70)),
      MakeWorkRequest("ocid1.loadbalancerworkrequest.oc1.iad.aaaaaf", "failed", absl::Minutes(9))};
  const auto decide = [&](int ago, const char* action, const char* pod, const char* backend,
                          const char* reason, bool warning) {
    status.decisions.items.push_back({kStatusNow - absl::Seconds(ago),
                                      "ocid1.loadbalancer.oc1.iad.aaaaaaaaexample",
                                      "bs_f151df96ee98ff0", backend, pod, action, reason, warning});
  };
  decide(1, "wait", "shop/web-6d5f7-c8rjm", "10.0.4.4:8080",
         "its Pod is terminating; last serving backend of its workload, waits for a healthy "
         "replacement",
         false);
  decide(3, "BackendDrained", "shop/web-6d5f7-t5wpn", "10.0.4.9:8080",
         "Pod web-6d5f7-t5wpn: backend 10.0.4.9:8080 is drained, 11s after the Pod's deletion, "
         "34s before its deadline",
         false);
  decide(4, "drain", "shop/web-6d5f7-9xkzt", "10.0.3.21:8080",
         "UpdateBackendSet, drain: accepted as work request "
         "ocid1.loadbalancerworkrequest.oc1.iad.aaaab1",
         false);
  decide(61, "DrainDeadlineMissed", "shop/web-6d5f7-lq2vd", "10.0.3.17:8080",
         "Pod web-6d5f7-lq2vd was not confirmed drained when its grace period ended; raise "
         "terminationGracePeriodSeconds above the drain latency seen here",
         true);
  decide(75, "leave out", "", "10.0.3.2:8080",
         "UpdateBackendSet, register: accepted as work request "
         "ocid1.loadbalancerworkrequest.oc1.iad.aaaab0",
         false);
  status.decisions.more = 1312;
  return status;
}

inline VitalsReport OrdinaryVitals() {
  VitalsReport vitals;
  vitals.ready = true;
  for (int i = 0; i < 8; ++i) {
    vitals.loops.push_back({absl::StrCat("worker-", i), absl::Milliseconds(170 * i), false});
  }
  for (const char* name : {"mapping", "events", "pod conditions", "lease", "http pool",
                           "watch services", "watch ingresses", "watch pods in namespace shop"}) {
    vitals.loops.push_back({name, absl::Milliseconds(310), false});
  }
  vitals.parts = {{"caches", true, ""}, {"leader election", true, "leads"}};
  return vitals;
}

// Puts `text` wherever the cluster, OCI or a user decides what stands there.
inline Status HostileStatus(const std::string& text) {
  Status status = OrdinaryStatus();
  status.leader = status.identity = status.version = text;
  LoadBalancerStatus& balancer = status.load_balancers.items[0];
  balancer.id = balancer.name = balancer.state = balancer.trouble = text;
  balancer.classes = {text};
  for (SetSlots& set : balancer.sets.items) set.backend_set = set.service = text;
  for (DrainStatus& drain : status.drains.items) {
    drain.load_balancer = drain.backend_set = drain.backend = drain.pod = drain.reason = text;
  }
  for (DecisionStatus& decision : status.decisions.items) {
    decision.load_balancer = decision.backend_set = decision.backend = decision.pod = text;
    decision.action = decision.reason = text;
  }
  for (WorkRequestStatus& request : status.work_requests.items) {
    request.id = request.load_balancer = request.backend_set = request.what = text;
    request.state = request.error = text;
  }
  return status;
}

inline VitalsReport HostileVitals(const std::string& text) {
  VitalsReport vitals = OrdinaryVitals();
  vitals.ready = false;
  vitals.wedge = text;
  for (LoopReport& loop : vitals.loops) loop.name = text;
  for (PartReport& part : vitals.parts) part = {text, false, text};
  return vitals;
}

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_STATUS_FOR_TEST_H_
