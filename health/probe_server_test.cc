#include "health/probe_server.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "controller/barrier_peer_for_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace health {
namespace {

using controller::Peer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(AnswerProbe, SaysOkOrWhatIsWrong) {
  VitalsReport report;
  report.ready = true;
  EXPECT_EQ(AnswerProbe("/readyz", report, nullptr).body, "ok\n");
  EXPECT_EQ(AnswerProbe("/livez", report, nullptr).status, 200);
  report.ready = false;
  report.parts = {{"caches", false, "pods in namespace shop are not listed"}};
  HttpAnswer answer = AnswerProbe("/readyz", report, nullptr);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "not ready: caches: pods in namespace shop are not listed\n");
  EXPECT_EQ(AnswerProbe("/livez", report, nullptr).status, 200);
  report.wedged = true;
  report.wedge = "worker-1 is stuck, for 10.2 s";
  answer = AnswerProbe("/livez", report, nullptr);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "not live: worker-1 is stuck, for 10.2 s\n");
}

TEST(AnswerProbe, NamesEachPartWithItsAgeWhenAsked) {
  VitalsReport report;
  report.parts = {{"caches", true, ""}, {"listeners", true, "barrier on port 8090"}};
  report.loops = {{"worker-0", absl::Milliseconds(400), false},
                  {"worker-1", absl::Seconds(12), true}};
  EXPECT_EQ(AnswerProbe("/readyz?verbose", report, nullptr).body,
            "not ready: worker-1 is stuck\n"
            "[+] caches\n"
            "[+] listeners: barrier on port 8090\n"
            "[+] worker-0: ticked 0.4 s ago\n"
            "[-] worker-1: stuck, for 12.0 s\n");
}

TEST(AnswerProbe, KnowsNoOtherPath) {
  VitalsReport report;
  report.ready = true;
  for (const char* path : {"/", "", "/healthz", "/readyz/", "*", "/metrics"}) {
    EXPECT_EQ(AnswerProbe(path, report, nullptr).status, 404) << path;
  }
  const HttpAnswer metrics =
      AnswerProbe("/metrics", report, [](const VitalsReport&) { return "a 1\n"; });
  EXPECT_EQ(metrics.body, "a 1\n");
  EXPECT_THAT(metrics.content_type, HasSubstr("version=0.0.4"));
}

class ProbeServerTest : public ::testing::Test {
 protected:
  void Start(ProbeOptions options = {}) {
    options.http.address = "127.0.0.1";
    options.http.port = 0;
    auto server = ProbeServer::Start(vitals_, base::RealClock(), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Get(const std::string& target) {
    return Peer(server_->port(), absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"))
        .ReadAll();
  }

  Vitals vitals_{absl::Milliseconds(300)};
  std::unique_ptr<ProbeServer> server_;
};

TEST_F(ProbeServerTest, AnswersOverHttp) {
  vitals_.SetPart("caches", true, "");
  Start();
  const std::string answer = Get("/readyz?verbose");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nok\n[+] caches\n"));
}

TEST_F(ProbeServerTest, RefusesWhatIsNoRequest) {
  Start();
  EXPECT_THAT(Peer(server_->port(), "nonsense\r\n\r\n").ReadAll(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Peer(server_->port(), "POST /livez HTTP/1.1\r\nHost: x\r\n\r\n").ReadAll(),
              StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Peer(server_->port(), absl::StrCat("GET /livez HTTP/1.1\r\nX: ",
                                                 std::string(HttpServer::kMaxHeadBytes, 'x')))
                  .ReadAll(),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(ProbeServerTest, ClosesWhoSaysNothingAndWhoIsOneTooMany) {
  ProbeOptions options;
  options.http.patience = absl::Milliseconds(200);
  options.http.max_connections = 2;
  Start(std::move(options));
  Peer first(server_->port());
  Peer second(server_->port());
  EXPECT_EQ(Peer(server_->port()).ReadAll(), "");
  EXPECT_EQ(first.ReadAll(), "");
  EXPECT_EQ(second.ReadAll(), "");
  EXPECT_THAT(Get("/livez"), HasSubstr("ok"));
}

TEST_F(ProbeServerTest, SaysWhatIsWrongWithAnAddress) {
  ProbeOptions options;
  options.http.address = "localhost";
  EXPECT_TRUE(
      absl::IsInvalidArgument(ProbeServer::Start(vitals_, base::RealClock(), options).status()));
  Start();
  options.http.address = "127.0.0.1";
  options.http.port = static_cast<uint16_t>(server_->port());
  EXPECT_TRUE(
      absl::IsUnavailable(ProbeServer::Start(vitals_, base::RealClock(), options).status()));
}

TEST_F(ProbeServerTest, TellsAWedgeOnceAndLater) {
  absl::Notification wedged;
  absl::Notification over;
  std::string wedge;
  ProbeOptions options;
  options.on_wedge = [&](const std::string& what) {
    wedge = what;
    wedged.Notify();  // a second one would end the test
  };
  options.farewell = absl::Milliseconds(100);
  options.on_farewell_over = [&] { over.Notify(); };
  vitals_.AddLoop("worker-0");
  Start(std::move(options));
  over.WaitForNotification();
  EXPECT_TRUE(wedged.HasBeenNotified());
  EXPECT_THAT(wedge, StartsWith("worker-0 is stuck"));
  EXPECT_THAT(Get("/livez"), HasSubstr("503"));
}

}  // namespace
}  // namespace health
