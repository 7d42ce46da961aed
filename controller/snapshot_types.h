// The fields of everything in a snapshot, in the order in which they are written.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_TYPES_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_TYPES_H_

#include <map>
#include <string>

#include "controller/snapshot_fields.h"
#include "drain/input.h"
#include "drain/memory.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// What was asked in this pass and answered, unless said otherwise.
template <>
struct Fresh<drain::Membership> {
  static drain::Membership Make(const SnapshotContext&) { return {true, {}}; }
};
template <>
struct Fresh<drain::HealthAnswer> {
  static drain::HealthAnswer Make(const SnapshotContext& context) {
    drain::HealthAnswer answer;
    answer.answered = true;
    answer.health.status = oci::HealthStatus::kOk;
    answer.health.checked_at = context.now;
    return answer;
  }
};
template <>
struct Fresh<drain::SetHealthAnswer> {
  static drain::SetHealthAnswer Make(const SnapshotContext&) { return {true, {}}; }
};
template <>
struct Fresh<drain::Read> {
  static drain::Read Make(const SnapshotContext& context);
};
template <>
struct Fresh<drain::WorkRequests> {
  static drain::WorkRequests Make(const SnapshotContext& context) {
    return {{}, context.now, true};
  }
};
template <>
struct Fresh<oci::LoadBalancer> {
  static oci::LoadBalancer Make(const SnapshotContext& context) {
    oci::LoadBalancer load_balancer;
    load_balancer.id = context.load_balancer;
    load_balancer.lifecycle_state = "ACTIVE";
    return load_balancer;
  }
};
template <>
struct Fresh<oci::BackendSet> {
  static oci::BackendSet Make(const SnapshotContext&) {
    oci::BackendSet set;
    set.policy = "ROUND_ROBIN";
    set.health_checker_protocol = "HTTP";
    return set;
  }
};
inline drain::Read Fresh<drain::Read>::Make(const SnapshotContext& context) {
  return {Fresh<oci::LoadBalancer>::Make(context), oci::Etag("etag"), context.now, true};
}

// A Service or workload: "Service shop/web", or an object where there is a UID.
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, kube::ObjectReference& out);
rapidjson::Value WriteValue(const kube::ObjectReference& value, SnapshotWriter& writer);

// A backend: "10.0.0.1:8080", or an object where there is more to say.
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, oci::Backend& out);
rapidjson::Value WriteValue(const oci::Backend& value, SnapshotWriter& writer);

// Each set's name is its member's name.
using BackendSets = std::map<oci::BackendSetName, oci::BackendSet>;
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, BackendSets& out);
rapidjson::Value WriteValue(const BackendSets& value, SnapshotWriter& writer);

// ip_address and port from the name "ip:port".
void DeriveAddress(oci::Backend& backend);
// The document that says no more than the fields do, and its settings.
void DeriveDocument(oci::Backend& backend);
void DeriveDocument(oci::BackendSet& set);
// The kind's API version, where it is one of those this project reads.
void DeriveApiVersion(kube::ObjectReference& reference);

template <typename Visitor>
void Describe(Visitor& visitor, Fields<kube::ObjectReference>) {
  using T = kube::ObjectReference;
  visitor.Field("kind", &T::kind);
  visitor.Derive([](T& t) { DeriveApiVersion(t); });
  visitor.Field("api_version", &T::api_version);
  visitor.Field("key", &T::key);
  visitor.Field("uid", &T::uid);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::Backend>) {
  using T = oci::Backend;
  visitor.Field("name", &T::name);
  visitor.Derive([](T& t) { DeriveAddress(t); });
  visitor.Field("ip_address", &T::ip_address);
  visitor.Field("port", &T::port);
  visitor.Field("weight", &T::weight);
  visitor.Field("drain", &T::drain);
  visitor.Field("backup", &T::backup);
  visitor.Field("offline", &T::offline);
  visitor.Field("max_connections", &T::max_connections);
  visitor.Derive([](T& t) { DeriveDocument(t); });
  visitor.Field("document", &T::document);
  visitor.Field("settings", &T::settings);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::BackendSet>) {
  using T = oci::BackendSet;
  visitor.Field("name", &T::name);
  visitor.Field("backends", &T::backends);
  visitor.Field("policy", &T::policy);
  visitor.Field("health_checker_protocol", &T::health_checker_protocol);
  visitor.Field("has_session_persistence", &T::has_session_persistence);
  visitor.Derive([](T& t) { DeriveDocument(t); });
  visitor.Field("document", &T::document);
  visitor.Field("settings", &T::settings);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::LoadBalancer>) {
  using T = oci::LoadBalancer;
  visitor.Field("id", &T::id);
  visitor.Field("display_name", &T::display_name);
  visitor.Field("lifecycle_state", &T::lifecycle_state);
  visitor.Field("backend_sets", &T::backend_sets);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::WorkRequest>) {
  using T = oci::WorkRequest;
  visitor.Field("id", &T::id);
  visitor.Field("type", &T::type);
  visitor.Field("state", &T::state);
  visitor.Field("message", &T::message);
  visitor.Field("error_details", &T::error_details);
  visitor.Field("time_accepted", &T::time_accepted);
  visitor.Field("time_finished", &T::time_finished);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::BackendHealth>) {
  using T = oci::BackendHealth;
  visitor.Field("status", &T::status);
  visitor.Field("checked_at", &T::checked_at);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Options>) {
  using T = drain::Options;
  visitor.Field("coalesce_window", &T::coalesce_window);
  visitor.Field("coalesce_at_most", &T::coalesce_at_most);
  visitor.Field("active_poll", &T::active_poll);
  visitor.Field("idle_poll", &T::idle_poll);
  visitor.Field("work_request_poll", &T::work_request_poll);
  visitor.Field("own_write_give_up", &T::own_write_give_up);
  visitor.Field("health_poll", &T::health_poll);
  visitor.Field("lookup_retry", &T::lookup_retry);
  visitor.Field("shut_out", &T::shut_out);
  visitor.Field("established_after", &T::established_after);
  visitor.Field("foreign_quiet", &T::foreign_quiet);
  visitor.Field("force_after", &T::force_after);
  visitor.Field("ledger_patience", &T::ledger_patience);
  visitor.Field("brake_percent", &T::brake_percent);
  visitor.Field("max_backends_per_set", &T::max_backends_per_set);
  visitor.Field("max_backends_per_load_balancer", &T::max_backends_per_load_balancer);
  visitor.Field("carry_membership", &T::carry_membership);
  visitor.Field("membership_behind_foreign", &T::membership_behind_foreign);
  visitor.Field("write_mode", &T::write_mode);
  visitor.Field("release", &T::release);
  visitor.Field("presume_waiter", &T::presume_waiter);
  visitor.Field("acknowledge_all", &T::acknowledge_all);
  visitor.Field("gates", &T::gates);
  visitor.Field("gate_fail_safe", &T::gate_fail_safe);
  visitor.Field("gate_release_at_limit", &T::gate_release_at_limit);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::PodLookup>) {
  using T = drain::PodLookup;
  visitor.Field("state", &T::state);
  visitor.Field("uid", &T::uid);
  visitor.Field("pod_ips", &T::pod_ips);
  visitor.Field("phase", &T::phase);
  visitor.Field("disruption_target", &T::disruption_target);
  visitor.Field("gated", &T::gated);
  visitor.Field("gate_true", &T::gate_true);
  visitor.Field("deletion_timestamp", &T::deletion_timestamp);
  visitor.Field("deletion_grace", &T::deletion_grace);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Endpoint>) {
  using T = drain::Endpoint;
  visitor.Field("ip", &T::ip);
  visitor.Field("port", &T::port);
  visitor.Derive([](T& t) { t.backend = oci::MakeBackendName(t.ip, t.port); });
  visitor.Field("backend", &T::backend);
  visitor.Field("pod", &T::pod);
  visitor.Field("uid", &T::uid);
  visitor.Field("serving", &T::serving);
  visitor.Field("terminating", &T::terminating);
  visitor.Field("cached_uid", &T::cached_uid);
  visitor.Field("deletion_timestamp", &T::deletion_timestamp);
  visitor.Field("deletion_grace", &T::deletion_grace);
  visitor.Field("workload", &T::workload);
  visitor.Field("lookup", &T::lookup);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Workload>) {
  using T = drain::Workload;
  visitor.Field("reference", &T::reference);
  visitor.Field("wanted", &T::wanted);
  visitor.Field("max_unavailable", &T::max_unavailable);
  visitor.Field("deleting", &T::deleting);
  visitor.Field("gated", &T::gated);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Member>) {
  using T = drain::Member;
  visitor.Field("ip", &T::ip);
  visitor.Field("port", &T::port);
  visitor.Derive([](T& t) { t.backend = oci::MakeBackendName(t.ip, t.port); });
  visitor.Field("backend", &T::backend);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Membership>) {
  using T = drain::Membership;
  visitor.Field("answered", &T::answered);
  visitor.Field("members", &T::members);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::SetInput>) {
  using T = drain::SetInput;
  visitor.Field("name", &T::name);
  visitor.Field("service", &T::service);
  visitor.Field("opted_in", &T::opted_in);
  visitor.Field("publishes_terminating", &T::publishes_terminating);
  visitor.Field("contested", &T::contested);
  visitor.Field("has_membership", &T::has_membership);
  visitor.Field("serving", &T::serving);
  visitor.Field("shutdown", &T::shutdown);
  visitor.Field("sticky_cutoff", &T::sticky_cutoff);
  visitor.Field("endpoints", &T::endpoints);
  visitor.Field("target_port", &T::target_port);
  visitor.Field("membership", &T::membership);
  visitor.Field("max_additions", &T::max_additions);
  visitor.Field("refused_beyond", &T::refused_beyond);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Read>) {
  using T = drain::Read;
  visitor.Field("at", &T::at);
  visitor.Field("this_pass", &T::this_pass);
  visitor.Field("etag", &T::etag);
  visitor.Field("load_balancer", &T::load_balancer);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::WorkRequests>) {
  using T = drain::WorkRequests;
  visitor.Field("at", &T::at);
  visitor.Field("this_pass", &T::this_pass);
  visitor.Field("all", &T::all);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::HealthAnswer>) {
  using T = drain::HealthAnswer;
  visitor.Field("answered", &T::answered);
  visitor.Field("health", &T::health);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<oci::BackendSetHealth>) {
  using T = oci::BackendSetHealth;
  visitor.Field("status", &T::status);
  visitor.Field("warning", &T::warning);
  visitor.Field("critical", &T::critical);
  visitor.Field("unknown", &T::unknown);
  visitor.Field("total_backend_count", &T::total_backend_count);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::SetHealthAnswer>) {
  using T = drain::SetHealthAnswer;
  visitor.Field("answered", &T::answered);
  visitor.Field("health", &T::health);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::LedgerEntry>) {
  using T = drain::LedgerEntry;
  visitor.Field("pod", &T::pod);
  visitor.Field("pod_uid", &T::pod_uid);
  visitor.Field("since", &T::since);
  visitor.Field("deadline", &T::deadline);
  visitor.Field("deleted_at", &T::deleted_at);
  visitor.Field("offline", &T::offline);
  visitor.Field("confirmed", &T::confirmed);
  visitor.Field("by_operator", &T::by_operator);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::OwnWrite>) {
  using T = drain::OwnWrite;
  visitor.Field("work_request", &T::work_request);
  visitor.Field("set", &T::set);
  visitor.Field("reason", &T::reason);
  visitor.Field("accepted_at", &T::accepted_at);
  visitor.Field("sent", &T::sent);
  visitor.Field("sent_backend", &T::sent_backend);
  visitor.Field("behind", &T::behind);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::LostWrite>) {
  using T = drain::LostWrite;
  visitor.Field("whole_set", &T::whole_set);
  visitor.Field("sent_at", &T::sent_at);
  visitor.Field("behind", &T::behind);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::KnownBackend>) {
  using T = drain::KnownBackend;
  visitor.Field("pod_uid", &T::pod_uid);
  visitor.Field("pod", &T::pod);
  visitor.Field("gone_at", &T::gone_at);
  visitor.Field("seen_deleted", &T::seen_deleted);
  visitor.Field("served", &T::served);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Restoration>) {
  visitor.Field("foreign", &drain::Restoration::foreign);
  visitor.Field("sent", &drain::Restoration::sent);
  visitor.Field("restored_by", &drain::Restoration::restored_by);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Memory>) {
  using T = drain::Memory;
  visitor.Field("due_since", &T::due_since);
  visitor.Field("registered_at", &T::registered_at);
  visitor.Field("known", &T::known);
  visitor.Field("own_write", &T::own_write);
  visitor.Field("lost_write", &T::lost_write);
  visitor.Field("last_write", &T::last_write);
  visitor.Field("last_burst", &T::last_burst);
  visitor.Field("burst_sets", &T::burst_sets);
  visitor.Field("pending_since", &T::pending_since);
  visitor.Field("in_wave", &T::in_wave);
  visitor.Field("carried", &T::carried);
  visitor.Field("beside_foreign", &T::beside_foreign);
  visitor.Field("answered", &T::answered);
  visitor.Field("restorations", &T::restorations);
  visitor.Field("drained_by_others", &T::drained_by_others);
  visitor.Field("last_drained", &T::last_drained);
  visitor.Field("service_times", &T::service_times);
  visitor.Field("health_asked_at", &T::health_asked_at);
  visitor.Field("proven", &T::proven);
  visitor.Field("not_registered", &T::not_registered);
  visitor.Field("routed", &T::routed);
  visitor.Field("gate_since", &T::gate_since);
  visitor.Field("gate_released", &T::gate_released);
  visitor.Field("waited", &T::waited);
  visitor.Field("waiting_workloads", &T::waiting_workloads);
  visitor.Field("let_go", &T::let_go);
  visitor.Field("told", &T::told);
  visitor.Field("first_read_done", &T::first_read_done);
  visitor.Field("waves", &T::waves);
}

template <typename Visitor>
void Describe(Visitor& visitor, Fields<drain::Input>) {
  using T = drain::Input;
  visitor.Field("now", &T::now);
  visitor.Field("load_balancer", &T::load_balancer);
  visitor.Field("options", &T::options);
  visitor.Field("paused", &T::paused);
  visitor.Field("carry_all", &T::carry_all);
  visitor.Field("last_ingress_change", &T::last_ingress_change);
  visitor.Field("sets", &T::sets);
  visitor.Field("workloads", &T::workloads);
  visitor.Field("waiters", &T::waiters);
  visitor.Field("read", &T::read);
  visitor.Field("read_failed", &T::read_failed);
  visitor.Field("work_requests", &T::work_requests);
  visitor.Field("work_requests_failed", &T::work_requests_failed);
  visitor.Field("own_work_request", &T::own_work_request);
  visitor.Field("own_work_request_failed", &T::own_work_request_failed);
  visitor.Field("own_work_request_polled_at", &T::own_work_request_polled_at);
  visitor.Field("health", &T::health);
  visitor.Field("set_health", &T::set_health);
  visitor.Field("ledger", &T::ledger);
  visitor.Field("ledger_loaded", &T::ledger_loaded);
  visitor.Field("ledger_failing_since", &T::ledger_failing_since);
  visitor.Field("write_not_before", &T::write_not_before);
  visitor.Field("memory", &T::memory);
}

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_TYPES_H_
