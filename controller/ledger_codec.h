// The ledger as text for a ConfigMap.
//
//   {"version":1,"entries":[{"set":"bs_x","backend":"10.0.0.1:8080","pod":"web-0",
//     "podUid":"...","since":"2026-11-30T12:00:00.25Z","deadline":"...",
//     "deletedAt":"...","confirmed":true}]}
//
// What has its default is left out. Members that are not known are skipped, so
// that an older program reads what a newer one wrote.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_CODEC_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "drain/memory.h"

namespace controller {

// A ConfigMap holds at most 1 MiB in all.
inline constexpr size_t kMaxLedgerBytes = 900 << 10;

// The same ledger gives the same bytes. Times keep their nanoseconds.
// ResourceExhausted if it is longer than kMaxLedgerBytes.
absl::StatusOr<std::string> EncodeLedger(const drain::Ledger& ledger);

// An empty text is an empty ledger. InvalidArgument names the entry and the
// member; FailedPrecondition if a newer version wrote it.
absl::StatusOr<drain::Ledger> DecodeLedger(absl::string_view json);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_LEDGER_CODEC_H_
