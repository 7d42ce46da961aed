#include "sim/fake_load_balancer_server.h"

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
    absl::MutexLock lock(&mutex_);
    exchange = http_.Handle(request, clock_.Now());
  }
  Answer answer(std::move(exchange.response));
  answer.fault = ToFault(exchange.damage);
  answer.delay = exchange.delay;
  return answer;
}

}  // namespace sim
