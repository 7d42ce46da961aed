// From the pass that confirms a drain to the barrier's answer in the Pod's hands.
//
//   bazel run -c opt //bench:barrier_benchmark
#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "controller/barrier_server.h"

namespace {

using boost::asio::ip::tcp;
using controller::BarrierServer;
using controller::DrainBoard;

// Pods "web-0", "web-1", ... that end in an hour.
DrainBoard::Cluster EndingPods() {
  DrainBoard::Cluster cluster;
  cluster.find_pod = [](const kube::ObjectKey& key) {
    kube::PodMetadata pod;
    pod.key = key;
    pod.uid = key.name;
    pod.deletion_timestamp = absl::FromUnixSeconds(4'000'000'000);
    return std::optional<kube::PodMetadata>(pod);
  };
  cluster.load_balancers_of = [](const kube::ObjectKey&) {
    return std::set<oci::Ocid>{oci::Ocid("lb")};
  };
  cluster.ask_for_pass = [](const oci::Ocid&) {};
  return cluster;
}

// The first `drained` Pods are, the others wait.
void Report(DrainBoard& board, int pods, int drained) {
  drain::Input input;
  input.now = base::RealClock().Now();
  input.load_balancer = oci::Ocid("lb");
  input.read.emplace();
  drain::Plan plan;
  for (int i = 0; i < pods; ++i) {
    drain::Acknowledgement acknowledgement;
    acknowledgement.key.set = oci::BackendSetName("bs");
    acknowledgement.pod_uid = absl::StrCat("web-", i);
    if (i < drained) acknowledgement.progress = drain::DrainProgress::kDrained;
    plan.acknowledgements.push_back(acknowledgement);
  }
  board.Report(input, plan);
}

class Waiter {
 public:
  Waiter(boost::asio::io_context& io, int port, int pod) : socket_(io) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
    const std::string request = absl::StrCat("GET /v1/drained/shop/web-", pod, "?uid=web-", pod,
                                             "&timeout=60s HTTP/1.1\r\n\r\n");
    boost::asio::write(socket_, boost::asio::buffer(request));
  }
  bool AwaitDrained() {
    std::string answer;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(answer), error);
    return answer.find("Drained") != std::string::npos;
  }

 private:
  tcp::socket socket_;
};

// Of `waiting` Pods one is confirmed; how long until it has the answer.
void ConfirmedToAnswer(benchmark::State& state) {
  const int waiting = static_cast<int>(state.range(0));
  DrainBoard board(EndingPods());
  auto server = BarrierServer::Start(board, base::RealClock(), {.address = "127.0.0.1", .port = 0});
  if (!server.ok()) return state.SkipWithError("no server");
  boost::asio::io_context io;
  Report(board, waiting, 0);
  std::list<Waiter> others;
  for (int i = 1; i < waiting; ++i) others.emplace_back(io, (*server)->port(), i);
  std::vector<absl::Duration> took;
  for (auto _ : state) {
    state.PauseTiming();
    Report(board, waiting, 0);
    Waiter waiter(io, (*server)->port(), 0);
    while (board.Waiters(absl::InfinitePast()).count("web-0") == 0) {
      base::RealClock().SleepFor(absl::Milliseconds(1));
    }
    state.ResumeTiming();
    const absl::Time start = base::RealClock().Now();
    Report(board, waiting, 1);
    if (!waiter.AwaitDrained()) return state.SkipWithError("another answer");
    took.push_back(base::RealClock().Now() - start);
  }
  std::sort(took.begin(), took.end());
  state.counters["p50_ms"] = absl::ToDoubleMilliseconds(took[took.size() / 2]);
  state.counters["p99_ms"] = absl::ToDoubleMilliseconds(took[took.size() * 99 / 100]);
}
BENCHMARK(ConfirmedToAnswer)->Arg(1)->Arg(500)->Arg(4000)->Iterations(500)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
