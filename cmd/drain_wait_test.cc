// drain-wait as a process, against a barrier that behaves and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "cmd/run_program.h"
#include "sim/child_process.h"
#include "sim/http_server.h"

namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPod[] = "POD_NAMESPACE=shop POD_NAME=web-0 POD_UID=u-1";
constexpr char kProgram[] = "cmd/drain-wait";

http::Response Json(int status, const std::string& body) {
  http::Response response;
  response.status = status;
  response.headers = {{"content-type", "application/json"}};
  response.body = body;
  return response;
}

http::Response Drained() { return Json(200, R"({"outcome":"Drained"})"); }
http::Response Waiting() { return Json(202, R"({"outcome":"Waiting"})"); }

class DrainWaitProgram : public testing::Test {
 protected:
  // Answers the n-th question, from 0.
  void Serve(std::function<sim::Answer(int)> answer) {
    auto server = sim::HttpServer::Start([this, answer](const http::Request& request) {
      std::lock_guard<std::mutex> lock(mutex_);
      targets_.push_back(request.target);
      return answer(static_cast<int>(targets_.size()) - 1);
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Address() const { return std::string(absl::StripPrefix(server_->url(), "http://")); }

  cmd::Ran Wait(const std::string& flags) {
    return cmd::RunProgram(
        absl::StrCat(kPod, " ", kProgram, " --linger=0s --address=", Address(), " ", flags));
  }

  std::vector<std::string> Targets() {
    std::lock_guard<std::mutex> lock(mutex_);
    return targets_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> targets_;  // guarded by mutex_
  std::unique_ptr<sim::HttpServer> server_;
};

TEST_F(DrainWaitProgram, EndsWhenTheBarrierSaysDrained) {
  Serve([](int question) { return question == 0 ? Waiting() : Drained(); });
  const cmd::Ran ran = Wait("--fail_unless_drained");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("over after"));
  EXPECT_THAT(Targets(), Each(StartsWith("/v1/drained/shop/web-0?uid=u-1&timeout=")));
}

TEST_F(DrainWaitProgram, AtTheEndOfTheLingerItAsksWhetherItIsStillDrained) {
  Serve([](int question) { return question == 1 ? Waiting() : Drained(); });
  const cmd::Ran ran = Wait("--fail_unless_drained --linger=10ms");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(Targets(), testing::ElementsAre(
                             Not(HasSubstr("confirm")), testing::EndsWith("&confirm=1"),
                             testing::EndsWith("&confirm=1"), testing::EndsWith("&confirm=1")));
}

TEST_F(DrainWaitProgram, ResolvesNamesWithoutGlibc) {
  Serve([](int) { return Drained(); });
  const std::string address = Address();
  const cmd::Ran ran =
      Wait("--fail_unless_drained --address=localhost" + address.substr(address.rfind(':')));
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(DrainWaitProgram, WhatIsNotTheBarriersAnswerIsAskedForAgain) {
  Serve([](int question) -> sim::Answer {
    sim::Answer answer(Drained());
    if (question == 0) answer = Json(500, "{}");
    if (question == 1) answer = Json(302, "{}");
    if (question == 2) answer.fault = sim::Answer::Fault::kCutBody;
    if (question == 3) answer.fault = sim::Answer::Fault::kLoseReply;
    if (question == 4) answer = Json(200, "<html>");
    if (question == 5) answer = Json(200, std::string(100 << 10, ' '));
    return answer;
  });
  const cmd::Ran ran = Wait("--fail_unless_drained --timeout=60s --fallback=60s");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(Targets().size(), 7u);
}

TEST_F(DrainWaitProgram, AnUnknownPodIsGivenUpAfterTheFallback) {
  Serve([](int) { return Json(404, R"({"outcome":"Unknown"})"); });
  EXPECT_EQ(Wait("--fallback=100ms").status, 0);
  const cmd::Ran ran = Wait("--fallback=100ms --fail_unless_drained");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("given up"));
  EXPECT_THAT(ran.output, HasSubstr("HTTP 404"));
}

TEST_F(DrainWaitProgram, ABarrierThatHangsIsBounded) {
  Serve([](int) {
    sim::Answer answer(Drained());
    answer.delay = absl::Hours(1);
    return answer;
  });
  EXPECT_EQ(Wait("--timeout=300ms --fail_unless_drained").status, 1);
}

// As the real one does: it holds the question for as long as it is asked to.
TEST_F(DrainWaitProgram, ABarrierThatHoldsTheQuestionIsNotGivenUp) {
  std::atomic<int> asked = 0;
  auto barrier = sim::HttpServer::Start([&](const http::Request& request) -> sim::Answer {
    if (asked++ > 0) return Drained();
    const size_t at = request.target.find("timeout=");
    sim::Answer answer(Waiting());
    EXPECT_TRUE(absl::ParseDuration(request.target.substr(at + 8), &answer.delay));
    return answer;
  });
  ASSERT_TRUE(barrier.ok()) << barrier.status();
  const cmd::Ran ran = cmd::RunProgram(
      absl::StrCat(kPod, " ", kProgram, " --linger=0s --fallback=2s --fail_unless_drained",
                   " --address=127.0.0.1:", (*barrier)->port()));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(asked, 2);
}

TEST_F(DrainWaitProgram, SigtermDoesNotEndTheWait) {
  absl::Notification waiting;
  Serve([&](int question) {
    if (question == 0) waiting.Notify();
    return question == 0 ? Waiting() : Drained();
  });
  auto program = sim::ChildProcess::Start(
      {"/usr/bin/env", "POD_NAMESPACE=shop", "POD_NAME=web-0", "POD_UID=u-1", kProgram,
       "--linger=0s", "--fail_unless_drained", absl::StrCat("--address=", Address())},
      testing::TempDir() + "/sigterm.log");
  ASSERT_TRUE(program.ok()) << program.status();
  waiting.WaitForNotification();
  (*program)->Stop();  // SIGTERM, then it waits for the end
  EXPECT_EQ((*program)->Ending(), "exit status 0");
  EXPECT_EQ(Targets().size(), 2u);
}

TEST(DrainWaitAlone, AnAbsentBarrierEndsTheWaitAfterTheFallback) {
  for (const char* address : {"127.0.0.1:1", "no-such-host.invalid:80"}) {
    const cmd::Ran ran =
        cmd::RunProgram(absl::StrCat(kPod, " ", kProgram, " --fallback=100ms --address=", address));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("given up"));
  }
}

TEST(DrainWaitAlone, AWrongCallIsOneClearLineAndStatusTwo) {
  const struct {
    const char* call;
    const char* line;
  } kCalls[] = {
      {"cmd/drain-wait", "drain-wait: POD_NAMESPACE is not set"},
      {"POD_NAMESPACE=a/b POD_NAME=b POD_UID=c cmd/drain-wait", "POD_NAMESPACE=\"a/b\": not the"},
      {"cmd/drain-wait --timeout=soon", "--timeout=soon: expected a duration"},
      {"cmd/drain-wait --address=nowhere", "--address: \"nowhere\": expected HOST:PORT"},
      {"cmd/drain-wait remove x", "remove: the one command is: install DIR"},
      {"cmd/drain-wait install /nowhere", "/nowhere/drain-wait.partial: No such file"},
  };
  for (const auto& call : kCalls) {
    const cmd::Ran ran = cmd::RunProgram(absl::StrCat("env ", call.call));
    EXPECT_EQ(ran.status, 2) << call.call;
    EXPECT_THAT(ran.output, HasSubstr(call.line)) << call.call;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
}

TEST(DrainWaitAlone, InstallsACopyThatRuns) {
  const std::string folder = testing::TempDir();
  const cmd::Ran installed = cmd::RunProgram(absl::StrCat(kProgram, " install ", folder));
  ASSERT_EQ(installed.status, 0) << installed.output;
  const cmd::Ran help = cmd::RunProgram(absl::StrCat(folder, "/drain-wait --help"));
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, HasSubstr("--fail_unless_drained"));
}

}  // namespace
