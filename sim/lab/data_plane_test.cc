// The test server and HAProxy as they are used together, as processes.
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "probe/probe.h"
#include "sim/child_process.h"
#include "sim/lab/haproxy.h"
#include "sim/program.h"

namespace sim {
namespace {

// Waits for what a process does; it fails by the test's own timeout.
template <typename Condition>
void Await(Condition condition) {
  while (!condition()) base::RealClock().SleepFor(absl::Milliseconds(2));
}

struct Server {
  Server() = default;
  Server(Server&&) = default;
  // Those that end slowly are not waited for.
  ~Server() {
    if (process != nullptr) process->Signal(SIGKILL);
  }

  std::unique_ptr<ChildProcess> process;
  std::string address;
  int port = 0;

  std::string endpoint() const { return absl::StrCat(address, ":", port); }
};

Server StartServer(const std::string& name, std::vector<std::string> flags) {
  Server server;
  server.address = "127.0.0.2";
  const std::string log = absl::StrCat(testing::TempDir(), "/", name, ".log");
  flags.insert(flags.begin(), {"sim/lab/pod_server", "--address=" + server.address});
  auto process = ChildProcess::Start(flags, log);
  EXPECT_TRUE(process.ok()) << process.status();
  server.process = *std::move(process);
  Await([&] {
    const std::string text = ReadFile(log).value_or("");
    const size_t end = text.find('\n');
    return end != std::string::npos &&
           absl::SimpleAtoi(text.substr(text.rfind(' ', end) + 1, end), &server.port);
  });
  return server;
}

probe::Options Asking(const std::string& host, int port, int64_t requests) {
  probe::Options options;
  options.host = host;
  options.port = port;
  options.clients = 1;
  options.requests = requests;
  options.timeout = absl::Minutes(1);
  return options;
}

probe::RunFigures Probe(const probe::Options& options) {
  auto figures = probe::Run(options, base::RealClock());
  EXPECT_TRUE(figures.ok()) << figures.status();
  return *std::move(figures);
}

TEST(PodServer, ExitsAtOnce) {
  Server server = StartServer("exit", {"--mode=exit"});
  EXPECT_EQ(Probe(Asking(server.address, server.port, 3)).succeeded, 3);
  server.process->Signal(SIGTERM);
  Await([&] { return !server.process->running(); });
  EXPECT_EQ(server.process->Ending(), "exit status 0");
}

TEST(PodServer, AcceptsNoMoreWhileItEndsGracefully) {
  Server server = StartServer("graceful", {"--mode=graceful", "--shutdown=1h"});
  server.process->Signal(SIGTERM);
  Await([&] {
    return Probe(Asking(server.address, server.port, 1))
               .by_class[static_cast<size_t>(probe::FailureClass::kRefused)] == 1;
  });
  EXPECT_TRUE(server.process->running());
}

TEST(PodServer, ClosesEachConnectionAfterItsResponse) {
  Server server = StartServer("close", {"--mode=close", "--shutdown=1h"});
  server.process->Signal(SIGTERM);
  Await([&] { return Probe(Asking(server.address, server.port, 1)).closed_as_told == 1; });
  const probe::RunFigures figures = Probe(Asking(server.address, server.port, 10));
  EXPECT_EQ(figures.succeeded, 10);
  EXPECT_EQ(figures.connections, 10);
}

TEST(Haproxy, FollowsItsBackends) {
  const std::string folder = testing::TempDir();
  auto haproxy = Haproxy::Start({.folder = folder, .slots = 2});
  if (absl::IsNotFound(haproxy.status())) GTEST_SKIP() << haproxy.status();
  ASSERT_TRUE(haproxy.ok()) << haproxy.status();
  Haproxy& proxy = **haproxy;
  const auto ask = [&](int64_t requests) {
    return Probe(Asking("127.0.0.1", proxy.port(), requests));
  };
  EXPECT_EQ(ask(1).by_hundred[5], 1) << "no server: 503";
  Server one = StartServer("one", {"--mode=exit"});
  Server two = StartServer("two", {"--mode=exit"});
  ASSERT_TRUE(proxy.Apply({{one.endpoint(), ServerState::kReady}}).ok());
  EXPECT_EQ(ask(10).succeeded, 10);
  ASSERT_TRUE(
      proxy.Apply({{one.endpoint(), ServerState::kDrain}, {two.endpoint(), ServerState::kReady}})
          .ok());
  // Nothing reaches the first any more.
  one.process->Signal(SIGKILL);
  Await([&] { return !one.process->running(); });
  EXPECT_EQ(ask(10).succeeded, 10);
  EXPECT_TRUE(absl::IsResourceExhausted(proxy.Apply({{one.endpoint(), ServerState::kReady},
                                                     {two.endpoint(), ServerState::kReady},
                                                     {"127.0.0.3:1", ServerState::kReady}})));
  ASSERT_TRUE(proxy.Apply({{two.endpoint(), ServerState::kMaint}}).ok());
  EXPECT_EQ(ask(1).by_hundred[5], 1);
}

// What the load balancer of the experiment did: a drained server keeps what is open, and
// loses the next request of a connection that the client keeps.
TEST(Haproxy, TakesTheNextRequestOfAKeptConnectionAwayFromADrainedServer) {
  auto haproxy = Haproxy::Start({.folder = testing::TempDir()});
  if (absl::IsNotFound(haproxy.status())) GTEST_SKIP() << haproxy.status();
  ASSERT_TRUE(haproxy.ok()) << haproxy.status();
  Server one = StartServer("first", {"--mode=exit"});
  Server two = StartServer("second", {"--mode=exit"});
  ASSERT_TRUE((*haproxy)->Apply({{one.endpoint(), ServerState::kReady}}).ok());
  std::atomic<bool> end = false;
  probe::RunFigures figures;
  std::atomic<int64_t> answered = 0;
  std::thread client([&] {
    probe::Options options = Asking("127.0.0.1", (*haproxy)->port(), 0);
    options.duration = absl::Hours(1);
    probe::Observer observer;
    observer.interrupted = &end;
    observer.on_progress = [&](const probe::RunFigures& now, absl::Time) {
      answered = now.succeeded;
    };
    auto run = probe::Run(options, base::RealClock(), observer);
    EXPECT_TRUE(run.ok());
    figures = *std::move(run);
  });
  Await([&] { return answered > 0; });
  EXPECT_TRUE(
      (*haproxy)
          ->Apply({{one.endpoint(), ServerState::kDrain}, {two.endpoint(), ServerState::kReady}})
          .ok());
  const int64_t at_drain = answered;
  Await([&] { return answered > at_drain; });
  one.process->Signal(SIGTERM);
  Await([&] { return !one.process->running(); });
  end = true;
  client.join();
  EXPECT_EQ(figures.failed, 0);
  EXPECT_EQ(figures.connections, 1);
}

}  // namespace
}  // namespace sim
