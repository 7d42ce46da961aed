// The status for programs.
#ifndef OCI_BACKEND_DRAIN_HEALTH_STATUS_JSON_H_
#define OCI_BACKEND_DRAIN_HEALTH_STATUS_JSON_H_

#include <string>

#include "health/status.h"
#include "health/vitals.h"

namespace health {

// What a program may rely on: docs/health.md lists the members. One that is taken away
// or means something else makes a new number; more may come at any time.
inline constexpr int kStatusSchema = 1;

// One JSON object and a line break. Without the characters that HTML gives a meaning.
std::string StatusToJson(const Status& status, const VitalsReport& vitals);

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_STATUS_JSON_H_
