#include "sim/fake_api_server_http.h"

#include <algorithm>
#include <optional>

namespace sim {
namespace {

// How soon a watch notices that its client has left.
constexpr absl::Duration kLookForClient = absl::Milliseconds(200);

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
      server_(std::move(options.server)),
      controllers_(server_, std::move(options.controllers)) {}

FakeCluster::~FakeCluster() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (driver_.joinable()) driver_.join();
  // No handler may run once the server's state is gone.
  http_.reset();
}

void FakeCluster::Restart() {
  {
    absl::MutexLock lock(&mutex_);
    server_.Restart();
    touched_ = true;
  }
  http_->DropConnections();
}

Answer FakeCluster::Handle(const http::Request& request) {
  KubeAnswer answer;
  {
    absl::MutexLock lock(&mutex_);
    answer = server_.Handle(request, clock_.Now());
    touched_ = true;
  }
  Answer out(std::move(answer.response));
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
      absl::MutexLock lock(&mutex_);
      const auto has_news = [&] {
        mutex_.AssertHeld();
        return stopping_ || server_.HasWatchBytes(watch);
      };
      mutex_.AwaitWithTimeout(absl::Condition(&has_news), kLookForClient);
      taken = server_.TakeWatch(watch);
      if (stopping_) taken.state = KubeWatchBytes::State::kCut;
    }
    const bool sent = writer.Write(taken.bytes);
    if (taken.state == KubeWatchBytes::State::kEnded) return;
    if (taken.state == KubeWatchBytes::State::kCut) return writer.Cut();
    if (!sent) break;
  }
  absl::MutexLock lock(&mutex_);
  server_.CloseWatch(watch);
}

void FakeCluster::RunControllers() {
  absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    touched_ = false;
    const absl::Time next = controllers_.Step(clock_.Now());
    const auto is_wanted = [&] {
      mutex_.AssertHeld();
      return stopping_ || touched_;
    };
    // A timeout in the past would not let requests in.
    mutex_.AwaitWithTimeout(absl::Condition(&is_wanted),
                            std::max(next - clock_.Now(), absl::Milliseconds(1)));
  }
}

}  // namespace sim
