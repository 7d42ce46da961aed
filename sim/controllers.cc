#include "sim/controllers.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sim {
namespace {

// Controllers settle in a few rounds; more means that two of them fight.
constexpr int kMaxRounds = 1000;

}  // namespace

Controllers::Controllers(FakeApiServer& server, ControllersOptions options)
    : server_(server),
      deployments_(server.objects()),
      replica_sets_(server.objects(), options.seed),
      stateful_sets_(server.objects()),
      garbage_(server.objects()),
      kubelet_(server.objects(), options.kubelet),
      slices_(server.objects(), options.endpoints),
      endpoints_(server.objects(), options.endpoints) {}

absl::Time Controllers::Step(absl::Time now) {
  if (server_.store().resource_version() == seen_version_ && NextDue() > now) {
    server_.Advance(now);
    return std::min(NextDue(), server_.NextDue());
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    const int64_t before = server_.store().resource_version();
    deployments_.Step(now);
    replica_sets_.Step(now);
    stateful_sets_.Step(now);
    garbage_.Step(now);
    kubelet_.Step(now);
    slices_.Step(now);
    endpoints_.Step(now);
    if (server_.store().resource_version() == before) {
      seen_version_ = before;
      server_.Advance(now);
      return std::min(NextDue(), server_.NextDue());
    }
  }
  std::abort();
}

absl::Time Controllers::NextDue() const {
  return std::min(
      {replica_sets_.NextDue(), kubelet_.NextDue(), slices_.NextDue(), endpoints_.NextDue()});
}

}  // namespace sim
