#include "cmd/health_flags.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cmd/command_line.h"
#include "gflags/gflags.h"

DEFINE_int32(
    health_port, 8081,
    "Where /livez, /readyz, /metrics and /statusz are; 0: any free port, named in the log");
DEFINE_string(health_address, "0.0.0.0", "The address that /livez, /readyz and /metrics listen on");
DEFINE_string(wedge_after, "10s",
              "A loop that stands still for so long makes this process give up its lease and end");
DEFINE_bool(leader_elect, true,
            "Of several replicas one writes, chosen by a Lease; false: this one always does. A dry "
            "run takes no part");
DEFINE_string(lease_name, "oci-drain", "Name of the Lease");
DEFINE_string(lease_namespace, "", "Namespace of the Lease; empty: that of --namespace");
DEFINE_string(lease_duration, "15s",
              "Another replica takes the lease after so long without a sign");
DEFINE_string(renew_deadline, "10s",
              "Without a renewal the leader stops to write after so long; below --lease_duration");
DEFINE_string(retry_period, "2s", "Between two renewals of the lease");

namespace cmd {
namespace {

absl::StatusOr<controller::ElectionOptions> ElectionFromFlags(const std::string& ns,
                                                              const std::string& identity) {
  controller::ElectionOptions options;
  options.lease = {FLAGS_lease_namespace.empty() ? ns : FLAGS_lease_namespace, FLAGS_lease_name};
  options.identity = identity;
  const auto duration = DurationFlag("lease_duration", FLAGS_lease_duration);
  if (!duration.ok()) return duration.status();
  const auto deadline = DurationFlag("renew_deadline", FLAGS_renew_deadline);
  if (!deadline.ok()) return deadline.status();
  const auto period = DurationFlag("retry_period", FLAGS_retry_period);
  if (!period.ok()) return period.status();
  options.lease_duration = *duration;
  options.renew_deadline = *deadline;
  options.retry_period = *period;
  absl::Status status = controller::CheckElectionOptions(options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace

std::string OwnIdentity(uint64_t seed) {
  std::string name;
  if (const char* pod = std::getenv("POD_NAME"); pod != nullptr) name = pod;
  if (name.empty()) {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) == 0) name = host.data();
  }
  return absl::StrCat(name.empty() ? "oci-drain" : name, "_",
                      absl::StrFormat("%08x", static_cast<uint32_t>(seed)));
}

absl::StatusOr<HealthFlags> HealthFromFlags(const std::string& ns, const std::string& identity) {
  if (FLAGS_health_port < 0 || FLAGS_health_port > 65535) {
    return absl::InvalidArgumentError("--health_port: expected 0 to 65535");
  }
  HealthFlags flags;
  flags.http.address = FLAGS_health_address;
  flags.http.port = static_cast<uint16_t>(FLAGS_health_port);
  const auto wedge_after = DurationFlag("wedge_after", FLAGS_wedge_after);
  if (!wedge_after.ok()) return wedge_after.status();
  // Below it a worker without work would count as stuck.
  if (*wedge_after < absl::Seconds(5)) {
    return absl::InvalidArgumentError("--wedge_after: must be at least 5s");
  }
  flags.wedge_after = *wedge_after;
  if (!FLAGS_leader_elect) return flags;
  auto election = ElectionFromFlags(ns, identity);
  if (!election.ok()) return election.status();
  flags.election = *std::move(election);
  return flags;
}

}  // namespace cmd
