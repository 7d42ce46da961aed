// Replicas of the controller with an election between them, on one thread in virtual
// time, under the oracle that no two of them write.
#ifndef OCI_BACKEND_DRAIN_SIM_REPLICA_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_REPLICA_WORLD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sim {

struct ReplicaResult {
  // The first promise that did not hold, with the moment, counted from the start.
  std::optional<std::string> breach;
  int writes = 0;       // to the load balancer, accepted
  int late_writes = 0;  // of them, sent by a leader and accepted when another one led
  int refused = 0;      // by a guard: 412
  int takeovers = 0;    // changes of the Lease's holder
  int pauses = 0;       // of a process between its check and its call
  std::vector<std::string> trace;
};

struct ReplicaOptions {
  uint64_t seed = 1;
  int replicas = 2;
  // Faults come within this, then all is calm until the end.
  absl::Duration faults = absl::Minutes(6);
  absl::Duration calm = absl::Minutes(4);
  bool trace = false;
};

// Rolling updates, while replicas crash, stand still, lose the API server for longer
// than a lease, get slow or no answers, or resign. The oracle:
//
//  - no write is sent, to OCI or to Kubernetes, by a process whose lease has run out or
//    that does not hold it;
//  - no two processes would be allowed to write at one moment;
//  - a write that is accepted when another one leads was sent before that and carries
//    an ETag;
//  - when all has been calm: one leads, and no live Pod's backend is drained.
//
// The same options give the same result. Not thread-safe.
ReplicaResult RunReplicas(const ReplicaOptions& options);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_REPLICA_WORLD_H_
