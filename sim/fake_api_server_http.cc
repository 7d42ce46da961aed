#include "sim/fake_api_server_http.h"

#include <algorithm>
#include <chrono>

#include "http/date.h"

namespace sim {
namespace {

// How soon a watch notices that its client has left.
constexpr absl::Duration kLookForClient = absl::Milliseconds(200);
// What is already due lets requests in first; what is due never is looked for again.
constexpr absl::Duration kShortestWait = absl::Milliseconds(1);
constexpr absl::Duration kLongestWait = absl::Minutes(1);

// On the system clock, whose waits ThreadSanitizer knows.
std::chrono::system_clock::time_point Soon(absl::Duration wait) {
  return absl::ToChronoTime(base::RealClock().Now() + wait);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FakeCluster>> FakeCluster::Start(FakeClusterOptions options,
                                                                base::Clock& clock) {
  ServerOptions socket = options.socket;
  std::unique_ptr<FakeCluster> cluster(new FakeCluster(std::move(options), clock));
  auto server = HttpServer::Start(
      [cluster = cluster.get()](const http::Request& request) { return cluster->Handle(request); },
      std::move(socket));
  if (!server.ok()) return server.status();
  cluster->http_ = *std::move(server);
  cluster->driver_ = std::thread([cluster = cluster.get()] { cluster->RunControllers(); });
  return cluster;
}

FakeCluster::FakeCluster(FakeClusterOptions options, base::Clock& clock)
    : clock_(clock),
      controllers_run_(options.controllers_run),
      clock_ahead_(options.clock_ahead),
      on_watch_written_(std::move(options.on_watch_written)),
      server_(std::move(options.server)),
      controllers_(server_, std::move(options.controllers)) {}

FakeCluster::~FakeCluster() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  if (driver_.joinable()) driver_.join();
  // No handler may run once the server's state is gone.
  http_.reset();
}

void FakeCluster::Restart() {
  With([](FakeApiServer& server, Controllers&) { server.Restart(); });
  http_->DropConnections();
}

Answer FakeCluster::Handle(const http::Request& request) {
  KubeAnswer answer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    answer = server_.Handle(request, clock_.Now());
    touched_ = true;
  }
  woken_.notify_all();
  Answer out(std::move(answer.response));
  out.response.headers.emplace_back("Date", http::FormatDate(clock_.Now() + clock_ahead_));
  out.delay = answer.delay;
  if (answer.lose) out.fault = Answer::Fault::kLoseReply;
  if (answer.watch.has_value()) {
    out.stream = [this, id = *answer.watch](StreamWriter& writer) { ServeWatch(id, writer); };
  }
  return out;
}

void FakeCluster::ServeWatch(int64_t watch, StreamWriter& writer) {
  for (;;) {
    KubeWatchBytes taken;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      woken_.wait_until(lock, Soon(kLookForClient),
                        [&] { return stopping_ || server_.HasWatchBytes(watch); });
      taken = server_.TakeWatch(watch);
      if (stopping_) taken.state = KubeWatchBytes::State::kCut;
    }
    const absl::Time before = clock_.Now();
    const bool sent = writer.Write(taken.bytes);
    if (on_watch_written_ && !taken.bytes.empty()) on_watch_written_(before, taken.bytes);
    if (taken.state == KubeWatchBytes::State::kEnded) return;
    if (taken.state == KubeWatchBytes::State::kCut) return writer.Cut();
    if (!sent) break;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  server_.CloseWatch(watch);
}

absl::Time FakeCluster::Step(absl::Time now) {
  if (controllers_run_) return controllers_.Step(now);
  server_.Advance(now);
  return server_.NextDue();
}

void FakeCluster::RunControllers() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    touched_ = false;
    const absl::Time next = Step(clock_.Now());
    woken_.notify_all();
    const absl::Duration wait = std::clamp(next - clock_.Now(), kShortestWait, kLongestWait);
    woken_.wait_until(lock, Soon(wait), [&] { return stopping_ || touched_; });
  }
}

}  // namespace sim
