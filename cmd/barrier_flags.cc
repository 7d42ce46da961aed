#include "cmd/barrier_flags.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/barrier_relay.h"
#include "gflags/gflags.h"

DEFINE_int32(
    barrier_port, 8090,
    "Where drain-wait asks whether its Pod is drained; 0: any free port, named in the log");
DEFINE_string(barrier_address, "0.0.0.0", "The address that the drain barrier listens on");
DEFINE_string(barrier_advertise, "",
              "The address at which other replicas reach this one's drain barrier: they pass "
              "questions on to the one that leads; empty: $POD_IP, and without that nowhere");

namespace cmd {

absl::StatusOr<controller::BarrierOptions> BarrierFromFlags() {
  if (FLAGS_barrier_port < 0 || FLAGS_barrier_port > 65535) {
    return absl::InvalidArgumentError("--barrier_port: expected 0 to 65535");
  }
  controller::BarrierOptions options;
  options.port = static_cast<uint16_t>(FLAGS_barrier_port);
  options.address = FLAGS_barrier_address;
  return options;
}

absl::StatusOr<std::string> AdvertisedBarrier(int port) {
  std::string host = FLAGS_barrier_advertise;
  if (host.empty()) {
    const char* const pod_ip = std::getenv("POD_IP");
    if (pod_ip != nullptr) host = pod_ip;
  }
  if (host.empty()) return "";
  if (absl::StrContains(host, ':')) host = absl::StrCat("[", host, "]");
  std::string address = absl::StrCat(host, ":", port);
  if (controller::ParseBarrierAddress(address).ok()) return address;
  return absl::InvalidArgumentError(
      absl::StrCat("--barrier_advertise: \"", host, "\" is no IP address; like 10.0.0.7"));
}

}  // namespace cmd
