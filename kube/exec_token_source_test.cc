#include "kube/exec_token_source.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "client.authentication.k8s.io/v1beta1";

class SetClock final : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = absl::FromUnixSeconds(1796007884);  // 2026-11-30T03:04:44Z
};

TEST(ParseExecCredential, ReadsWhatTheOciCommandPrints) {
  const absl::StatusOr<ExecCredential> credential = ParseExecCredential(
      R"({"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential",
          "status": {"token": "aHR0cHM6Ly9j", "expirationTimestamp": "2026-11-30T03:08:44Z"}})",
      kVersion);
  ASSERT_TRUE(credential.ok()) << credential.status();
  EXPECT_EQ(credential->token, "aHR0cHM6Ly9j");
  EXPECT_EQ(credential->expires, absl::FromUnixSeconds(1796008124));
}

TEST(ParseExecCredential, SaysWhatIsWrongAndNeverTheToken) {
  const std::string head =
      R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",)";
  for (const std::string& text :
       {std::string("secret-token"), std::string("{}"), head + "\"x\":1}", head + R"("status":{}})",
        head + R"("status":{"token":7}})", head + R"("status":{"token":"secret-token\n x"}})",
        head + R"("status":{"token":"secret-token","expirationTimestamp":"soon"}})",
        head + R"("status":{"clientCertificateData":"x"}})",
        std::string(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)") +
            R"("status":{"token":"secret-token"}})"}) {
    const absl::Status status = ParseExecCredential(text, kVersion).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(status.message(), Not(HasSubstr("secret-token")));
  }
}

class ExecTokenSourceTest : public ::testing::Test {
 protected:
  // A plugin that counts its runs and prints what is in the file "answer".
  ExecTokenSourceTest() {
    std::ofstream(folder_ + "/runs") << "";
    std::ofstream(folder_ + "/plugin") << "#!/bin/sh\n"
                                       << "echo run >> " << folder_ << "/runs\n"
                                       << "cat " << folder_ << "/answer\n"
                                       << "exec test ! -e " << folder_ << "/fail\n";
    chmod((folder_ + "/plugin").c_str(), 0700);
    std::remove((folder_ + "/fail").c_str());
    plugin_.api_version = kVersion;
    plugin_.command.program = folder_ + "/plugin";
  }

  void Answer(const std::string& token, const std::string& expires) {
    const std::string expiry =
        expires.empty() ? "" : absl::StrCat(",\"expirationTimestamp\":\"", expires, "\"");
    std::ofstream(folder_ + "/answer")
        << R"({"apiVersion":")" << kVersion << R"(","kind":"ExecCredential","status":{"token":")"
        << token << "\"" << expiry << "}}";
  }
  size_t Runs() { return base::ReadFile(folder_ + "/runs", 1 << 20)->size() / 4; }

  const std::string folder_ = testing::TempDir();
  SetClock clock_;
  ExecPlugin plugin_;
};

TEST_F(ExecTokenSourceTest, RunsThePluginAgainBeforeTheTokenExpires) {
  ExecTokenSource source(plugin_, clock_);
  Answer("first", "2026-11-30T03:08:44Z");
  EXPECT_EQ(*source.Token(), "first");
  clock_.now += absl::Seconds(200);
  EXPECT_EQ(*source.Token(), "first");
  EXPECT_EQ(Runs(), 1u);
  Answer("second", "2026-11-30T03:18:44Z");
  clock_.now += absl::Seconds(15);
  EXPECT_EQ(*source.Token(), "second") << "25 s before the first expires";
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(ExecTokenSourceTest, KeepsATokenWithoutExpiryUntilItIsRefused) {
  ExecTokenSource source(plugin_, clock_);
  Answer("first", "");
  EXPECT_EQ(*source.Token(), "first");
  clock_.now += absl::Hours(100);
  EXPECT_EQ(*source.Token(), "first");
  Answer("second", "");
  source.Refused();
  EXPECT_EQ(*source.Token(), "second");
  source.Refused();
  EXPECT_EQ(*source.Token(), "second") << "not run for each refusal";
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(ExecTokenSourceTest, UsesATokenThatIsExpiredByOurClockWithoutRunningForEachCall) {
  ExecTokenSource source(plugin_, clock_);
  Answer("old", "2026-11-30T03:00:00Z");
  EXPECT_EQ(*source.Token(), "old");
  EXPECT_EQ(*source.Token(), "old");
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(ExecTokenSourceTest, TellsWhyThePluginFailedAndDoesNotHurryIt) {
  ExecTokenSource source(plugin_, clock_);
  Answer("first", "");
  std::ofstream(folder_ + "/fail") << "x";
  const absl::Status status = source.Token().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(status.message(), HasSubstr("/plugin failed with exit status 1"));
  EXPECT_FALSE(source.Token().ok());
  EXPECT_EQ(Runs(), 1u);
  std::remove((folder_ + "/fail").c_str());
  clock_.now += absl::Seconds(5);
  EXPECT_EQ(*source.Token(), "first");
}

TEST_F(ExecTokenSourceTest, GivesTheInstallHintWhenThePluginIsNotThere) {
  plugin_.command.program = folder_ + "/none";
  plugin_.install_hint = "install the OCI CLI";
  ExecTokenSource source(plugin_, clock_);
  EXPECT_THAT(source.Token().status().message(),
              HasSubstr("No such file or directory; install the OCI CLI"));
}

}  // namespace
}  // namespace kube
