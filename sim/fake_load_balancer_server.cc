#include "sim/fake_load_balancer_server.h"

#include <utility>

namespace sim {
namespace {

Answer::Fault ToFault(Damage damage) {
  switch (damage) {
    case Damage::kLoseReply:
      return Answer::Fault::kLoseReply;
    case Damage::kCutBody:
      return Answer::Fault::kCutBody;
    case Damage::kNone:
    case Damage::kTruncateJson:
      break;
  }
  return Answer::Fault::kNone;
}

}  // namespace

class FakeLoadBalancerServer::Trusted : public http::Transport {
 public:
  Trusted(FakeLoadBalancerServer& server, std::string client)
      : server_(server), client_(std::move(client)) {}

  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    Exchange exchange;
    {
      std::lock_guard<std::mutex> lock(server_.mutex_);
      exchange = server_.http_.HandleTrusted(request, client_, server_.clock_.Now());
    }
    return Deliver(request, std::move(exchange), server_.clock_);
  }

  absl::Status Stream(const http::Request&, http::StreamHandler&,
                      std::shared_ptr<http::Cancellation>) override {
    return absl::UnimplementedError("the load balancer's API has no streams");
  }

 private:
  FakeLoadBalancerServer& server_;
  const std::string client_;
};

std::unique_ptr<http::Transport> FakeLoadBalancerServer::TrustedTransport(
    const std::string& client) {
  return std::make_unique<Trusted>(*this, client);
}

absl::StatusOr<std::unique_ptr<FakeLoadBalancerServer>> FakeLoadBalancerServer::Start(
    FakeLoadBalancerOptions options, base::Clock& clock, ServerOptions server_options) {
  std::unique_ptr<FakeLoadBalancerServer> fake(new FakeLoadBalancerServer(options, clock));
  auto server = HttpServer::Start(
      [fake = fake.get()](const http::Request& request) { return fake->Handle(request); },
      std::move(server_options));
  if (!server.ok()) return server.status();
  fake->server_ = *std::move(server);
  return fake;
}

// No handler may run once the core is gone.
FakeLoadBalancerServer::~FakeLoadBalancerServer() { server_.reset(); }

Answer FakeLoadBalancerServer::Handle(const http::Request& request) {
  Exchange exchange;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    exchange = http_.Handle(request, clock_.Now());
  }
  Answer answer(std::move(exchange.response));
  answer.fault = ToFault(exchange.damage);
  answer.delay = exchange.delay;
  return answer;
}

}  // namespace sim
