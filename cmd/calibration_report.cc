#include "cmd/calibration_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_object.h"
#include "cmd/text_table.h"

namespace cmd {
namespace {

absl::string_view NameOf(EtagMoves moves) {
  switch (moves) {
    case EtagMoves::kUnknown:
      return "unknown";
    case EtagMoves::kNever:
      return "never";
    case EtagMoves::kAtAcceptance:
      return "acceptance";
    case EtagMoves::kAtCompletion:
      return "completion";
    case EtagMoves::kBoth:
      break;
  }
  return "both";
}

absl::string_view SentenceOf(EtagMoves moves) {
  switch (moves) {
    case EtagMoves::kUnknown:
      return "not known: the work requests were done too soon, or did not agree";
    case EtagMoves::kNever:
      return "does not move: writes of others would not be noticed";
    case EtagMoves::kAtAcceptance:
      return "moves when a write is accepted";
    case EtagMoves::kAtCompletion:
      return "moves when a write is done";
    case EtagMoves::kBoth:
      break;
  }
  return "moves when a write is accepted, and again when it is done";
}

absl::string_view NameOf(ShownMeanwhile shown) {
  switch (shown) {
    case ShownMeanwhile::kUnknown:
      return "unknown";
    case ShownMeanwhile::kOldState:
      return "old";
    case ShownMeanwhile::kNewState:
      break;
  }
  return "new";
}

absl::string_view SentenceOf(ShownMeanwhile shown) {
  switch (shown) {
    case ShownMeanwhile::kUnknown:
      return "not known: the work requests were done too soon, or did not agree";
    case ShownMeanwhile::kOldState:
      return "the state before it";
    case ShownMeanwhile::kNewState:
      break;
  }
  return "the state that it will make";
}

absl::string_view NameOf(SecondWrite second) {
  switch (second) {
    case SecondWrite::kUnknown:
      return "unknown";
    case SecondWrite::kQueued:
      return "queued";
    case SecondWrite::kRefused:
      break;
  }
  return "refused";
}

std::string SentenceOf(const Calibration& calibration) {
  switch (calibration.second) {
    case SecondWrite::kUnknown:
      return "not known: the first was done too soon";
    case SecondWrite::kQueued:
      return "is queued behind it";
    case SecondWrite::kRefused:
      break;
  }
  return absl::StrCat("is refused: ", calibration.second_error);
}

absl::Duration Median(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::string TimesText(const std::vector<absl::Duration>& times) {
  if (times.empty()) return "not measured";
  const auto shown = [](absl::Duration time) {
    return absl::FormatDuration(absl::Trunc(time, absl::Milliseconds(1)));
  };
  return absl::StrCat(times.size(), " work requests, ", shown(Median(times)), " at the median, ",
                      shown(*std::max_element(times.begin(), times.end())), " at most");
}

constexpr char kNoUrl[] = "not measured: give --url";

bool HasTraffic(const Calibration& calibration) {
  return calibration.control.has_value() && calibration.control->failed == 0 &&
         calibration.control->requests > 0;
}

std::string WholeSetText(const Calibration& calibration) {
  if (!calibration.control.has_value()) return kNoUrl;
  if (!HasTraffic(calibration)) {
    return absl::StrCat("not measured: without a write ", calibration.control->failed, " of ",
                        calibration.control->requests, " requests failed; mend --url first");
  }
  if (!calibration.whole_set.has_value()) return "not measured";
  const TrafficFigures& figures = *calibration.whole_set;
  return absl::StrCat(figures.failed == 0 ? "loses nothing: " : "loses requests: ", figures.failed,
                      " of ", figures.requests, " failed");
}

std::string OfflineText(const Calibration& calibration) {
  if (!calibration.control.has_value()) return kNoUrl;
  if (!calibration.offline.has_value()) return "not measured";
  const TrafficFigures& figures = *calibration.offline;
  return absl::StrCat(figures.cut > 0 ? "cuts open connections: " : "keeps open connections: ",
                      figures.cut, " of ", figures.requests, " requests were cut, ",
                      figures.server_errors, " answered with a server error");
}

std::string LimitText(const Calibration& calibration) {
  if (!calibration.limit.has_value()) return "not measured: give --limits";
  const LimitFigures& limit = *calibration.limit;
  if (!limit.is_limit) return absl::StrCat(limit.most, " or more");
  return absl::StrCat(limit.most, "; one more is refused ",
                      limit.at_once ? "at once: " : "by its work request: ", limit.error);
}

std::string OldEtagText(const Calibration& calibration) {
  if (!calibration.old_etag_refused.has_value()) return "not tried: it did not move";
  if (!*calibration.old_etag_refused) {
    return "is taken: writes are not guarded, and nobody else may write there";
  }
  return absl::StrCat("is refused: ", calibration.old_etag_error);
}

std::string TimesJson(const std::vector<absl::Duration>& times) {
  return base::JsonArray(
      times, [](absl::Duration time) { return absl::StrCat(absl::ToInt64Milliseconds(time)); });
}

std::string TrafficJson(const std::optional<TrafficFigures>& figures) {
  if (!figures.has_value()) return "null";
  return base::JsonObject()
      .Count("requests", figures->requests)
      .Count("failed", figures->failed)
      .Count("cut", figures->cut)
      .Count("serverErrors", figures->server_errors)
      .Json();
}

std::string LimitJson(const std::optional<LimitFigures>& limit) {
  if (!limit.has_value()) return "null";
  return base::JsonObject()
      .Count("most", limit->most)
      .Flag("isLimit", limit->is_limit)
      .Flag("refusedAtOnce", limit->at_once)
      .Text("error", limit->error)
      .Json();
}

std::string TextsJson(const std::vector<std::string>& texts) {
  return base::JsonArray(texts, [](const std::string& text) { return base::QuoteJson(text); });
}

}  // namespace

std::vector<std::string> FlagsFor(const Calibration& calibration) {
  std::vector<std::string> flags;
  if (calibration.second == SecondWrite::kRefused) flags.push_back("--write_behind_foreign=never");
  if (calibration.second == SecondWrite::kQueued) {
    flags.push_back("--write_behind_foreign=membership");
  }
  if (HasTraffic(calibration) && calibration.whole_set.has_value()) {
    flags.push_back(calibration.whole_set->failed == 0 ? "--drain_write=auto"
                                                       : "--drain_write=backend");
  }
  if (calibration.limit.has_value() && calibration.limit->is_limit) {
    flags.push_back(absl::StrCat("--max_backends_per_set=", calibration.limit->most));
  }
  return flags;
}

std::string FormatCalibration(const CalibrationOptions& options, const Calibration& calibration) {
  const std::vector<std::string> flags = FlagsFor(calibration);
  const std::vector<TextRow> rows = {
      {{"ETag", std::string(SentenceOf(calibration.etag))}},
      {{"a read during a write shows", std::string(SentenceOf(calibration.shown))}},
      {{"a second write", SentenceOf(calibration)}},
      {{"a write with an old ETag", OldEtagText(calibration)}},
      {{"UpdateBackend", TimesText(calibration.backend_times)}},
      {{"UpdateBackendSet", TimesText(calibration.set_times)}},
      {{"a whole-set write", WholeSetText(calibration)}},
      {{"offline", OfflineText(calibration)}},
      {{"backends in a set", LimitText(calibration)}},
      {{"flags", flags.empty() ? "the defaults" : absl::StrJoin(flags, " ")}},
  };
  std::string text = absl::StrCat("load balancer ", options.load_balancer.value(), ", backend set ",
                                  options.set.value(), " with ", calibration.backends,
                                  " backends\n", AlignRows(rows, 2));
  if (!calibration.ended.ok()) {
    absl::StrAppend(&text, "ended early: ", calibration.ended.message(), "\n");
  }
  if (calibration.left_behind.empty()) {
    absl::StrAppend(&text, "the backend set is as it was\n");
  }
  for (const std::string& what : calibration.left_behind) {
    absl::StrAppend(&text, "left behind: ", what, "\n");
  }
  return text;
}

std::string CalibrationJson(const CalibrationOptions& options, const Calibration& calibration) {
  base::JsonObject object;
  object.Text("loadBalancer", options.load_balancer.value())
      .Text("backendSet", options.set.value())
      .Count("backends", calibration.backends)
      .Text("etagMovesAt", NameOf(calibration.etag))
      .Text("shownDuringWrite", NameOf(calibration.shown))
      .Text("secondWrite", NameOf(calibration.second))
      .Text("secondWriteError", calibration.second_error);
  if (calibration.old_etag_refused.has_value()) {
    object.Flag("oldEtagRefused", *calibration.old_etag_refused);
  } else {
    object.Raw("oldEtagRefused", "null");
  }
  object.Text("oldEtagError", calibration.old_etag_error)
      .Raw("updateBackendMilliseconds", TimesJson(calibration.backend_times))
      .Raw("updateBackendSetMilliseconds", TimesJson(calibration.set_times))
      .Raw("control", TrafficJson(calibration.control))
      .Raw("wholeSetWrite", TrafficJson(calibration.whole_set))
      .Raw("offline", TrafficJson(calibration.offline))
      .Raw("limit", LimitJson(calibration.limit))
      .Raw("flags", TextsJson(FlagsFor(calibration)))
      .Text("endedEarly", calibration.ended.message())
      .Raw("leftBehind", TextsJson(calibration.left_behind));
  return object.Json() + "\n";
}

}  // namespace cmd
