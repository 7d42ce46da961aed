// `oci-drain status` and `oci-drain explain pod` from a controller that runs.
#ifndef OCI_BACKEND_DRAIN_CMD_STATUS_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_STATUS_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cmd {

enum class StatusStyle { kPlain, kColors, kJson };

// --output is "text" or "json"; colours on a terminal only, and not with NO_COLOR.
absl::StatusOr<StatusStyle> ParseStatusStyle(absl::string_view output, bool terminal,
                                             bool no_color);

// The body of a page of the controller's health port ("/statusz.json"). `address` is
// HOST:PORT, with [] around an IPv6 address. InvalidArgument: the address is none;
// Unavailable: nobody answers; NotFound: the controller's own words; FailedPrecondition:
// what answers is no such controller.
absl::StatusOr<std::string> AskController(const std::string& address, const std::string& target,
                                          absl::Duration patience);

// What /statusz.json says, as tables; ends in a line break. Characters that a terminal
// would obey are shown as "?". InvalidArgument: it is no status.
absl::StatusOr<std::string> FormatStatus(absl::string_view json, StatusStyle style);

// Whether it tells of something that is wrong: not ready, stuck, or a drain that is late.
absl::StatusOr<bool> IsStatusGood(absl::string_view json);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_STATUS_COMMAND_H_
