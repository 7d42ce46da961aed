// Watches of Pods and of endpoint slices race each other. Whatever order their
// events arrive in, and whichever of them a list has to stand in for, the plan is
// the one that the final state calls for: all interleavings of three events of each
// over two Pods and two addresses.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "controller/collector.h"
#include "controller/topology.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "drain/plan.h"
#include "gtest/gtest.h"
#include "kube/store.h"

namespace controller {
namespace {

constexpr int kPods = 2;
constexpr int kEventsOfEach = 3;
const oci::Ocid kLoadBalancer("ocid1.loadbalancer.oc1.iad.a");
const oci::BackendSetName kSet("web");
const kube::ObjectKey kService{"shop", "web"};
const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);

class StillClock final : public base::Clock {
 public:
  absl::Time Now() override { return kNow; }
  void SleepFor(absl::Duration) override {}
};

enum class Life { kLive, kTerminating, kGone };

// A Pod by its name; a new one of that name has the next generation's UID.
struct PodState {
  Life life = Life::kLive;
  int generation = 0;
};
using Pods = std::array<PodState, kPods>;

std::string UidOf(int pod, int generation) { return absl::StrCat("uid-", pod, "-", generation); }

kube::PodMetadata MetadataOf(int pod, const PodState& state) {
  kube::PodMetadata metadata;
  metadata.key = {"shop", absl::StrCat("web-", pod)};
  metadata.uid = UidOf(pod, state.generation);
  metadata.resource_version = "1";
  if (state.life == Life::kTerminating) {
    metadata.deletion_timestamp = kNow + absl::Seconds(30);
    metadata.deletion_grace = absl::Seconds(45);
  }
  return metadata;
}

struct PodEvent {
  int pod = 0;
  PodState after;
};

// Every stream of so many events that two Pods can cause.
void CollectPodStreams(const Pods& pods, std::vector<PodEvent>& so_far,
                       std::vector<std::vector<PodEvent>>& streams) {
  if (so_far.size() == kEventsOfEach) {
    streams.push_back(so_far);
    return;
  }
  for (int i = 0; i < kPods; ++i) {
    std::vector<PodState> next;
    switch (pods[i].life) {
      case Life::kLive:
        next = {{Life::kTerminating, pods[i].generation}, {Life::kGone, pods[i].generation}};
        break;
      case Life::kTerminating:
        next = {{Life::kGone, pods[i].generation}};
        break;
      case Life::kGone:
        next = {{Life::kLive, pods[i].generation + 1}};
        break;
    }
    for (const PodState& state : next) {
      Pods after = pods;
      after[i] = state;
      so_far.push_back({i, state});
      CollectPodStreams(after, so_far, streams);
      so_far.pop_back();
    }
  }
}

// Who is published at which address.
struct Published {
  int pod = 0;
  int generation = 0;
  int address = 0;
  bool terminating = false;
};
using Slice = std::vector<Published>;

const Slice kAtFirst = {{0, 0, 0, false}, {1, 0, 1, false}};
const Slice kSlices[] = {
    {{0, 0, 0, true}, {1, 0, 1, false}},
    // The new Pod 0 has got the address of Pod 1, which is still published there.
    {{0, 1, 1, false}, {1, 0, 1, true}},
    {{1, 1, 0, false}},
};

kube::EndpointSlice ObjectOf(const Slice& published) {
  kube::EndpointSlice slice;
  slice.key = {"shop", "web-x"};
  slice.service = kService.name;
  slice.address_type = "IPv4";
  slice.ports = {{"http", 8080}};
  for (const Published& from : published) {
    kube::Endpoint endpoint;
    endpoint.addresses = {absl::StrCat("10.0.0.", from.address + 1)};
    endpoint.terminating = from.terminating;
    endpoint.target_kind = "Pod";
    endpoint.target_namespace = "shop";
    endpoint.target_name = absl::StrCat("web-", from.pod);
    endpoint.target_uid = UidOf(from.pod, from.generation);
    slice.endpoints.push_back(std::move(endpoint));
  }
  return slice;
}

// The caches of one controller, and the plan that they lead to.
class Caches {
 public:
  Caches() {
    settings_.lb_map = {{kService, 80, kLoadBalancer, kSet}};
    settings_.plan.coalesce_window = absl::ZeroDuration();
    kube::Service service;
    service.key = kService;
    service.uid = "service";
    service.annotations = {{"oci-native-ingress.oraclecloud.com/backend-draining", "true"}};
    service.ports = {{"http", 80, 8080, ""}};
    service.publish_not_ready_addresses = true;
    const auto services = store_.MakeSink(kube::Resource::kServices, "");
    services->OnListBegin();
    services->OnObject(service);
    services->OnListEnd();
  }

  void List(const Pods& pods, const Slice& slice) {
    pod_sink_->OnListBegin();
    for (int i = 0; i < kPods; ++i) {
      if (pods[i].life != Life::kGone) pod_sink_->OnObject(MetadataOf(i, pods[i]));
    }
    pod_sink_->OnListEnd();
    slice_sink_->OnListBegin();
    slice_sink_->OnObject(ObjectOf(slice));
    slice_sink_->OnListEnd();
  }

  void Take(const PodEvent& event) {
    const kube::PodMetadata metadata = MetadataOf(event.pod, event.after);
    if (event.after.life == Life::kGone) {
      pod_sink_->OnDeleted(metadata.key, metadata.uid);
    } else {
      pod_sink_->OnObject(metadata);
    }
  }
  void Take(const Slice& slice) { slice_sink_->OnObject(ObjectOf(slice)); }

  // What the plan says in words; live GETs are answered from `pods`.
  std::string Plan(const Pods& pods) {
    drain::Input input = collector_.Collect(*topology_.View(), kLoadBalancer, State(), kNow);
    drain::Plan plan = drain::MakePlan(input);
    for (int round = 0; !plan.questions.empty() && round < 4; ++round) {
      Answer(plan.questions, pods, input);
      plan = drain::MakePlan(input);
    }
    const absl::Status sound = drain::CheckPlan(input, plan);
    EXPECT_TRUE(sound.ok()) << sound;
    return drain::Explain(input, plan);
  }

 private:
  // Both addresses are in the set, routable, and were there long before.
  static const LbState& State() {
    static const LbState* const state = [] {
      auto* const made = new LbState;
      oci::LoadBalancer load_balancer;
      load_balancer.id = kLoadBalancer;
      load_balancer.lifecycle_state = "ACTIVE";
      oci::BackendSet& set = load_balancer.backend_sets[kSet];
      set.name = kSet;
      set.health_checker_protocol = "HTTP";
      for (const char* ip : {"10.0.0.1", "10.0.0.2"}) {
        oci::Backend& backend = set.backends.emplace_back();
        backend.name = oci::MakeBackendName(ip, 8080);
        backend.ip_address = ip;
        backend.port = 8080;
      }
      made->read = drain::Read{std::move(load_balancer), oci::Etag("e"), kNow, true};
      made->work_requests = drain::WorkRequests{{}, kNow, true};
      made->ledger_loaded = true;
      return made;
    }();
    return *state;
  }

  static void Answer(const drain::Questions& questions, const Pods& pods, drain::Input& input) {
    input.read->this_pass = true;
    input.work_requests = drain::WorkRequests{{}, kNow, true};
    for (drain::SetInput& set : input.sets) {
      for (drain::Endpoint& endpoint : set.endpoints) {
        if (questions.pods.count(endpoint.pod) == 0) continue;
        const int pod = endpoint.pod.name == "web-0" ? 0 : 1;
        const PodState& state = pods[pod];
        drain::PodLookup& lookup = endpoint.lookup;
        lookup.state =
            state.life == Life::kGone ? drain::LookupState::kNotFound : drain::LookupState::kFound;
        lookup.uid = UidOf(pod, state.generation);
        lookup.phase = "Running";
        // A Pod that was made again has another address.
        lookup.pod_ips = {absl::StrCat("10.0.0.", pod + 1 + 10 * state.generation)};
        lookup.deletion_timestamp = MetadataOf(pod, state).deletion_timestamp;
        lookup.deletion_grace = MetadataOf(pod, state).deletion_grace;
      }
    }
  }

  StillClock clock_;
  kube::ClusterStore store_{clock_};
  Settings settings_;
  Topology topology_{store_, settings_};
  Collector collector_{store_, settings_};
  std::unique_ptr<kube::ReflectorSink> pod_sink_ = store_.MakeSink(kube::Resource::kPods, "");
  std::unique_ptr<kube::ReflectorSink> slice_sink_ =
      store_.MakeSink(kube::Resource::kEndpointSlices, "");
};

Pods After(const std::vector<PodEvent>& stream) {
  Pods pods;
  for (const PodEvent& event : stream) pods[event.pod] = event.after;
  return pods;
}

// The plan after both streams; `order` has a true for each event of a Pod.
std::string PlanInOrder(const std::vector<PodEvent>& pod_events,
                        const std::vector<const Slice*>& slices, const std::vector<bool>& order) {
  Caches caches;
  caches.List({}, kAtFirst);
  size_t pod_event = 0;
  size_t slice = 0;
  for (const bool of_pod : order) {
    of_pod ? caches.Take(pod_events[pod_event++]) : caches.Take(*slices[slice++]);
  }
  return caches.Plan(After(pod_events));
}

std::vector<std::vector<const Slice*>> SliceStreams() {
  std::vector<std::vector<const Slice*>> streams = {{}};
  for (int i = 0; i < kEventsOfEach; ++i) {
    std::vector<std::vector<const Slice*>> longer;
    for (const auto& stream : streams) {
      for (const Slice& slice : kSlices) {
        longer.push_back(stream);
        longer.back().push_back(&slice);
      }
    }
    streams = std::move(longer);
  }
  return streams;
}

TEST(EventOrder, EveryInterleavingEndsInThePlanOfTheFinalState) {
  std::vector<std::vector<PodEvent>> pod_streams;
  std::vector<PodEvent> so_far;
  CollectPodStreams({}, so_far, pod_streams);
  ASSERT_GT(pod_streams.size(), 20u);
  int compared = 0;
  int drains = 0;
  for (const auto& pod_events : pod_streams) {
    for (const auto& slices : SliceStreams()) {
      Caches listed;
      listed.List(After(pod_events), *slices.back());
      const std::string expected = listed.Plan(After(pod_events));
      if (expected.find("\nwrite ") != std::string::npos) ++drains;
      std::vector<bool> order(2 * kEventsOfEach, false);
      std::fill(order.begin() + kEventsOfEach, order.end(), true);
      do {
        ASSERT_EQ(PlanInOrder(pod_events, slices, order), expected);
        ++compared;
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  EXPECT_GT(compared, 10'000);
  EXPECT_GT(drains, 100) << "plans that do nothing prove little";
}

}  // namespace
}  // namespace controller
