// Writes testdata/drain/*.plan.txt anew: bazel run //controller:update_goldens
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "controller/golden_case.h"

namespace {

// True if the file holds `text` afterwards.
bool Update(const std::string& path, const std::string& text) {
  const absl::StatusOr<std::string> before = base::ReadFile(path);
  if (before.ok() && *before == text) return true;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    return false;
  }
  std::printf("%s\n%s", path.c_str(),
              controller::UnifiedDiff(before.ok() ? *before : "", text).c_str());
  return true;
}

}  // namespace

int main() {
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (root == nullptr) {
    std::fprintf(stderr, "run it as: bazel run //controller:update_goldens\n");
    return 2;
  }
  const std::string folder = absl::StrCat(root, "/", controller::kGoldenFolder);
  int failures = 0;
  for (const std::string& name : controller::ListCases(folder, controller::kSnapshotSuffix)) {
    const std::string path = absl::StrCat(folder, "/", name);
    const auto snapshot = base::ReadFile(path + controller::kSnapshotSuffix);
    const auto decoded = snapshot.ok() ? controller::DecodeCase(*snapshot)
                                       : absl::StatusOr<controller::Snapshot>(snapshot.status());
    if (!decoded.ok()) {
      std::fprintf(stderr, "%s%s: %s\n", path.c_str(), controller::kSnapshotSuffix,
                   std::string(decoded.status().message()).c_str());
      ++failures;
    } else if (!Update(path + controller::kPlanSuffix, controller::RunCase(*decoded))) {
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
