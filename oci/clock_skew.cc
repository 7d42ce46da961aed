#include "oci/clock_skew.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "http/date.h"

namespace oci {

std::string ClockHint(const http::Headers& headers, absl::Time now) {
  const std::optional<absl::Time> date = http::ParseDate(http::FindHeader(headers, "date"));
  if (!date.has_value()) return "";
  // The header has whole seconds and travelled for a while.
  const absl::Duration skew = absl::Trunc(now - *date, absl::Seconds(1));
  if (absl::AbsDuration(skew) <= absl::Minutes(1)) return "";
  return absl::StrCat("; this machine's clock is ", absl::FormatDuration(absl::AbsDuration(skew)),
                      skew > absl::ZeroDuration() ? " ahead of" : " behind",
                      " the server's, which allows ", absl::FormatDuration(kAllowedClockSkew),
                      ": set the clock");
}

}  // namespace oci
