// One drain, from the event of a Pod's deletion to the write.
#ifndef OCI_BACKEND_DRAIN_BENCH_DRAIN_TIMING_H_
#define OCI_BACKEND_DRAIN_BENCH_DRAIN_TIMING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/journal.h"
#include "bench/world.h"

namespace bench {

struct DrainTiming {
  absl::Duration event_to_wire;    // event's bytes on the socket to the write received
  absl::Duration event_to_ledger;  // ... to the ledger's write received
  absl::Duration ledger_to_wire;
};

// Whether `entries` show that the ledger was written with this drain confirmed,
// and, after the Pod's life, without it.
bool IsConfirmed(const std::vector<Entry>& entries, const drain::BackendKey& key);
bool IsForgotten(const std::vector<Entry>& entries, const drain::BackendKey& key);

// FailedPrecondition says which promise was broken: one accepted UpdateBackend
// that drains this backend, guarded by If-Match, after a ledger write that holds
// it.
absl::StatusOr<DrainTiming> TimingOf(const std::vector<Entry>& entries, const Pod& pod,
                                     const drain::BackendKey& key);

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_DRAIN_TIMING_H_
