// The probe's closing table and its JSON.
#ifndef OCI_BACKEND_DRAIN_PROBE_REPORT_H_
#define OCI_BACKEND_DRAIN_PROBE_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "probe/figures.h"
#include "probe/marks.h"

namespace probe {

struct Report {
  std::optional<RunFigures> control;  // nullopt: none was made
  std::optional<RunFigures> run;      // nullopt: not made, since the control run failed
  std::vector<Mark> marks = {};
};

// "12 s: 2134 requests, 0 failed, 178 a second, p50 1.2ms, p99 4ms".
std::string FormatProgress(const RunFigures& figures, absl::Time now);
// "17:12:21.250 closed before response, request 12 on a connection of 3.2s, 3.01s after
// sigterm of web-1". `marks` in the order of time.
std::string FormatFailure(const Failure& failure, const std::vector<Mark>& marks);
// Lines for people, each ends with a line break. At most 20 failures are listed.
std::string FormatReport(const Report& report);
// One object on one line, without a line break. docs/probe.md describes it.
std::string ReportJson(const Report& report);

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_REPORT_H_
