// Each class of failure from a server that misbehaves so, over real sockets.
#include "probe/probe.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/certificates.h"
#include "sim/http_server.h"

namespace probe {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Fault = sim::Answer::Fault;
using boost::asio::ip::tcp;

std::unique_ptr<sim::HttpServer> Serve(sim::Handler handler, sim::ServerOptions options = {}) {
  auto server = sim::HttpServer::Start(std::move(handler), std::move(options));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

// One client that asks `requests` times.
Options Asking(int port, int64_t requests) {
  Options options;
  options.host = "127.0.0.1";
  options.port = port;
  options.clients = 1;
  options.requests = requests;
  options.timeout = absl::Seconds(60);
  return options;
}

RunFigures RunIt(const Options& options) {
  auto figures = probe::Run(options, base::RealClock());
  EXPECT_TRUE(figures.ok()) << figures.status();
  return figures.ok() ? *std::move(figures) : RunFigures();
}

sim::Answer Misbehave(Fault fault) {
  sim::Answer answer(http::Response{.status = 200, .body = std::string(1000, 'x')});
  answer.fault = fault;
  return answer;
}

// The server's second answer is `second`, all others are good. What the run of three
// requests says of it.
RunFigures WithSecond(sim::Answer second, absl::Duration timeout = absl::Seconds(60)) {
  std::atomic<int> asked = 0;
  const auto server = Serve([&](const http::Request&) -> sim::Answer {
    if (++asked == 2) return second;
    return http::Response{.status = 200, .body = "good"};
  });
  Options options = Asking(server->port(), 3);
  options.timeout = timeout;
  return RunIt(options);
}

void ExpectOne(const RunFigures& figures, FailureClass failure) {
  EXPECT_EQ(figures.requests(), 3);
  EXPECT_EQ(figures.succeeded, 2);
  EXPECT_EQ(figures.own_failures, 0);
  ASSERT_EQ(figures.failures.size(), 1u);
  const Failure& one = figures.failures[0];
  EXPECT_EQ(one.failure, failure) << FailureName(one.failure);
  EXPECT_EQ(one.request_number, 2);
  EXPECT_GE(one.time, figures.start);
  EXPECT_LE(one.time, figures.end);
  EXPECT_GT(one.connection_age, absl::ZeroDuration());
  EXPECT_GE(one.connection_age, one.since_sent);
}

TEST(Probe, KeepsItsConnections) {
  const auto server = Serve([](const http::Request& request) {
    EXPECT_EQ(request.target, "/path?q=1");
    return http::Response{.status = 200, .body = "good"};
  });
  Options options = Asking(server->port(), 100);
  options.clients = 4;
  options.target = "/path?q=1";
  const RunFigures figures = RunIt(options);
  EXPECT_EQ(figures.succeeded, 100);
  EXPECT_EQ(figures.failed, 0);
  EXPECT_EQ(figures.connections, 4);
  EXPECT_EQ(figures.latency.count(), 100);
  EXPECT_EQ(server->connections_accepted(), 4);
}

TEST(Probe, MakesAConnectionForEachRequestIfWanted) {
  const auto server = Serve([](const http::Request&) { return http::Response{.status = 200}; });
  Options options = Asking(server->port(), 10);
  options.new_connections = true;
  const RunFigures figures = RunIt(options);
  EXPECT_EQ(figures.succeeded, 10);
  EXPECT_EQ(figures.connections, 10);
}

TEST(Probe, FollowsAServerThatAnnouncesItsClose) {
  const auto server = Serve([](const http::Request&) {
    return http::Response{.status = 200, .headers = {{"Connection", "close"}}};
  });
  const RunFigures figures = RunIt(Asking(server->port(), 5));
  EXPECT_EQ(figures.succeeded, 5);
  EXPECT_EQ(figures.failed, 0);
  EXPECT_EQ(figures.connections, 5);
  EXPECT_EQ(figures.closed_as_told, 5);
}

TEST(Probe, TellsAConnectionThatIsClosedBeforeTheResponse) {
  ExpectOne(WithSecond(Misbehave(Fault::kLoseReply)), FailureClass::kClosedBeforeResponse);
}

TEST(Probe, TellsAConnectionThatIsReset) {
  ExpectOne(WithSecond(Misbehave(Fault::kResetReply)), FailureClass::kReset);
}

TEST(Probe, TellsAConnectionThatIsClosedWithinTheResponse) {
  const RunFigures figures = WithSecond(Misbehave(Fault::kCutBody));
  ExpectOne(figures, FailureClass::kClosedMidResponse);
  EXPECT_GT(figures.failures[0].bytes_received, 0);
}

TEST(Probe, TellsAnAnswerThatDoesNotCome) {
  sim::Answer never(http::Response{.status = 200});
  never.delay = absl::Hours(1);
  ExpectOne(WithSecond(never, absl::Seconds(1)), FailureClass::kTimeout);
}

TEST(Probe, TellsAServerErrorAndKeepsTheConnection) {
  const RunFigures figures = WithSecond(http::Response{.status = 503, .body = "no"});
  ExpectOne(figures, FailureClass::kServerError);
  EXPECT_EQ(figures.failures[0].status, 503);
  EXPECT_EQ(figures.connections, 1);
  EXPECT_EQ(figures.by_hundred[5], 1);
}

TEST(Probe, TellsWhatIsNotHttp) {
  sim::Answer garbage;
  garbage.raw = "220 mail.example.com ESMTP\r\n\r\n";
  ExpectOne(WithSecond(garbage), FailureClass::kMalformed);
}

TEST(Probe, TellsAnAnswerOverItsBound) {
  const auto server = Serve(
      [](const http::Request&) { return http::Response{.status = 200, .body = "0123456789"}; });
  Options options = Asking(server->port(), 1);
  options.max_response_bytes = 9;
  const RunFigures figures = RunIt(options);
  EXPECT_EQ(figures.by_class[static_cast<size_t>(FailureClass::kMalformed)], 1);
  options.max_response_bytes = 10;
  EXPECT_EQ(RunIt(options).succeeded, 1);
}

TEST(Probe, TellsARefusedConnection) {
  boost::asio::io_context io;
  // Bound, so that nobody else gets the port, and not listening.
  tcp::socket taken(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const RunFigures figures = RunIt(Asking(taken.local_endpoint().port(), 2));
  EXPECT_EQ(figures.failed, 2);
  EXPECT_EQ(figures.connections, 0);
  EXPECT_EQ(figures.by_class[static_cast<size_t>(FailureClass::kRefused)], 2);
  EXPECT_EQ(figures.failures[0].request_number, 0);
}

// A quarter of the clients find no file descriptor. The others are never answered.
TEST(Probe, CountsItsOwnFailuresApart) {
  boost::asio::io_context io;
  tcp::acceptor never_accepts(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const int lowest_free = dup(0);
  ASSERT_GE(lowest_free, 0);
  close(lowest_free);
  rlimit low = old;
  low.rlim_cur = static_cast<rlim_t>(lowest_free) + 12;
  Options options = Asking(never_accepts.local_endpoint().port(), 16);
  options.clients = 16;
  options.timeout = absl::Milliseconds(500);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const RunFigures figures = RunIt(options);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_GE(figures.own_failures, 4);
  EXPECT_EQ(figures.own_failures,
            figures.by_class[static_cast<size_t>(FailureClass::kNoFileDescriptor)]);
  EXPECT_EQ(figures.failed, figures.by_class[static_cast<size_t>(FailureClass::kTimeout)]);
  EXPECT_EQ(figures.failed + figures.own_failures, 16);
  EXPECT_EQ(figures.requests(), figures.failed);
}

TEST(Probe, AsksForLongAnswersInAFractionOfRequests) {
  std::atomic<int> slow = 0;
  const auto server = Serve([&](const http::Request& request) {
    if (request.target == "/slow?ms=1") ++slow;
    return http::Response{.status = 200};
  });
  Options options = Asking(server->port(), 400);
  options.slow_fraction = 0.25;
  options.slow_target = "/slow?ms=1";
  EXPECT_EQ(RunIt(options).succeeded, 400);
  EXPECT_GT(slow, 50);
  EXPECT_LT(slow, 150);
}

TEST(Probe, SendsBackTheCookiesOfItsSession) {
  std::vector<std::string> sent;
  std::atomic<int> asked = 0;
  const auto server = Serve([&](const http::Request& request) {
    for (const auto& [name, value] : request.headers) {
      if (name == "Cookie") sent.push_back(value);
    }
    const bool moved = ++asked == 3;
    return http::Response{.status = 200,
                          .headers = {{"Set-Cookie", moved ? "route=b" : "route=a; Path=/"}}};
  });
  Options options = Asking(server->port(), 4);
  options.cookies = true;
  const RunFigures figures = RunIt(options);
  EXPECT_EQ(figures.succeeded, 4);
  // Moved there and back.
  EXPECT_EQ(figures.cookie_changes, 2);
  EXPECT_THAT(sent, UnorderedElementsAre("route=a", "route=a", "route=b"));
}

TEST(Probe, SpeaksTls) {
  const sim::CertificateAndKey authority = sim::MakeCertificate({.is_authority = true});
  const sim::CertificateAndKey leaf = sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority);
  const auto server =
      Serve([](const http::Request&) { return http::Response{.status = 200, .body = "good"}; },
            {.tls = sim::ServerTls{leaf.certificate_pem, leaf.key_pem}});
  const std::string ca_file = absl::StrCat(testing::TempDir(), "/probe_ca.pem");
  std::ofstream(ca_file) << authority.certificate_pem;
  Options options = Asking(server->port(), 3);
  options.tls = true;
  options.ca_file = ca_file;
  const RunFigures trusted = RunIt(options);
  EXPECT_EQ(trusted.succeeded, 3);
  EXPECT_EQ(trusted.connections, 1);
  options.ca_file.clear();
  const RunFigures untrusted = RunIt(options);
  EXPECT_EQ(untrusted.by_class[static_cast<size_t>(FailureClass::kTls)], 3);
  EXPECT_THAT(untrusted.failures[0].detail, HasSubstr("certificate"));
  options.insecure = true;
  EXPECT_EQ(RunIt(options).succeeded, 3);
  options.insecure = false;
  options.ca_file = "/nowhere.pem";
  EXPECT_THAT(probe::Run(options, base::RealClock()).status().message(), HasSubstr("/nowhere.pem"));
}

TEST(Probe, EndsWhenItIsInterrupted) {
  const auto server = Serve([](const http::Request&) { return http::Response{.status = 200}; });
  std::atomic<bool> interrupted = true;
  Options options = Asking(server->port(), 0);
  options.duration = absl::Hours(1);
  const auto figures = probe::Run(options, base::RealClock(), {.interrupted = &interrupted});
  ASSERT_TRUE(figures.ok());
  EXPECT_TRUE(figures->interrupted);
}

TEST(CheckOptions, RefusesARunWithoutAnEnd) {
  Options options = Asking(80, 0);
  EXPECT_THAT(CheckOptions(options).message(), HasSubstr("a run needs an end"));
  options.duration = absl::Seconds(1);
  EXPECT_TRUE(CheckOptions(options).ok());
}

TEST(CheckOptions, NamesWhatIsOutOfBounds) {
  const Options good = Asking(80, 1);
  EXPECT_TRUE(CheckOptions(good).ok());
  const auto expect = [&good](const char* name, auto&& change) {
    Options options = good;
    change(options);
    EXPECT_THAT(CheckOptions(options).message(), HasSubstr(name));
  };
  expect("duration", [](Options& o) { o.duration = absl::Hours(25); });
  expect("requests", [](Options& o) { o.requests = -1; });
  expect("clients", [](Options& o) { o.clients = 0; });
  expect("clients", [](Options& o) { o.clients = 10'001; });
  expect("rate", [](Options& o) { o.rate = -1; });
  expect("slow_fraction", [](Options& o) { o.slow_fraction = 1.5; });
  expect("request_timeout", [](Options& o) { o.timeout = absl::ZeroDuration(); });
  expect("URL", [](Options& o) { o.target = "/a b"; });
  expect("URL", [](Options& o) { o.target = "/a\r\nX: y"; });
  expect("URL", [](Options& o) { o.port = 0; });
}

TEST(Run, SaysThatAHostHasNoAddress) {
  Options options = Asking(80, 1);
  options.host = "no-such-host.invalid";
  EXPECT_THAT(probe::Run(options, base::RealClock()).status().message(),
              HasSubstr("no-such-host.invalid: has no address"));
}

}  // namespace
}  // namespace probe
