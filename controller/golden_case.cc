#include "controller/golden_case.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "drain/check.h"
#include "drain/explain.h"

namespace controller {
namespace {

constexpr size_t kContextLines = 3;

struct DiffLine {
  char mark = ' ';
  absl::string_view text;
};

// length[i][j]: the longest common subsequence of a from i and b from j.
std::vector<std::vector<size_t>> CommonLengths(const std::vector<absl::string_view>& a,
                                               const std::vector<absl::string_view>& b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

// What a later pass will know that a plan in words does not show.
std::string ExplainMemory(const drain::Memory& before, const drain::Memory& after) {
  std::string text;
  for (const auto& [set, restoration] : after.restorations) {
    if (before.restorations.count(set) != 0) continue;
    absl::StrAppend(&text, "remembers to restore ", set.value(), "\n");
  }
  for (const auto& [set, restoration] : before.restorations) {
    if (after.restorations.count(set) != 0) continue;
    absl::StrAppend(&text, "restores ", set.value(), " no more\n");
  }
  if (after.drained_by_others != before.drained_by_others) {
    absl::StrAppend(&text, "remembers Pods drained by others: ",
                    absl::StrJoin(after.drained_by_others, ", "), "\n");
  }
  if (after.waves != before.waves) absl::StrAppend(&text, "waves: ", after.waves, "\n");
  return text;
}

std::vector<DiffLine> Diff(const std::vector<absl::string_view>& a,
                           const std::vector<absl::string_view>& b) {
  const std::vector<std::vector<size_t>> length = CommonLengths(a, b);
  std::vector<DiffLine> lines;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', a[i]});
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && length[i + 1][j] >= length[i][j + 1])) {
      lines.push_back({'-', a[i++]});
    } else {
      lines.push_back({'+', b[j++]});
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> ListCases(const std::string& folder, absl::string_view suffix) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = file.path().filename().string();
    if (absl::EndsWith(name, suffix)) names.insert(name.substr(0, name.size() - suffix.size()));
  }
  return {names.begin(), names.end()};
}

absl::StatusOr<Snapshot> DecodeCase(absl::string_view snapshot_json) {
  absl::StatusOr<Snapshot> snapshot = DecodeSnapshot(snapshot_json);
  if (snapshot.ok() && snapshot->about.empty()) {
    return absl::InvalidArgumentError("about: say what the case shows");
  }
  return snapshot;
}

std::string RunCase(const Snapshot& snapshot) {
  const drain::Plan plan = drain::MakePlan(snapshot.input);
  std::string text = absl::StrCat("# ", snapshot.about, "\n\n");
  text += drain::Explain(snapshot.input, plan);
  if (plan.questions.empty()) text += ExplainMemory(snapshot.input.memory, plan.memory);
  const absl::Status check = drain::CheckPlan(snapshot.input, plan);
  if (!check.ok()) absl::StrAppend(&text, "BROKEN ", check.message(), "\n");
  return text;
}

void AnswerNothing(const drain::Questions& questions, drain::Input& input) {
  input.own_work_request_failed = input.own_work_request_failed || questions.own_work_request;
  input.work_requests_failed = input.work_requests_failed || questions.work_requests;
  input.read_failed = input.read_failed || questions.read;
  for (const drain::BackendKey& key : questions.health) input.health[key].answered = false;
  for (const auto& name : questions.set_health) input.set_health[name].answered = false;
  for (drain::SetInput& set : input.sets) {
    if (questions.memberships.count(set.service.key) != 0) set.membership.emplace();
    for (drain::Endpoint& endpoint : set.endpoints) {
      if (questions.pods.count(endpoint.pod) == 0) continue;
      endpoint.lookup.state = drain::LookupState::kNoAnswer;
    }
  }
}

std::string UnifiedDiff(absl::string_view before, absl::string_view after) {
  const std::vector<absl::string_view> a = absl::StrSplit(before, '\n');
  const std::vector<absl::string_view> b = absl::StrSplit(after, '\n');
  const std::vector<DiffLine> lines = Diff(a, b);
  std::vector<bool> shown(lines.size(), false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t first = i < kContextLines ? 0 : i - kContextLines;
    const size_t last = std::min(lines.size(), i + kContextLines + 1);
    std::fill(shown.begin() + static_cast<long>(first), shown.begin() + static_cast<long>(last),
              true);
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!shown[i]) continue;
    if (i > 0 && !shown[i - 1]) text += "@@\n";
    absl::StrAppend(&text, std::string(1, lines[i].mark), lines[i].text, "\n");
  }
  return text;
}

}  // namespace controller
