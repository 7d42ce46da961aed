// demo: see demo_options.cc or --help.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/demo_options.h"
#include "sim/demo_report.h"
#include "sim/demo_run.h"
#include "sim/demo_screen.h"
#include "sim/demo_setup.h"

namespace sim {
namespace {

constexpr int kKept = 0;
constexpr int kBroken = 1;
constexpr int kCannot = 2;
constexpr int kInterrupted = 130;

// SIGHUP: the terminal is gone, and with it who would read the rest.
sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

int Complain(const absl::Status& status) {
  std::cerr << "demo: " << status.message() << "\n";
  return kCannot;
}

// The folder that this program was built into: .../bin.
std::filesystem::path BinaryFolder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path();
}

// The first that exists.
absl::StatusOr<std::string> Locate(const std::vector<std::filesystem::path>& candidates,
                                   const char* what, const char* cure) {
  std::error_code error;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::exists(candidate, error)) return candidate.string();
  }
  return absl::NotFoundError(
      absl::StrCat(what, ": not found at ", candidates.front().string(), "; ", cure));
}

absl::StatusOr<std::string> LocateController(const DemoOptions& options) {
  if (!options.controller.empty()) {
    return Locate({std::filesystem::absolute(options.controller)}, "the controller",
                  "--controller names it");
  }
  return Locate({BinaryFolder() / "cmd/oci-drain-controller"}, "the controller",
                "build it with `bazel build //cmd:all`, or name it with --controller");
}

absl::StatusOr<std::string> LocateManifests(const DemoOptions& options) {
  if (!options.manifests.empty()) {
    return Locate({options.manifests}, "the manifests", "--manifests names their folder");
  }
  return Locate(
      {BinaryFolder() / "sim/demo.runfiles/oci_backend_drain/testdata/demo", "testdata/demo"},
      "the manifests", "run this from the top of the repository, or use --manifests");
}

// A folder of the runs' files, removed at the end unless it is to be kept.
class LogFolder {
 public:
  ~LogFolder() {
    std::error_code error;
    if (!kept_ && !path_.empty()) std::filesystem::remove_all(path_, error);
  }
  absl::Status Make(const std::string& wanted) {
    std::error_code error;
    if (!wanted.empty()) {
      std::filesystem::create_directories(wanted, error);
      path_ = std::filesystem::absolute(wanted).string();
      kept_ = true;
    } else {
      std::string pattern = (std::filesystem::temp_directory_path(error) / "oci-drain-demo-XXXXXX");
      if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    if (!std::filesystem::is_directory(path_, error)) {
      return absl::UnavailableError(
          absl::StrCat("cannot make a folder for logs", path_.empty() ? "" : " at ", path_));
    }
    return absl::OkStatus();
  }
  std::string Sub(const std::string& name) const {
    std::error_code error;
    std::filesystem::create_directories(path_ + "/" + name, error);
    return path_ + "/" + name;
  }
  void Keep() { kept_ = true; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool kept_ = false;
};

struct Manifests {
  DemoManifests web;
  DemoManifests neighbour;
  std::string load_balancer;
};

absl::StatusOr<Manifests> ReadAll(const std::string& folder) {
  auto web = ReadDemoManifests(folder);
  if (!web.ok()) return web.status();
  auto neighbour = ReadDemoManifests(folder + "/neighbour");
  if (!neighbour.ok()) return neighbour.status();
  Manifests manifests{*std::move(web), *std::move(neighbour), ""};
  manifests.load_balancer = LoadBalancerOf(manifests.web.objects);
  if (manifests.load_balancer.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": no IngressClass names a load balancer"));
  }
  return manifests;
}

std::vector<DemoRunPlan> MakePlans(const Manifests& manifests, const LogFolder& logs) {
  const auto plan = [&](const char* folder, const char* title, bool shared) {
    DemoRunPlan made;
    made.name = absl::StrCat(shared ? "2 Services, " : "", title);
    made.title = title;
    made.world.folder = logs.Sub(folder);
    made.world.load_balancer = manifests.load_balancer;
    made.world.manifests = {manifests.web};
    if (shared) made.world.manifests.push_back(manifests.neighbour);
    return made;
  };
  std::vector<DemoRunPlan> plans = {
      plan("alone", "NIC alone", false),           plan("helped", "with controller", false),
      plan("shared-alone", "NIC alone", true),     plan("shared", "with controller", true),
      plan("shared-carry-all", "carry all", true),
  };
  plans[1].with_controller = plans[3].with_controller = plans[4].with_controller = true;
  plans[1].narrate = true;
  plans[4].world.carry_all = true;
  return plans;
}

using RunResults = std::vector<std::optional<absl::StatusOr<RunResult>>>;

// Every plan in its own thread. This one waits for signals meanwhile.
RunResults RunAll(const DemoStage& stage, std::vector<DemoRunPlan> plans,
                  std::atomic<bool>& interrupted) {
  RunResults results(plans.size());
  std::atomic<size_t> running = plans.size();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < plans.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] = DemoRun(stage, std::move(plans[i]), i).Run();
      // Nothing can be concluded without it.
      if (!results[i]->ok()) interrupted = true;
      --running;
    });
  }
  const sigset_t signals = EndSignals();
  const timespec poll = {.tv_sec = 0, .tv_nsec = 100'000'000};
  while (running > 0) {
    if (sigtimedwait(&signals, nullptr, &poll) > 0) interrupted = true;
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::string Introduction(const Manifests& manifests, const DemoOptions& options) {
  const DemoService& web = manifests.web.service;
  return absl::StrCat(
      "Deployment ", web.deployment, " gets a new image: ", web.replicas,
      " Pods are replaced behind a load balancer where a write\ntakes ",
      absl::FormatDuration(options.service_time.min), " to ",
      absl::FormatDuration(options.service_time.max),
      ", while the ingress controller (NIC) and oci-drain-controller\n"
      "both write to it. The timeline is that of the run \"with controller\", seed ",
      options.seed, ".\n");
}

int Conclude(const DemoOptions& options, const DemoResult& result, DemoScreen& screen,
             LogFolder& logs) {
  bool kept = true;
  for (const Promise& promise : JudgePromises(result)) kept = kept && promise.kept;
  screen.Line(absl::StrCat("\n", DescribeResult(result)));
  if (!kept) {
    logs.Keep();
    screen.Line(DescribeDeadTimes(result.helped), DemoColor::kRed);
    screen.Line(
        absl::StrCat("Not every promise was kept; the logs of all runs are in ", logs.path()),
        DemoColor::kRed);
  }
  if (options.json) std::cout << ResultJson(result).Dump() << std::endl;
  return kept ? kKept : kBroken;
}

int Demonstrate(const DemoOptions& options) {
  const auto controller = LocateController(options);
  if (!controller.ok()) return Complain(controller.status());
  const auto folder = LocateManifests(options);
  if (!folder.ok()) return Complain(folder.status());
  const auto manifests = ReadAll(*folder);
  if (!manifests.ok()) return Complain(manifests.status());
  LogFolder logs;
  if (absl::Status status = logs.Make(options.logs); !status.ok()) return Complain(status);
  std::vector<DemoRunPlan> plans = MakePlans(*manifests, logs);
  DemoScreen screen(DemoScreenOptions::For(options.json ? STDERR_FILENO : STDOUT_FILENO),
                    plans.size());
  screen.Line(Introduction(*manifests, options));
  std::atomic<bool> interrupted = false;
  const DemoStage stage{options, *controller, screen, interrupted};
  RunResults results = RunAll(stage, std::move(plans), interrupted);
  screen.EndProgress();
  for (const auto& run : results) {
    if (run->ok() || absl::IsCancelled(run->status())) continue;
    logs.Keep();
    return Complain(run->status());
  }
  if (interrupted) return kInterrupted;
  DemoResult result;
  result.seed = options.seed;
  result.replicas = manifests->web.service.replicas;
  result.good_floor = result.replicas - manifests->web.service.max_unavailable;
  result.alone = **std::move(results[0]);
  result.helped = **std::move(results[1]);
  result.shared_alone = **std::move(results[2]);
  result.shared = **std::move(results[3]);
  result.shared_carry_all = **std::move(results[4]);
  return Conclude(options, result, screen, logs);
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  const auto options = sim::ParseDemoOptions({argv + 1, argv + argc});
  if (!options.ok()) return sim::Complain(options.status());
  if (options->help) {
    std::cout << sim::kDemoHelp;
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = sim::EndSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return sim::Demonstrate(*options);
}
