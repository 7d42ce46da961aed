#include "sim/lab/lab_cells.h"

#include <stdlib.h>

#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"

namespace sim {

absl::string_view ApplicationName(Application application) {
  switch (application) {
    case Application::kNaive:
      return "naive";
    case Application::kGraceful:
      return "graceful";
    case Application::kPreStop:
      return "preStop 5 s";
    case Application::kConnectionClose:
      return "connection close";
  }
  return "";
}

absl::string_view HelpName(Help help) {
  switch (help) {
    case Help::kNone:
      return "without the controller";
    case Help::kDrain:
      return "drain";
    case Help::kBarrier:
      return "drain, barrier";
    case Help::kBarrierAndGate:
      return "drain, barrier, gate";
  }
  return "";
}

absl::StatusOr<LabPrograms> FindLabPrograms() {
  std::error_code error;
  // bazel-bin/sim/lab/PROGRAM
  const auto binaries = std::filesystem::read_symlink("/proc/self/exe", error)
                            .parent_path()
                            .parent_path()
                            .parent_path();
  LabPrograms programs;
  programs.pod_server = binaries / "sim/lab/pod_server";
  programs.controller = binaries / "cmd/oci-drain-controller";
  programs.drain_wait = binaries / "cmd/drain-wait";
  for (const std::string& program :
       {programs.pod_server, programs.controller, programs.drain_wait}) {
    if (std::filesystem::exists(program, error)) continue;
    return absl::NotFoundError(absl::StrCat(
        program, ": is not there; build it with `bazel build //cmd:all //sim/lab:all`"));
  }
  return programs;
}

absl::StatusOr<std::string> MakeLabFolder() {
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error) / "oci-drain-lab-XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) return pattern;
  return absl::UnavailableError(absl::StrCat("cannot make a folder like ", pattern));
}

void RunCells(const std::string& folder, int jobs, const std::atomic<bool>& interrupted,
              const std::function<void(const LabCell&)>& on_done, std::vector<LabCell>& cells) {
  std::atomic<size_t> next = 0;
  std::mutex done;
  std::vector<std::thread> threads;
  for (int job = 0; job < jobs; ++job) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < cells.size() && !interrupted; i = next++) {
        LabCell& cell = cells[i];
        cell.options.folder = absl::StrCat(folder, "/", cell.name);
        cell.options.network = static_cast<int>(i % 250) + 1;
        std::error_code error;
        std::filesystem::create_directories(cell.options.folder, error);
        cell.result = RunLab(cell.options, cell.load, interrupted);
        const std::lock_guard<std::mutex> lock(done);
        on_done(cell);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

absl::Status FirstError(const std::vector<LabCell>& cells) {
  absl::Status cancelled;
  for (const LabCell& cell : cells) {
    if (cell.result.ok()) continue;
    const absl::Status named(cell.result.status().code(),
                             absl::StrCat(cell.name, ": ", cell.result.status().message()));
    if (!absl::IsCancelled(named)) return named;
    cancelled = named;
  }
  return cancelled;
}

}  // namespace sim
