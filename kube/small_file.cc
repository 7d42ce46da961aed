#include "kube/small_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

absl::Status CannotRead(const std::string& path, int error) {
  const absl::StatusCode code = error == ENOENT || error == ENOTDIR ? absl::StatusCode::kNotFound
                                : error == EACCES ? absl::StatusCode::kPermissionDenied
                                : error == EISDIR ? absl::StatusCode::kInvalidArgument
                                                  : absl::StatusCode::kUnavailable;
  return absl::Status(code, absl::StrCat("cannot read ", path, ": ", strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (file == nullptr) return CannotRead(path, errno);
  std::string text;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, count);
    if (text.size() > max_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot use ", path, ": it is larger than ", max_bytes, " bytes"));
    }
  }
  if (std::ferror(file.get()) != 0) return CannotRead(path, errno);
  return text;
}

}  // namespace kube
