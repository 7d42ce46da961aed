// A file of lines, for the programs' logs.
#ifndef OCI_BACKEND_DRAIN_SIM_LINE_FILE_H_
#define OCI_BACKEND_DRAIN_SIM_LINE_FILE_H_

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sim {

// Lines are written as they come, so that a reader need not wait for the end.
// Not thread-safe.
class LineFile {
 public:
  // An empty path: lines are dropped.
  explicit LineFile(const std::string& path) : path_(path) {
    if (!path.empty()) file_.open(path, std::ios::trunc);
  }
  absl::Status status() const {
    return path_.empty() || file_.is_open()
               ? absl::OkStatus()
               : absl::UnavailableError(absl::StrCat(path_, ": cannot be written"));
  }
  void Add(const std::string& line) {
    if (file_.is_open()) file_ << line << std::endl;
  }

 private:
  const std::string path_;
  std::ofstream file_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LINE_FILE_H_
