// Reading a configuration file of bounded size.
#ifndef OCI_BACKEND_DRAIN_KUBE_SMALL_FILE_H_
#define OCI_BACKEND_DRAIN_KUBE_SMALL_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace kube {

// The whole file. The error names the path and the cause: NotFound,
// PermissionDenied, InvalidArgument (larger than max_bytes, a directory), or
// Unavailable.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_SMALL_FILE_H_
