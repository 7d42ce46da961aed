// What `oci-drain capacity` prints.
#ifndef OCI_BACKEND_DRAIN_CMD_CAPACITY_COMMAND_H_
#define OCI_BACKEND_DRAIN_CMD_CAPACITY_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cmd/capacity_report.h"

namespace cmd {

// Exit status if a rollout would not fit.
inline constexpr int kDoesNotFit = 3;

// kPlain has no bars: it is for what is no terminal.
enum class CapacityStyle { kPlain, kBars, kColors, kJson };

// `output` is "text" or "json". Text on a terminal has bars, in colours unless the
// environment says NO_COLOR (`no_color`).
absl::StatusOr<CapacityStyle> ParseCapacityStyle(absl::string_view output, bool terminal,
                                                 bool no_color);

// Ends in a line break; JSON is one object on one line.
std::string FormatCapacity(const CapacityReport& report, CapacityStyle style);

// The manifests of these files, and of the *.yaml, *.yml and *.json in these
// directories (not in their subdirectories). The status names file, object and field.
absl::StatusOr<kube::Manifests> ReadManifestFiles(const std::vector<std::string>& paths);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CAPACITY_COMMAND_H_
