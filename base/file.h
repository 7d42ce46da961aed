// Reading a whole file with a bound and an error that names it.
#ifndef OCI_BACKEND_DRAIN_BASE_FILE_H_
#define OCI_BACKEND_DRAIN_BASE_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace base {

inline constexpr size_t kMaxFileBytes = 16 << 20;

// "cannot read /path: No such file or directory" as NotFound, PermissionDenied
// for missing rights, InvalidArgument for a directory or more than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = kMaxFileBytes);

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_FILE_H_
