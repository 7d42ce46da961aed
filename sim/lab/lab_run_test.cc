// Rollouts of real processes, with a short life: everything is shortened by 20.
#include "sim/lab/lab_run.h"

#include <atomic>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "probe/report.h"

namespace sim {
namespace {

LabOptions Options(const char* name, Application application, Help help) {
  LabOptions options;
  options.programs = {"sim/lab/pod_server", "cmd/oci-drain-controller", "cmd/drain-wait"};
  options.folder = absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::create_directories(options.folder);
  options.application = application;
  options.help = help;
  options.replicas = 2;
  options.factor = 20;
  return options;
}

LabLoad Load() {
  LabLoad load;
  load.clients = 4;
  load.rate = 100;
  load.control = absl::Milliseconds(500);
  load.before = absl::Milliseconds(200);
  load.after = absl::Milliseconds(200);
  return load;
}

bool HasHaproxy() { return std::filesystem::exists("/usr/sbin/haproxy"); }

std::string Describe(const LabResult& result) {
  return probe::FormatReport({result.control, result.run, result.marks});
}

TEST(Lab, ANaiveApplicationLosesRequestsWithoutTheController) {
  if (!HasHaproxy()) GTEST_SKIP() << "there is no HAProxy";
  const std::atomic<bool> interrupted = false;
  const auto result =
      RunLab(Options("naive", Application::kNaive, Help::kNone), Load(), interrupted);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rollouts, 1);
  EXPECT_EQ(result->control.failed, 0) << Describe(*result);
  EXPECT_GT(result->control.succeeded, 0);
  EXPECT_GT(result->run.failed, 0) << Describe(*result);
}

TEST(Lab, ANaiveApplicationLosesNoneWithDrainBarrierAndGate) {
  if (!HasHaproxy()) GTEST_SKIP() << "there is no HAProxy";
  const std::atomic<bool> interrupted = false;
  const auto result =
      RunLab(Options("helped", Application::kNaive, Help::kBarrierAndGate), Load(), interrupted);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->control.failed, 0) << Describe(*result);
  EXPECT_EQ(result->run.failed, 0) << Describe(*result);
  EXPECT_GT(result->run.succeeded, 0);
  // Every SIGTERM came after its Pod's drain.
  for (const probe::Mark& sigterm : result->marks) {
    if (sigterm.kind != probe::MarkKind::kSigterm) continue;
    bool drained = false;
    for (const probe::Mark& mark : result->marks) {
      drained = drained || (mark.kind == probe::MarkKind::kDrained && mark.pod == sigterm.pod &&
                            mark.time <= sigterm.time);
    }
    EXPECT_TRUE(drained) << sigterm.pod;
  }
}

}  // namespace
}  // namespace sim
