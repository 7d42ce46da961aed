#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace base {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const auto failed = [&] {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat information;
  if (file.get() < 0 || fstat(file.get(), &information) != 0) return failed();
  if (S_ISDIR(information.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read ", path, ": it is a directory"));
  }
  std::string text;
  char buffer[16 << 10];
  for (;;) {
    const ssize_t count = read(file.get(), buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0) {
      if (errno == EINTR) continue;
      return failed();
    }
    if (static_cast<size_t>(count) > max_bytes - text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot read ", path, ": larger than ", max_bytes, " bytes"));
    }
    text.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace base
