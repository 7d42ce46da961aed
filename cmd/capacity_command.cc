#include "cmd/capacity_command.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json.h"
#include "cmd/command_line.h"

namespace cmd {
namespace {

constexpr int kBarWidth = 48;
constexpr char kRed[] = "\033[31m";
constexpr char kGreen[] = "\033[32m";
constexpr char kReset[] = "\033[0m";

std::string Seconds(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "for ever";
  return absl::FormatDuration(absl::Trunc(duration, absl::Seconds(1)));
}

std::string Colored(absl::string_view text, bool good, CapacityStyle style) {
  if (style != CapacityStyle::kColors) return std::string(text);
  return absl::StrCat(good ? kGreen : kRed, text, kReset);
}

// "fits", or by how much and for how long it does not.
std::string Verdict(const capacity::Forecast& forecast, int others, int limit,
                    CapacityStyle style) {
  const int peak = others + forecast.peak;
  if (peak <= limit) return Colored("fits", true, style);
  return Colored(absl::StrCat("does not fit: ", peak - limit, " too many, over the limit ",
                              forecast.duration == absl::InfiniteDuration() ? "" : "for ",
                              Seconds(forecast.Above(limit - others))),
                 false, style);
}

// "[=====#####++++++   |  ]": what others hold, the steady number, what the rollout
// adds, "!" for what is above the limit, and the limit itself.
std::string Bar(const capacity::Forecast& forecast, int others, int limit, CapacityStyle style) {
  if (style == CapacityStyle::kPlain) return "";
  const int64_t peak = int64_t{others} + forecast.peak;
  const int64_t full = std::max<int64_t>({1, limit, peak});
  const auto column = [&](int64_t count) { return static_cast<int>(count * kBarWidth / full); };
  std::string bar(std::max(column(limit) + 1, column(peak)), ' ');
  for (int i = 0; i < column(peak); ++i) {
    bar[i] = i < column(others)                     ? '='
             : i < column(others + forecast.steady) ? '#'
             : i < column(limit)                    ? '+'
                                                    : '!';
  }
  bar[column(limit)] = '|';
  return absl::StrCat("    [", Colored(bar, peak <= limit, style), "]\n");
}

std::string FormatWorkload(const CapacityReport::Workload& workload) {
  const capacity::Rollout& rollout = workload.rollout;
  std::string text = absl::StrCat(workload.kind, " ", workload.key.ToString(), ": ",
                                  workload.replicas, " replicas");
  if (workload.autoscaler_maximum > workload.replicas) {
    absl::StrAppend(&text, ", up to ", workload.autoscaler_maximum, " by its autoscaler");
  }
  switch (rollout.style) {
    case capacity::Style::kRolling:
      absl::StrAppend(&text, ", maxSurge ", rollout.max_surge, ", maxUnavailable ",
                      rollout.max_unavailable);
      break;
    case capacity::Style::kRecreate:
      text += ", Recreate";
      break;
    case capacity::Style::kOrdered:
      text += ", one after the other";
      break;
    case capacity::Style::kNone:
      text += ", no rollout";
      break;
  }
  return absl::StrCat(text, ", a Pod ends within ", Seconds(rollout.termination), "\n");
}

std::string FormatSet(const CapacityReport::Set& set, int limit, CapacityStyle style) {
  return absl::StrCat(
      "  backend set of ", set.name, ": ", set.forecast.steady, " backends, ", set.forecast.peak,
      " at the peak of a rollout of ", Seconds(set.forecast.duration), ", of ", limit, ": ",
      Verdict(set.forecast, 0, limit, style), "\n", Bar(set.forecast, 0, limit, style));
}

// What to change, workload by workload.
std::string FormatAdvice(const CapacityReport& report) {
  if (report.fits) return "";
  std::string text;
  for (const CapacityReport::Workload& workload : report.workloads) {
    const std::string ways = capacity::Describe(workload.advice);
    if (ways.empty()) continue;
    absl::StrAppend(&text, "to fit: ", workload.kind, " ", workload.key.ToString(), " with ", ways,
                    "\n");
  }
  if (!text.empty()) return text;
  return "to fit: no single change is enough; move what these manifests have to load balancers of "
         "their own, or lower the replicas of several\n";
}

std::string FormatText(const CapacityReport& report, CapacityStyle style) {
  std::string text;
  for (const CapacityReport::Workload& workload : report.workloads) {
    absl::StrAppend(&text, FormatWorkload(workload));
  }
  for (const CapacityReport::Set& set : report.sets) {
    absl::StrAppend(&text, FormatSet(set, report.limits.backends_per_set, style));
  }
  const int limit = report.limits.backends_per_load_balancer;
  absl::StrAppend(&text, "  load balancer: ", report.others, " backends of others, ",
                  report.others + report.together.peak, " with these at the peak, of ", limit, ": ",
                  Verdict(report.together, report.others, limit, style), "\n",
                  Bar(report.together, report.others, limit, style), FormatAdvice(report));
  for (const std::string& note : report.notes) absl::StrAppend(&text, "note: ", note, "\n");
  return text;
}

std::string JsonOf(const std::optional<int>& number) {
  return number.has_value() ? absl::StrCat(*number) : "null";
}

std::string SecondsJson(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? "null"
                                              : absl::StrCat(absl::ToDoubleSeconds(duration));
}

std::string WorkloadJson(const CapacityReport::Workload& workload) {
  const std::optional<int> grace =
      workload.advice.grace.has_value()
          ? std::optional<int>(static_cast<int>(absl::ToInt64Seconds(*workload.advice.grace)))
          : std::nullopt;
  return absl::StrCat(
      "{\"kind\":", base::QuoteJson(workload.kind),
      ",\"namespace\":", base::QuoteJson(workload.key.ns),
      ",\"name\":", base::QuoteJson(workload.key.name), ",\"replicas\":", workload.replicas,
      ",\"autoscaler_maximum\":", workload.autoscaler_maximum,
      ",\"max_surge\":", workload.rollout.max_surge,
      ",\"max_unavailable\":", workload.rollout.max_unavailable,
      ",\"termination_seconds\":", SecondsJson(workload.rollout.termination),
      ",\"peak\":", workload.peak, ",\"to_fit\":{\"max_surge\":", JsonOf(workload.advice.max_surge),
      ",\"grace_seconds\":", JsonOf(grace), ",\"replicas\":", JsonOf(workload.advice.replicas),
      "}}");
}

std::string LevelJson(const capacity::Forecast& forecast, int others, int limit) {
  return absl::StrCat("\"limit\":", limit, ",\"steady\":", others + forecast.steady,
                      ",\"peak\":", others + forecast.peak,
                      ",\"fits\":", others + forecast.peak <= limit ? "true" : "false",
                      ",\"duration_seconds\":", SecondsJson(forecast.duration),
                      ",\"seconds_over_limit\":", SecondsJson(forecast.Above(limit - others)));
}

std::string FormatJson(const CapacityReport& report) {
  std::string text = absl::StrCat(
      "{\"fits\":", report.fits ? "true" : "false",
      ",\"load_balancer\":{\"others\":", report.others, ",",
      LevelJson(report.together, report.others, report.limits.backends_per_load_balancer),
      "},\"sets\":[");
  for (const CapacityReport::Set& set : report.sets) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",", "{\"name\":", base::QuoteJson(set.name),
                    ",", LevelJson(set.forecast, 0, report.limits.backends_per_set), "}");
  }
  text += "],\"workloads\":[";
  for (const CapacityReport::Workload& workload : report.workloads) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",", WorkloadJson(workload));
  }
  text += "],\"notes\":[";
  for (const std::string& note : report.notes) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",", base::QuoteJson(note));
  }
  return text + "]}\n";
}

// A directory's manifests in the order of their names; anything else is itself.
std::vector<std::string> FilesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<CapacityStyle> ParseCapacityStyle(absl::string_view output, bool terminal,
                                                 bool no_color) {
  if (output == "json") return CapacityStyle::kJson;
  if (output != "text") {
    return absl::InvalidArgumentError(
        absl::StrCat("--output=", output, ": expected text or json for capacity"));
  }
  if (!terminal) return CapacityStyle::kPlain;
  return no_color ? CapacityStyle::kBars : CapacityStyle::kColors;
}

std::string FormatCapacity(const CapacityReport& report, CapacityStyle style) {
  return style == CapacityStyle::kJson ? FormatJson(report) : FormatText(report, style);
}

absl::StatusOr<kube::Manifests> ReadManifestFiles(const std::vector<std::string>& paths) {
  kube::Manifests manifests;
  for (const std::string& path : paths) {
    const std::vector<std::string> files = FilesOf(path);
    if (files.empty()) {
      return absl::NotFoundError(absl::StrCat(path, ": no *.yaml, *.yml or *.json in it"));
    }
    for (const std::string& file : files) {
      const absl::StatusOr<std::string> text = base::ReadFile(file);
      if (!text.ok()) return text.status();
      const absl::Status added = kube::AddManifests(*text, manifests);
      if (!added.ok()) return Prefixed(file, added);
    }
  }
  return manifests;
}

}  // namespace cmd
