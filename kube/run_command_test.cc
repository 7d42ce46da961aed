#include "kube/run_command.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<CommandResult> RunShell(const std::string& script,
                                       absl::Duration timeout = absl::Seconds(60)) {
  Command command;
  command.program = "sh";
  command.arguments = {"-c", script};
  command.environment = {{"GREETING", "hello"}};
  command.timeout = timeout;
  return RunCommand(command, base::RealClock());
}

TEST(RunCommand, GivesBothOutputsAndTheExitStatus) {
  const absl::StatusOr<CommandResult> result = RunShell("echo $GREETING; echo oops >&2; exit 3");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "hello\n");
  EXPECT_EQ(result->error_output, "oops\n");
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_EQ(RunShell("kill -9 $$")->exit_status, 128 + 9);
}

TEST(RunCommand, TakesLargeOutputsOfBothKinds) {
  const absl::StatusOr<CommandResult> result =
      RunShell("head -c 300000 /dev/zero; head -c 400000 /dev/zero >&2");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output.size(), 300000u);
  EXPECT_EQ(result->error_output.size(), 400000u);
}

TEST(RunCommand, KeepsTheEnvironmentAndClosesTheInput) {
  const absl::StatusOr<CommandResult> result = RunShell("test -n \"$PATH\" && cat && echo done");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "done\n");
}

TEST(RunCommand, SaysThatAProgramCannotBeStarted) {
  Command command;
  command.program = "no-such-program-anywhere";
  const absl::Status status = RunCommand(command, base::RealClock()).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(status.message(), HasSubstr("cannot run no-such-program-anywhere: No such file"));
}

TEST(RunCommand, KillsWhatTakesTooLong) {
  const absl::Status status = RunShell("sleep 1000 & sleep 1000", absl::Milliseconds(50)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_THAT(status.message(), HasSubstr("sh did not end within 50ms"));
}

TEST(RunCommand, KillsWhatPrintsTooMuch) {
  EXPECT_TRUE(absl::IsResourceExhausted(RunShell("cat /dev/zero").status()));
}

TEST(RunCommand, DoesNotWaitForWhatAProgramLeavesBehind) {
  const absl::StatusOr<CommandResult> result = RunShell("sleep 1000 & echo $!; exit 0");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(RunShell("kill " + result->output)->exit_status, 0);
}

}  // namespace
}  // namespace kube
