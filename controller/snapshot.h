// A plan's input as a JSON text that people can write: the cases of
// testdata/drain/, and what `oci-drain plan --snapshot` reads.
//
// Members have the names of the structs in drain/input.h and drain/memory.h; what
// is left out has their defaults, but for what was asked in this pass (read, work
// requests, membership, health): answered, now, healthy, ACTIVE. Short forms:
//
//   times       "+45s", "-3s" from `now`, or RFC 3339
//   durations   "30s"
//   references  "Service shop/web"
//   backends    "10.0.0.1:8080", or {"name": "10.0.0.1:8080", "drain": true}
//   keys        "bs_x/10.0.0.1:8080" where a backend of a set is meant
//
// A backend's and a set's document and settings are made from the other fields
// where they are left out.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "drain/input.h"

namespace controller {

struct Snapshot {
  std::string about;  // a sentence for people; no decision rests on it
  drain::Input input;
};

inline constexpr size_t kMaxSnapshotBytes = size_t{256} << 20;

// InvalidArgument names the member by its path ("sets[0].endpoints[2].prot") and
// what is allowed there; also for members that do not exist.
absl::StatusOr<Snapshot> DecodeSnapshot(absl::string_view json);

// Indented, short things on one line. DecodeSnapshot gives the same values back.
std::string EncodeSnapshot(const Snapshot& snapshot);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_H_
