#include "cmd/settings_flags.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "annotations/annotations.h"
#include "annotations/table.h"
#include "base/file.h"
#include "cmd/command_line.h"
#include "controller/lb_map.h"
#include "gflags/gflags.h"

DEFINE_string(controller_class, "oci.oraclecloud.com/native-ingress-controller",
              "spec.controller of the IngressClasses whose load balancers are drained");
DEFINE_string(namespace, "",
              "Namespace of the ConfigMaps that record drains; empty: POD_NAMESPACE from the "
              "environment, else oci-backend-drain");
DEFINE_string(lb_map_file, "",
              "YAML list of {service, port, load_balancer, backend_set} for sets that no Ingress "
              "describes; they get drain flags only");
DEFINE_bool(dry_run, false, "Plan, report and emit Events, but write nothing to OCI or Pods");
DEFINE_string(coalesce_window, "200ms",
              "How long a drain waits for others of its backend set, at most 1s in all");
DEFINE_string(membership, "carry",
              "carry: a write brings the membership that the ingress controller wants, so that it "
              "has nothing left to write; observe: drain flags only");
DEFINE_string(write_behind_foreign, "membership",
              "membership: queue a corrective write behind the ingress controller's; never: wait");
DEFINE_string(drain_write, "auto",
              "auto: UpdateBackend for one flip, UpdateBackendSet for more; backend or set: only "
              "that call");
DEFINE_int32(drain_brake_percent, 50,
             "Of a backend set of 4 or more, no more than this goes without a Pod's deletion to "
             "prove it");
DEFINE_string(pod_conditions, "none",
              "What is written to pods/status: none; drained: load-balancer-drained of ending "
              "Pods; gate: load-balancer-ready, the readiness gate; both");
DEFINE_string(gate_fail_safe, "0s",
              "A Pod whose readiness gate waits for so long is made ready all the same; 0s: never");
DEFINE_string(
    gate_at_limit, "hold",
    "Where no slot is free and none will be: hold: Pods whose readiness gate waits stay "
    "so; release: one of each workload is made ready, so that the rollout ends an old Pod");
DEFINE_string(active_poll, "2s", "How often a load balancer with drains in force is looked at");
DEFINE_string(work_request_poll, "1s", "How often a write in flight is looked at");
DEFINE_int32(max_backends_per_set, 512, "OCI's limit of backends in one backend set");
DEFINE_int32(max_backends_per_load_balancer, 512, "OCI's limit of backends on one load balancer");
DEFINE_int32(max_backend_sets, 16, "OCI's limit of backend sets on one load balancer");
DEFINE_string(
    capacity_action, "warn",
    "warn: tell when backends will not fit; withdraw: also take terminating Pods that are "
    "drained out of Services whose selector has the label "
    "oci-native-ingress.oraclecloud.com/published, when a Pod waits for a slot");
DEFINE_string(default_reserve, "auto",
              "Slots kept for rollouts of a Service without annotation: auto, 20 or 10%");
DEFINE_double(oci_qps, 10, "Calls to OCI a second, for all load balancers together");
DEFINE_int32(oci_burst, 20, "Calls to OCI at once");
DEFINE_int32(workers, 8, "Load balancers worked on at the same time");

namespace cmd {
namespace {

absl::Status Positive(absl::string_view name, double value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", name, ": must be above 0"));
}

absl::Status OneOf(absl::string_view name, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat("--", name, "=", value, ": expected ", allowed));
}

std::string NamespaceFromEnvironment() {
  const char* ns = std::getenv("POD_NAMESPACE");
  return ns == nullptr || *ns == '\0' ? "oci-backend-drain" : ns;
}

absl::Status ReadModes(drain::Options& options) {
  if (FLAGS_membership != "carry" && FLAGS_membership != "observe") {
    return OneOf("membership", FLAGS_membership, "carry or observe");
  }
  if (FLAGS_write_behind_foreign != "membership" && FLAGS_write_behind_foreign != "never") {
    return OneOf("write_behind_foreign", FLAGS_write_behind_foreign, "membership or never");
  }
  options.carry_membership = FLAGS_membership == "carry";
  options.membership_behind_foreign = FLAGS_write_behind_foreign == "membership";
  if (FLAGS_drain_write == "auto") {
    options.write_mode = drain::WriteMode::kAuto;
  } else if (FLAGS_drain_write == "backend") {
    options.write_mode = drain::WriteMode::kBackend;
  } else if (FLAGS_drain_write == "set") {
    options.write_mode = drain::WriteMode::kBackendSet;
  } else {
    return OneOf("drain_write", FLAGS_drain_write, "auto, backend or set");
  }
  return absl::OkStatus();
}

absl::Status ReadCapacity(controller::Settings& settings) {
  if (FLAGS_capacity_action != "warn" && FLAGS_capacity_action != "withdraw") {
    return OneOf("capacity_action", FLAGS_capacity_action, "warn or withdraw");
  }
  const auto reserve = annotations::ParseReserve(FLAGS_default_reserve);
  if (!reserve.has_value()) {
    return OneOf("default_reserve", FLAGS_default_reserve,
                 annotations::Allowed(annotations::Type::kReserve));
  }
  settings.capacity_action = FLAGS_capacity_action == "withdraw"
                                 ? controller::CapacityAction::kWithdraw
                                 : controller::CapacityAction::kWarn;
  settings.default_reserve = *reserve;
  settings.max_backend_sets = FLAGS_max_backend_sets;
  return Positive("max_backend_sets", FLAGS_max_backend_sets);
}

absl::Status ReadPodConditions(controller::Settings& settings) {
  const std::string& choice = FLAGS_pod_conditions;
  if (choice != "none" && choice != "drained" && choice != "gate" && choice != "both") {
    return OneOf("pod_conditions", choice, "none, drained, gate or both");
  }
  settings.pod_conditions.drained = choice == "drained" || choice == "both";
  settings.pod_conditions.gate = choice == "gate" || choice == "both";
  settings.plan.acknowledge_all = settings.pod_conditions.drained;
  settings.plan.gates = settings.pod_conditions.gate;
  const auto fail_safe = DurationFlag("gate_fail_safe", FLAGS_gate_fail_safe);
  if (!fail_safe.ok()) return fail_safe.status();
  settings.plan.gate_fail_safe = *fail_safe;
  if (FLAGS_gate_at_limit != "hold" && FLAGS_gate_at_limit != "release") {
    return OneOf("gate_at_limit", FLAGS_gate_at_limit, "hold or release");
  }
  settings.plan.gate_release_at_limit = FLAGS_gate_at_limit == "release";
  return absl::OkStatus();
}

absl::Status ReadDurations(drain::Options& options) {
  const auto window = DurationFlag("coalesce_window", FLAGS_coalesce_window);
  if (!window.ok()) return window.status();
  const auto active = DurationFlag("active_poll", FLAGS_active_poll);
  if (!active.ok()) return active.status();
  const auto poll = DurationFlag("work_request_poll", FLAGS_work_request_poll);
  if (!poll.ok()) return poll.status();
  if (*active <= absl::ZeroDuration() || *poll <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--active_poll and --work_request_poll: must be above 0");
  }
  options.coalesce_window = *window;
  options.active_poll = *active;
  options.work_request_poll = *poll;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<controller::Settings> SettingsFromFlags() {
  controller::Settings settings;
  settings.controller_class = FLAGS_controller_class;
  settings.ns = FLAGS_namespace.empty() ? NamespaceFromEnvironment() : FLAGS_namespace;
  settings.dry_run = FLAGS_dry_run;
  settings.oci_qps = FLAGS_oci_qps;
  settings.oci_burst = FLAGS_oci_burst;
  settings.workers = FLAGS_workers;
  settings.plan.brake_percent = FLAGS_drain_brake_percent;
  settings.plan.max_backends_per_set = FLAGS_max_backends_per_set;
  settings.plan.max_backends_per_load_balancer = FLAGS_max_backends_per_load_balancer;
  absl::Status status = ReadModes(settings.plan);
  status.Update(ReadCapacity(settings));
  status.Update(ReadDurations(settings.plan));
  status.Update(ReadPodConditions(settings));
  status.Update(Positive("oci_qps", FLAGS_oci_qps));
  status.Update(Positive("oci_burst", FLAGS_oci_burst));
  status.Update(Positive("workers", FLAGS_workers));
  status.Update(Positive("max_backends_per_set", FLAGS_max_backends_per_set));
  status.Update(Positive("max_backends_per_load_balancer", FLAGS_max_backends_per_load_balancer));
  if (FLAGS_drain_brake_percent < 0 || FLAGS_drain_brake_percent > 100) {
    status.Update(absl::InvalidArgumentError("--drain_brake_percent: expected 0 to 100"));
  }
  if (!status.ok()) return status;
  if (!FLAGS_lb_map_file.empty()) {
    const auto text = base::ReadFile(FLAGS_lb_map_file, controller::kMaxLbMapBytes);
    if (!text.ok()) return Prefixed("--lb_map_file", text.status());
    auto entries = controller::ParseLbMap(*text);
    if (!entries.ok()) return Prefixed(FLAGS_lb_map_file, entries.status());
    settings.lb_map = *std::move(entries);
  }
  return settings;
}

}  // namespace cmd
