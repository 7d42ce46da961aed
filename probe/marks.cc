#include "probe/marks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/json.h"

namespace probe {
namespace {

absl::Status LineError(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

std::optional<MarkKind> FindKind(absl::string_view name) {
  for (int kind = 0; kind < kMarkKinds; ++kind) {
    if (MarkName(static_cast<MarkKind>(kind)) == name) return static_cast<MarkKind>(kind);
  }
  return std::nullopt;
}

absl::StatusOr<Mark> ParseMark(absl::string_view text, int line) {
  const auto document = base::ParseJson(text, "mark");
  if (!document.ok()) return LineError(line, document.status().message());
  const auto event = base::RequireString(*document, "event");
  if (!event.ok()) return LineError(line, event.status().message());
  const std::optional<MarkKind> kind = FindKind(*event);
  if (!kind.has_value()) {
    return LineError(line, absl::StrCat("event: \"", *event,
                                        "\": expected rollout, ready, deleted, "
                                        "endpoint_withdrawn, drained, sigterm or exit"));
  }
  const auto time = base::ReadTime(*document, "time");
  if (!time.ok()) return LineError(line, time.status().message());
  if (*time == absl::InfiniteFuture() || *time == absl::InfinitePast()) {
    return LineError(line, "time: missing");
  }
  const auto pod = base::ReadString(*document, "pod");
  if (!pod.ok()) return LineError(line, pod.status().message());
  return Mark{*time, *kind, *pod};
}

bool IsCause(MarkKind kind) { return kind != MarkKind::kRollout && kind != MarkKind::kReady; }

}  // namespace

absl::string_view MarkName(MarkKind kind) {
  switch (kind) {
    case MarkKind::kRollout:
      return "rollout";
    case MarkKind::kReady:
      return "ready";
    case MarkKind::kDeleted:
      return "deleted";
    case MarkKind::kEndpointWithdrawn:
      return "endpoint_withdrawn";
    case MarkKind::kDrained:
      return "drained";
    case MarkKind::kSigterm:
      return "sigterm";
    case MarkKind::kExit:
      return "exit";
  }
  return "";
}

absl::StatusOr<std::vector<Mark>> ParseMarks(absl::string_view text) {
  std::vector<Mark> marks;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (marks.size() == kMaxMarks) {
      return LineError(number, absl::StrCat("more than ", kMaxMarks, " marks"));
    }
    auto mark = ParseMark(line, number);
    if (!mark.ok()) return mark.status();
    marks.push_back(*std::move(mark));
  }
  SortMarks(marks);
  return marks;
}

void SortMarks(std::vector<Mark>& marks) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.time < b.time; });
}

absl::StatusOr<std::vector<Mark>> ReadMarks(const std::string& path) {
  const auto text = base::ReadFile(path);
  if (!text.ok()) return text.status();
  auto marks = ParseMarks(*text);
  if (marks.ok()) return marks;
  return absl::Status(marks.status().code(), absl::StrCat(path, ": ", marks.status().message()));
}

std::string FormatMark(const Mark& mark) {
  return absl::StrCat("{\"time\":\"", base::FormatTime(mark.time), "\",\"event\":\"",
                      MarkName(mark.kind), "\",\"pod\":", base::QuoteJson(mark.pod), "}\n");
}

MarksBefore FindMarksBefore(const std::vector<Mark>& marks, absl::Time when) {
  MarksBefore before;
  auto at = std::upper_bound(marks.begin(), marks.end(), when,
                             [](absl::Time time, const Mark& mark) { return time < mark.time; });
  size_t found = 0;
  while (at != marks.begin() && found < before.size()) {
    --at;
    std::optional<Mark>& slot = before[static_cast<size_t>(at->kind)];
    if (slot.has_value()) continue;
    slot = *at;
    ++found;
  }
  return before;
}

std::optional<Mark> LastCause(const MarksBefore& before) {
  std::optional<Mark> last;
  for (const bool cause : {true, false}) {
    for (const std::optional<Mark>& mark : before) {
      if (!mark.has_value() || IsCause(mark->kind) != cause) continue;
      if (!last.has_value() || mark->time >= last->time) last = mark;
    }
    if (last.has_value()) return last;
  }
  return last;
}

std::vector<FailureGroup> GroupFailures(const RunFigures& figures, const std::vector<Mark>& marks) {
  std::map<std::pair<FailureClass, std::optional<MarkKind>>, FailureGroup> groups;
  for (const Failure& failure : figures.failures) {
    if (IsOwnFailure(failure.failure)) continue;
    const std::optional<Mark> last = LastCause(FindMarksBefore(marks, failure.time));
    std::optional<MarkKind> kind;
    if (last.has_value()) kind = last->kind;
    FailureGroup& group = groups[{failure.failure, kind}];
    group.failure = failure.failure;
    group.after = kind;
    ++group.count;
    if (!last.has_value()) continue;
    group.least = std::min(group.least, failure.time - last->time);
    group.most = std::max(group.most, failure.time - last->time);
  }
  std::vector<FailureGroup> sorted;
  for (const auto& [key, group] : groups) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const FailureGroup& a, const FailureGroup& b) { return a.count > b.count; });
  return sorted;
}

}  // namespace probe
