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
    StepAll(now);
    if (server_.store().resource_version() == before) {
      seen_version_ = before;
      server_.Advance(now);
      return std::min(NextDue(), server_.NextDue());
    }
  }
  std::abort();
}

// A controller whose objects have not changed since before its last step has
// nothing to do until it is due: most changes concern few of them.
void Controllers::StepAll(absl::Time now) {
  using namespace resources;  // NOLINT(google-build-using-namespace): seven tables
  constexpr absl::Time kNever = absl::InfiniteFuture();
  StepOne(deployments_, {&Deployments(), &ReplicaSets(), &Pods()}, kNever, now);
  StepOne(replica_sets_, {&ReplicaSets(), &Pods()}, replica_sets_.NextDue(), now);
  StepOne(stateful_sets_, {&StatefulSets(), &Pods()}, kNever, now);
  StepOne(
      garbage_,
      {&Deployments(), &ReplicaSets(), &StatefulSets(), &Pods(), &Services(), &EndpointSlices()},
      kNever, now);
  StepOne(kubelet_, {&Pods()}, kubelet_.NextDue(), now);
  StepOne(slices_, {&Services(), &Pods(), &EndpointSlices()}, slices_.NextDue(), now);
  StepOne(endpoints_, {&Services(), &Pods(), &Endpoints()}, endpoints_.NextDue(), now);
}

template <typename Controller>
void Controllers::StepOne(Controller& controller,
                          std::initializer_list<const KubeResource*> watched, absl::Time due,
                          absl::Time now) {
  int64_t changes = 0;
  for (const KubeResource* resource : watched) changes += server_.store().Changes(*resource);
  const auto [seen, first] = seen_changes_.try_emplace(&controller, changes);
  if (!first && seen->second == changes && due > now) return;
  seen->second = changes;
  controller.Step(now);
}

absl::Time Controllers::NextDue() const {
  return std::min(
      {replica_sets_.NextDue(), kubelet_.NextDue(), slices_.NextDue(), endpoints_.NextDue()});
}

}  // namespace sim
