// What happened to the Pods meanwhile, read from a file, and how long before each failure.
//
// The file has one JSON object a line, in any order:
//
//   {"time": "2026-11-30T17:12:21.250Z", "event": "sigterm", "pod": "web-1"}
//
// "time" is RFC 3339. "event" is one of those of MarkKind, as MarkName writes them.
// "pod" may be left out, other members may be there. Empty lines are skipped.
#ifndef OCI_BACKEND_DRAIN_PROBE_MARKS_H_
#define OCI_BACKEND_DRAIN_PROBE_MARKS_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "probe/figures.h"

namespace probe {

enum class MarkKind {
  kRollout,            // "rollout": it was asked for
  kReady,              // "ready": a new Pod
  kDeleted,            // "deleted": a Pod got its deletionTimestamp
  kEndpointWithdrawn,  // "endpoint_withdrawn": the Pod is not a ready endpoint any more
  kDrained,            // "drained": the load balancer sends it no new request
  kSigterm,            // "sigterm"
  kExit,               // "exit": the process has ended
};
inline constexpr int kMarkKinds = static_cast<int>(MarkKind::kExit) + 1;

absl::string_view MarkName(MarkKind kind);

struct Mark {
  absl::Time time;
  MarkKind kind = MarkKind::kRollout;
  std::string pod = {};
};

inline constexpr size_t kMaxMarks = 100'000;

// In the order of time. InvalidArgument names the line and what is wrong with it, or
// says that there are too many.
absl::StatusOr<std::vector<Mark>> ParseMarks(absl::string_view text);
// The same of a file; status as of base::ReadFile too.
absl::StatusOr<std::vector<Mark>> ReadMarks(const std::string& path);
// By time; those of the same time stay as they are.
void SortMarks(std::vector<Mark>& marks);
// A line for the file, with its line break.
std::string FormatMark(const Mark& mark);

// The last mark of each kind at or before `when`; by MarkKind. `marks` in the order of
// time.
using MarksBefore = std::array<std::optional<Mark>, kMarkKinds>;
MarksBefore FindMarksBefore(const std::vector<Mark>& marks, absl::Time when);

// Failures of one class after the same kind of mark, the last one before each of them.
// A mark of a rollout or of a new Pod explains nothing: it counts only if there is no
// other.
struct FailureGroup {
  FailureClass failure;
  std::optional<MarkKind> after;  // nullopt: before any mark
  int64_t count = 0;
  absl::Duration least = absl::InfiniteDuration();
  absl::Duration most = absl::ZeroDuration();
};
// The server's failures that were kept; the largest group first.
std::vector<FailureGroup> GroupFailures(const RunFigures& figures, const std::vector<Mark>& marks);

// Of the marks before a failure the one it is lined up with, as GroupFailures does.
std::optional<Mark> LastCause(const MarksBefore& before);

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_MARKS_H_
