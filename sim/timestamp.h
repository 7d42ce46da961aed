// Times as the APIs write them.
#ifndef OCI_BACKEND_DRAIN_SIM_TIMESTAMP_H_
#define OCI_BACKEND_DRAIN_SIM_TIMESTAMP_H_

#include <string>

#include "absl/time/time.h"

namespace sim {

// "2026-01-02T03:04:05.678Z", as the load balancer's API does.
inline std::string Timestamp(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

// "Thu, 05 Jan 2014 21:31:40 GMT", as HTTP's Date header has it.
inline constexpr char kHttpDateFormat[] = "%a, %d %b %Y %H:%M:%S GMT";
inline std::string HttpDate(absl::Time time) {
  return absl::FormatTime(kHttpDateFormat, time, absl::UTCTimeZone());
}

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_TIMESTAMP_H_
