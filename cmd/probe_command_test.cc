// The program as a user calls it.
#include "cmd/probe_command.h"

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/json.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "cmd/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/http_server.h"

namespace cmd {
namespace {

using ::testing::HasSubstr;

Ran Call(const std::string& arguments) {
  return RunProgram(absl::StrCat("cmd/oci-drain probe ", arguments));
}

// Answers 200, and 503 to requests number `from` to `to`.
std::unique_ptr<sim::HttpServer> Serve(int from, int to) {
  auto asked = std::make_shared<std::atomic<int>>(0);
  auto server = sim::HttpServer::Start([asked, from, to](const http::Request&) {
    const int number = ++*asked;
    return http::Response{.status = number >= from && number <= to ? 503 : 200};
  });
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(SetProbeUrl, TakesPathAndQuery) {
  probe::Options options;
  ASSERT_TRUE(SetProbeUrl("https://web.example.com:8443/a?b=c", options).ok());
  EXPECT_EQ(options.host, "web.example.com");
  EXPECT_EQ(options.port, 8443);
  EXPECT_TRUE(options.tls);
  EXPECT_EQ(options.target, "/a?b=c");
  ASSERT_TRUE(SetProbeUrl("http://web.example.com?b", options).ok());
  EXPECT_EQ(options.target, "/?b");
  EXPECT_EQ(options.port, 80);
  for (const char* url : {"", "web.example.com", "ftp://a/", "http:///x", "http://a/#b"}) {
    EXPECT_FALSE(SetProbeUrl(url, options).ok()) << url;
  }
}

TEST(Probe, EndsWithZeroIfNothingFailed) {
  const auto server = Serve(0, 0);
  const Ran ran = Call(absl::StrCat(server->url(), "/ --requests=50 --output=json"));
  EXPECT_EQ(ran.status, kProbeClean) << ran.output;
  // The object is the last line, whatever else was told.
  const std::vector<std::string> lines = absl::StrSplit(ran.output, '\n', absl::SkipEmpty());
  const auto json = base::ParseJson(lines.back(), "output");
  ASSERT_TRUE(json.ok()) << ran.output;
  for (const char* run : {"control", "run"}) {
    EXPECT_EQ(base::ReadInt(*base::FindMember(*json, run), "ok").value(), 50) << run;
    EXPECT_EQ(base::ReadInt(*base::FindMember(*json, run), "failed").value(), 0) << run;
  }
}

TEST(Probe, EndsWithOneIfARequestFailedAndLinesItUpWithTheMarks) {
  const auto server = Serve(15, 15);
  const std::string marks = absl::StrCat(testing::TempDir(), "/marks.jsonl");
  const std::string plot = absl::StrCat(testing::TempDir(), "/plot.svg");
  std::ofstream(marks) << R"({"time":"2020-01-01T00:00:00Z","event":"sigterm","pod":"web-1"})";
  const Ran ran =
      Call(absl::StrCat(server->url(), " --requests=10 --marks=", marks, " --plot=", plot));
  EXPECT_EQ(ran.status, kProbeFailed) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("5xx (status 503)"));
  EXPECT_THAT(ran.output, HasSubstr("after sigterm of web-1"));
  EXPECT_THAT(base::ReadFile(plot).value(), HasSubstr("5xx: 1"));
}

TEST(Probe, MeasuresNothingIfTheControlRunFails) {
  const auto server = Serve(5, 5);
  const Ran ran = Call(absl::StrCat(server->url(), " --requests=10"));
  EXPECT_EQ(ran.status, kProbeControlFailed) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("The control run failed"));
  EXPECT_EQ(server->requests_received(), 10);
}

TEST(Probe, TellsItsOwnFailuresApart) {
  boost::asio::io_context io;
  using boost::asio::ip::tcp;
  tcp::acceptor never_accepts(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  // Enough for the program to begin, not for its clients. The few that get a connection
  // could only time out.
  const Ran ran = RunProgram(absl::StrCat(
      "ulimit -n 40; cmd/oci-drain probe http://127.0.0.1:", never_accepts.local_endpoint().port(),
      " --control=0 --clients=100 --requests=100 --request_timeout=500ms"));
  EXPECT_EQ(ran.status, kProbeFailed) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the probe's own, not counted above: no file descriptor"));
}

TEST(Probe, TellsThatItHasNoLocalPort) {
  // Ten ports, in a network of its own, for forty clients. Nobody accepts there either.
  const std::string prepare =
      "ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range='50000 50009'";
  if (RunProgram(absl::StrCat("unshare -rn sh -c \"", prepare, "\"")).status != 0) {
    GTEST_SKIP() << "no network of its own is allowed here";
  }
  constexpr char kListen[] =
      "import os, socket; s = socket.create_server(('127.0.0.1', 7777), backlog=50); "
      "os.set_inheritable(s.fileno(), True); os.execl('cmd/oci-drain', 'oci-drain', 'probe', "
      "'http://127.0.0.1:7777', '--control=0', '--clients=40', '--requests=40', "
      "'--request_timeout=500ms')";
  const Ran ran = RunProgram(
      absl::StrCat("unshare -rn sh -c \"", prepare, " && exec python3 -c \\\"", kListen, "\\\"\""));
  EXPECT_EQ(ran.status, kProbeFailed) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the probe's own, not counted above: no local port"));
}

TEST(Probe, RefusesARunWithoutAnEndAndWrongFlags) {
  const struct {
    const char* arguments;
    const char* error;
  } cases[] = {{"http://127.0.0.1:1", "a run needs an end"},
               {"--duration=1s", "takes one URL"},
               {"nonsense --duration=1s", "nonsense"},
               {"http://127.0.0.1:1 --duration=25h", "--duration"},
               {"http://127.0.0.1:1 --duration=1s --clients=0", "clients"},
               {"http://127.0.0.1:1 --duration=1s --output=yaml", "expected text or json"}};
  for (const auto& one : cases) {
    const Ran ran = Call(one.arguments);
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(one.error));
  }
}

}  // namespace
}  // namespace cmd
