// The flags of the drain barrier.
#ifndef OCI_BACKEND_DRAIN_CMD_BARRIER_FLAGS_H_
#define OCI_BACKEND_DRAIN_CMD_BARRIER_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "controller/barrier_server.h"

namespace cmd {

// InvalidArgument names the flag and what it takes.
absl::StatusOr<controller::BarrierOptions> BarrierFromFlags();

// Where other replicas reach a barrier on `port`, "10.0.0.7:8090"; empty: nowhere.
absl::StatusOr<std::string> AdvertisedBarrier(int port);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_BARRIER_FLAGS_H_
