// The flags of the probes and of the leader election.
#ifndef OCI_BACKEND_DRAIN_CMD_HEALTH_FLAGS_H_
#define OCI_BACKEND_DRAIN_CMD_HEALTH_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controller/election.h"
#include "health/http_server.h"

namespace cmd {

struct HealthFlags {
  health::HttpServerOptions http;
  absl::Duration wedge_after;
  // Nothing: no election.
  std::optional<controller::ElectionOptions> election;
};

// InvalidArgument names the flag and what it takes. `ns`: where the Lease is if no
// flag says so; `identity`: how the others know this process.
absl::StatusOr<HealthFlags> HealthFromFlags(const std::string& ns, const std::string& identity);

// "POD_NAME or host name, and eight hex digits": no other process has it.
std::string OwnIdentity(uint64_t seed);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_HEALTH_FLAGS_H_
