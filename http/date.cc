#include "http/date.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/civil_time.h"

namespace http {
namespace {

constexpr std::array<absl::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<absl::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu",
                                                    "Fri", "Sat", "Sun"};

}  // namespace

std::string FormatDate(absl::Time time) {
  const absl::CivilSecond second = absl::ToCivilSecond(time, absl::UTCTimeZone());
  const auto day = static_cast<size_t>(absl::GetWeekday(second));
  return absl::StrFormat("%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[day], second.day(),
                         kMonths[static_cast<size_t>(second.month() - 1)], second.year(),
                         second.hour(), second.minute(), second.second());
}

std::optional<absl::Time> ParseDate(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ' ');
  if (parts.size() != 6 || parts[0].size() != 4 || parts[5] != "GMT") return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), parts[2]);
  const std::vector<absl::string_view> clock = absl::StrSplit(parts[4], ':');
  int day = 0, year = 0, hour = 0, minute = 0, second = 0;
  if (month == kMonths.end() || clock.size() != 3 || !absl::SimpleAtoi(parts[1], &day) ||
      !absl::SimpleAtoi(parts[3], &year) || !absl::SimpleAtoi(clock[0], &hour) ||
      !absl::SimpleAtoi(clock[1], &minute) || !absl::SimpleAtoi(clock[2], &second)) {
    return std::nullopt;
  }
  const absl::CivilSecond time(year, month - kMonths.begin() + 1, day, hour, minute, second);
  // What the calendar normalized was no date.
  if (year < 1970 || year > 9999 || time.day() != day || time.hour() != hour ||
      time.minute() != minute || time.second() != second) {
    return std::nullopt;
  }
  return absl::FromCivil(time, absl::UTCTimeZone());
}

}  // namespace http
