// What the probes are for: nothing of the process moves but their own thread.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "controller/barrier_peer_for_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/probe_server.h"
#include "health/this_loop.h"
#include "http/cpprest_transport.h"

namespace health {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kMoreThanThePoolHas = 16;

TEST(StuckProcess, AnswersWithin50MsAndNamesWhatIsStuck) {
  struct Pool {
    absl::Notification release;
    absl::Notification ticked;
  };
  const auto pool = std::make_shared<Pool>();
  Vitals vitals(absl::Seconds(1));
  vitals.AddLoop("http-pool");
  for (int i = 0; i < kMoreThanThePoolHas; ++i) {
    http::PostToPool([pool] { pool->release.WaitForNotification(); });
  }
  http::PostToPool([pool] { pool->ticked.Notify(); });
  absl::Notification release;
  std::vector<std::thread> threads;
  for (int i = 0; i < kMoreThanThePoolHas; ++i) {
    threads.emplace_back([&, i] {
      const ThisLoop loop(vitals, absl::StrCat("worker-", i));
      release.WaitForNotification();
    });
  }
  ProbeOptions options;
  options.http.address = "127.0.0.1";
  options.http.port = 0;
  const auto server = ProbeServer::Start(vitals, base::RealClock(), options);
  ASSERT_TRUE(server.ok()) << server.status();
  std::string answer;
  std::vector<absl::Duration> times;
  do {
    const absl::Duration from = base::RealClock().Monotonic();
    answer = controller::Peer((*server)->port(), "GET /readyz?verbose HTTP/1.1\r\nHost: x\r\n\r\n")
                 .ReadAll();
    times.push_back(base::RealClock().Monotonic() - from);
  } while (answer.find("[-] worker-15") == std::string::npos);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("[-] http-pool: stuck"));
  EXPECT_FALSE(pool->ticked.HasBeenNotified());
  // The median: a machine under load can hold up any one answer.
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  EXPECT_LT(times[times.size() / 2], absl::Milliseconds(50));
  release.Notify();
  for (std::thread& thread : threads) thread.join();
  pool->release.Notify();
  pool->ticked.WaitForNotification();
}

}  // namespace
}  // namespace health
