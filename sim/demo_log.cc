#include "sim/demo_log.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace sim {

std::vector<LoggedWrite> ParseLoggedWrites(absl::string_view log) {
  constexpr absl::string_view kMark = "write accepted: ";
  std::vector<LoggedWrite> writes;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    const size_t mark = line.find(kMark);
    if (mark == absl::string_view::npos) continue;
    line.remove_prefix(mark + kMark.size());
    line = line.substr(0, line.find('"'));
    std::map<absl::string_view, absl::string_view> words;
    for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      words.insert(parts);
    }
    LoggedWrite write;
    write.backend_set = std::string(words["set"]);
    write.reason = std::string(words["reason"]);
    write.carries_wave = words["carries_wave"] == "true";
    if (!absl::SimpleAtoi(words["waves"], &write.waves)) write.waves = 0;
    write.work_request = std::string(words["work_request"]);
    writes.push_back(std::move(write));
  }
  return writes;
}

}  // namespace sim
