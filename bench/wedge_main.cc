// What the health port is worth while the process is stuck: how long until a wedge is
// told, and how quickly the endpoints answer meanwhile.
//
//   bazel run -c opt //bench:wedge
//   bazel run -c opt //bench:wedge -- --runs=3 --kinds=pool --json
//
// One controller with its default flags between the fakes, of the build that can be made
// to stand still. From the signal on every endpoint is asked in turn until /readyz says
// 503, and for a while beyond.
#include <gflags/gflags.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "bench/world.h"

DEFINE_int32(runs, 3, "Of each kind.");
DEFINE_string(kinds, "worker,watch,pool", "What stands still.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");
DEFINE_string(controller, "cmd/oci-drain-controller-wedge",
              "The controller's binary, of a build that can be made to stand still.");

namespace bench {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
// Asked for so long after the wedge was told.
constexpr absl::Duration kAfter = absl::Seconds(5);
constexpr absl::Duration kSignalTime = absl::Milliseconds(200);
constexpr absl::Duration kPause = absl::Milliseconds(20);
constexpr const char* kEndpoints[] = {"/readyz", "/livez", "/metrics", "/statusz", "/statusz.json"};

// The whole answer; empty if the connection fails.
std::string Get(int port, const std::string& target) {
  namespace asio = boost::asio;
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)}, error);
  if (error) return "";
  asio::write(socket, asio::buffer(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n")),
              error);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  return answer;
}

struct Results {
  std::vector<absl::Duration> until_told;
  std::vector<absl::Duration> answers;
};

absl::Status RunOnce(const std::string& kind, int run, Results& results) {
  base::Clock& clock = base::RealClock();
  WorldOptions options;
  options.controller = FLAGS_controller;
  options.controller_flags = {absl::StrCat("--test_wedge=", kind)};
  options.seed = static_cast<uint64_t>(run) + 1;
  auto world = World::Start(options);
  if (!world.ok()) return world.status();
  const int port = (*world)->HealthPort();
  const absl::Time ready_by = clock.Now() + kPatience;
  while (!absl::StartsWith(Get(port, "/readyz"), "HTTP/1.1 200")) {
    if (clock.Now() > ready_by) {
      return absl::DeadlineExceededError(absl::StrCat("never ready: ", (*world)->LogTail()));
    }
    clock.SleepFor(kPause);
  }
  const absl::Duration from = clock.Monotonic();
  (*world)->controller().Signal(SIGUSR1);
  // A watch stands still at the next event that it gets; by then the signal is to have
  // arrived, or the event goes by.
  clock.SleepFor(kSignalTime);
  (*world)->Delete((*world)->LivePods().back());
  absl::Duration told = absl::InfiniteDuration();
  while (clock.Monotonic() < std::min(from + kPatience, told + kAfter)) {
    for (const char* endpoint : kEndpoints) {
      const absl::Duration asked = clock.Monotonic();
      const std::string answer = Get(port, endpoint);
      const absl::Duration now = clock.Monotonic();
      if (answer.empty()) return absl::UnavailableError(absl::StrCat(endpoint, " fails: ", kind));
      results.answers.push_back(now - asked);
      const bool not_ready = absl::StartsWith(answer, "HTTP/1.1 503");
      if (not_ready && told == absl::InfiniteDuration()) told = now;
    }
    clock.SleepFor(kPause);
  }
  if (told == absl::InfiniteDuration()) {
    return absl::DeadlineExceededError(absl::StrCat("never told: ", kind));
  }
  const std::string why = Get(port, "/livez");
  if (!absl::StrContains(why, kind)) {
    return absl::InternalError(absl::StrCat("/livez does not name the ", kind, ": ", why));
  }
  results.until_told.push_back(told - from);
  return absl::OkStatus();
}

double At(std::vector<absl::Duration> times, double share, absl::Duration unit) {
  std::sort(times.begin(), times.end());
  const auto at = static_cast<size_t>(share * static_cast<double>(times.size() - 1));
  return absl::FDivDuration(times[at], unit);
}

// A line of the table, and members of the JSON object.
std::string Print(const std::string& kind, const Results& results) {
  const double told = At(results.until_told, 1, absl::Seconds(1));
  const double p50 = At(results.answers, 0.5, absl::Milliseconds(1));
  const double p99 = At(results.answers, 0.99, absl::Milliseconds(1));
  const double most = At(results.answers, 1, absl::Milliseconds(1));
  if (!FLAGS_json) {
    std::cout << absl::StrFormat("%-8s %5d %14.2f %10d %8.2f %8.2f %8.2f\n", kind,
                                 results.until_told.size(), told, results.answers.size(), p50, p99,
                                 most);
  }
  return absl::StrFormat(
      "\"%s_not_ready_s_max\":%.3f,\"%s_answer_ms_p50\":%.3f,\"%s_answer_ms_p99\":%.3f,"
      "\"%s_answer_ms_max\":%.3f",
      kind, told, kind, p50, kind, p99, kind, most);
}

int Run() {
  if (!FLAGS_json) {
    std::cout << absl::StrFormat("%-8s %5s %14s %10s %8s %8s %8s\n", "stuck", "runs",
                                 "not ready, s", "answers", "p50 ms", "p99 ms", "max ms");
  }
  std::string members;
  double told = 0;
  double most = 0;
  const std::vector<std::string> kinds = absl::StrSplit(FLAGS_kinds, ',');
  for (const std::string& kind : kinds) {
    Results results;
    for (int run = 0; run < FLAGS_runs; ++run) {
      const absl::Status status = RunOnce(kind, run, results);
      if (status.ok()) continue;
      std::cerr << "wedge: " << status.message() << "\n";
      return 1;
    }
    told = std::max(told, At(results.until_told, 1, absl::Seconds(1)));
    most = std::max(most, At(results.answers, 1, absl::Milliseconds(1)));
    absl::StrAppend(&members, ",", Print(kind, results));
  }
  if (FLAGS_json) {
    std::cout << absl::StrFormat("{\"runs\":%d,\"not_ready_s_max\":%.3f,\"answer_ms_max\":%.3f%s}",
                                 FLAGS_runs, told, most, members)
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Measures what the health port says while the process is stuck.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1 || FLAGS_runs < 1) {
    std::cerr << "wedge: flags only, and --runs at least 1; --help lists them\n";
    return 2;
  }
  return bench::Run();
}
