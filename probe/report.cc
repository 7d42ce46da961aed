#include "probe/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/json.h"

namespace probe {
namespace {

constexpr size_t kListedFailures = 20;

double Milliseconds(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

double PerSecond(const RunFigures& figures, absl::Time now) {
  const double seconds = absl::ToDoubleSeconds(now - figures.start);
  return seconds > 0 ? static_cast<double>(figures.requests()) / seconds : 0;
}

std::string Seconds(absl::Duration duration) {
  return absl::StrFormat("%.2f s", absl::ToDoubleSeconds(duration));
}

// "closed before response 17, refused 3".
std::string Classes(const RunFigures& figures, bool own) {
  std::vector<std::string> parts;
  for (int i = 0; i < kFailureClasses; ++i) {
    const auto failure = static_cast<FailureClass>(i);
    if (figures.by_class[i] == 0 || IsOwnFailure(failure) != own) continue;
    parts.push_back(absl::StrCat(FailureName(failure), " ", figures.by_class[i]));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Row(absl::string_view name, const RunFigures& figures) {
  std::string text = absl::StrFormat(
      "%-8s requests=%d ok=%d failed=%d  %.0f a second  p50 %.2f ms  p99 %.2f ms  max %.2f ms\n",
      name, figures.requests(), figures.succeeded, figures.failed, PerSecond(figures, figures.end),
      Milliseconds(figures.latency.Percentile(50)), Milliseconds(figures.latency.Percentile(99)),
      Milliseconds(figures.latency.max()));
  const auto line = [&text](auto&&... parts) {
    absl::StrAppend(&text, "         ", parts..., "\n");
  };
  if (figures.failed > 0) line(Classes(figures, false));
  if (figures.own_failures > 0) {
    line("the probe's own, not counted above: ", Classes(figures, true));
  }
  if (figures.by_hundred[4] > 0) line("of the answers ", figures.by_hundred[4], " had status 4xx");
  line("connections ", figures.connections, ", closed by the peer while idle ", figures.closed_idle,
       ", after Connection: close ", figures.closed_as_told);
  if (figures.cookie_changes > 0) line("cookies that were changed ", figures.cookie_changes);
  if (figures.interrupted) line("interrupted");
  return text;
}

std::string FormatGroups(const RunFigures& figures, const std::vector<Mark>& marks) {
  std::string text;
  for (const FailureGroup& group : GroupFailures(figures, marks)) {
    absl::StrAppend(&text, "  ", group.count, " ", FailureName(group.failure), ", ");
    if (!group.after.has_value()) {
      text += "before anything that the marks tell\n";
      continue;
    }
    absl::StrAppend(&text, Seconds(group.least), " to ", Seconds(group.most), " after ",
                    MarkName(*group.after), "\n");
  }
  return text;
}

std::string Number(double value) { return absl::StrFormat("%.3f", value); }

std::string FailureJson(const Failure& failure, const std::vector<Mark>& marks) {
  std::string text = absl::StrCat(
      "{\"time\":\"", base::FormatTime(failure.time), "\",\"class\":\"",
      FailureName(failure.failure), "\",\"own\":", IsOwnFailure(failure.failure) ? "true" : "false",
      ",\"client\":", failure.client,
      ",\"connection_age_ms\":", Number(Milliseconds(failure.connection_age)),
      ",\"request_number\":", failure.request_number,
      ",\"bytes_received\":", failure.bytes_received,
      ",\"since_sent_ms\":", Number(Milliseconds(failure.since_sent)),
      ",\"slow\":", failure.slow ? "true" : "false", ",\"status\":", failure.status,
      ",\"detail\":", base::QuoteJson(failure.detail), ",\"seconds_after\":{");
  std::vector<std::string> parts;
  for (const std::optional<Mark>& mark : FindMarksBefore(marks, failure.time)) {
    if (!mark.has_value()) continue;
    parts.push_back(absl::StrCat("\"", MarkName(mark->kind), "\":{\"seconds\":",
                                 Number(absl::ToDoubleSeconds(failure.time - mark->time)),
                                 ",\"pod\":", base::QuoteJson(mark->pod), "}"));
  }
  return absl::StrCat(text, absl::StrJoin(parts, ","), "}}");
}

std::string RunJson(const RunFigures& figures, const std::vector<Mark>& marks) {
  std::vector<std::string> classes;
  for (int i = 0; i < kFailureClasses; ++i) {
    if (figures.by_class[i] == 0) continue;
    classes.push_back(
        absl::StrCat("\"", FailureName(static_cast<FailureClass>(i)), "\":", figures.by_class[i]));
  }
  std::vector<std::string> failures;
  for (const Failure& failure : figures.failures) failures.push_back(FailureJson(failure, marks));
  return absl::StrCat(
      "{\"start\":\"", base::FormatTime(figures.start), "\",\"end\":\"",
      base::FormatTime(figures.end), "\",\"requests\":", figures.requests(),
      ",\"ok\":", figures.succeeded, ",\"failed\":", figures.failed,
      ",\"own_failures\":", figures.own_failures,
      ",\"interrupted\":", figures.interrupted ? "true" : "false",
      ",\"per_second\":", Number(PerSecond(figures, figures.end)),
      ",\"p50_ms\":", Number(Milliseconds(figures.latency.Percentile(50))),
      ",\"p99_ms\":", Number(Milliseconds(figures.latency.Percentile(99))),
      ",\"max_ms\":", Number(Milliseconds(figures.latency.max())),
      ",\"connections\":", figures.connections, ",\"closed_idle\":", figures.closed_idle,
      ",\"closed_as_told\":", figures.closed_as_told, ",\"status_4xx\":", figures.by_hundred[4],
      ",\"cookie_changes\":", figures.cookie_changes, ",\"classes\":{", absl::StrJoin(classes, ","),
      "},\"failures\":[", absl::StrJoin(failures, ","), "]}");
}

}  // namespace

std::string FormatProgress(const RunFigures& figures, absl::Time now) {
  return absl::StrFormat("%.0f s: %d requests, %d failed, %.0f a second, p50 %.2f ms, p99 %.2f ms",
                         absl::ToDoubleSeconds(now - figures.start), figures.requests(),
                         figures.failed, PerSecond(figures, now),
                         Milliseconds(figures.latency.Percentile(50)),
                         Milliseconds(figures.latency.Percentile(99)));
}

std::string FormatFailure(const Failure& failure, const std::vector<Mark>& marks) {
  std::string text =
      absl::StrCat(absl::FormatTime("%H:%M:%E3S", failure.time, absl::UTCTimeZone()), " ",
                   FailureName(failure.failure), failure.detail.empty() ? "" : " (", failure.detail,
                   failure.detail.empty() ? "" : ")", ", client ", failure.client);
  if (failure.request_number > 0) {
    absl::StrAppend(&text, ", request ", failure.request_number, " on a connection of ",
                    Seconds(failure.connection_age));
  }
  absl::StrAppend(&text, ", ", Seconds(failure.since_sent), " after it was begun");
  if (failure.slow) text += ", a long one";
  const std::optional<Mark> last = LastCause(FindMarksBefore(marks, failure.time));
  if (last.has_value()) {
    absl::StrAppend(&text, ", ", Seconds(failure.time - last->time), " after ",
                    MarkName(last->kind), last->pod.empty() ? "" : " of ", last->pod);
  }
  return text;
}

std::string FormatReport(const Report& report) {
  std::string text;
  if (report.control.has_value()) text += Row("control", *report.control);
  if (!report.run.has_value()) return text;
  text += Row("run", *report.run);
  const RunFigures& run = *report.run;
  if (run.failures.empty()) return text;
  const size_t listed = std::min(run.failures.size(), kListedFailures);
  absl::StrAppend(&text, "\nFailures, the first ", listed, " of ", run.failed + run.own_failures,
                  ":\n");
  for (size_t i = 0; i < listed; ++i) {
    absl::StrAppend(&text, "  ", FormatFailure(run.failures[i], report.marks), "\n");
  }
  if (report.marks.empty()) return text;
  absl::StrAppend(&text, "\nWhat came last before each of the first ", run.failures.size(), ":\n",
                  FormatGroups(run, report.marks));
  return text;
}

std::string ReportJson(const Report& report) {
  const auto json = [&](const std::optional<RunFigures>& figures) {
    return figures.has_value() ? RunJson(*figures, report.marks) : "null";
  };
  return absl::StrCat("{\"control\":", json(report.control), ",\"run\":", json(report.run),
                      ",\"marks\":", report.marks.size(), "}");
}

}  // namespace probe
