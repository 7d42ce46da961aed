#include "sim/virtual_world.h"

#include <algorithm>
#include <utility>

#include "controller/routing.h"
#include "glog/logging.h"
#include "oci/private_key.h"
#include "oci/rest_load_balancer_api.h"
#include "sim/request_signature.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'796'000'000);

// What is due within a step can make more due at once, but not without end.
constexpr int kMaxTurns = 10'000;

}  // namespace

// Speaks to the fake API server without leaving the thread. A watch that is
// opened stays with the transport, to be pumped by the world.
class VirtualWorld::KubeTransport final : public http::Transport {
 public:
  KubeTransport(FakeApiServer& server, VirtualClock& clock) : server_(server), clock_(clock) {}

  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    KubeAnswer answer = server_.Handle(request, clock_.Now());
    clock_.SleepFor(answer.delay);
    if (answer.lose) return absl::DeadlineExceededError("connection closed before an answer");
    return std::move(answer.response);
  }

  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation>) override {
    KubeAnswer answer = server_.Handle(request, clock_.Now());
    if (answer.lose) return absl::DeadlineExceededError("connection closed before an answer");
    absl::Status status = handler.OnHead(answer.response.status, answer.response.headers);
    if (status.ok() && answer.watch.has_value()) {
      opened_ = answer.watch;
      return absl::CancelledError("to be pumped");
    }
    if (status.ok()) status = handler.OnData(answer.response.body);
    return status;
  }

  std::optional<int64_t> TakeOpened() { return std::exchange(opened_, std::nullopt); }

 private:
  FakeApiServer& server_;
  VirtualClock& clock_;
  std::optional<int64_t> opened_;
};

// One reflector and its open watch.
struct VirtualWorld::Watch {
  Watch(kube::Resource resource, const std::string& ns,
        std::unique_ptr<kube::ReflectorSink> its_sink, uint64_t seed)
      : sink(std::move(its_sink)), random(seed), reflector(resource, ns, *sink, random) {}

  std::unique_ptr<kube::ReflectorSink> sink;
  base::Random random;
  kube::Reflector reflector;
  std::optional<int64_t> open;
};

// Everything that ends with the controller's process.
struct VirtualWorld::Process {
  Process(VirtualWorld& its_world, uint64_t seed)
      : world(its_world),
        random(seed),
        kube_transport(std::make_shared<KubeTransport>(world.api_server_, world.clock_)),
        kube(kube_transport, kube_transport, nullptr),
        oci_transport(world.load_balancer_http_, world.clock_, kController),
        store(world.clock_),
        recorder(base::Random(random.Next())),
        topology(store, world.options_.settings),
        reporter(recorder, world.clock_),
        budget(world.clock_, world.options_.settings.oci_qps, world.options_.settings.oci_burst) {
    oci::RestOptions rest;
    rest.authority = InMemoryTransport::kHost;
    rest.seed = random.Next();
    oci = oci::MakeRestLoadBalancerApi(oci_transport, credentials, world.clock_, rest);
    reconciler = std::make_unique<controller::Reconciler>(
        controller::Reconciler::Parts{store, topology, reporter},
        controller::Edges{kube, *oci, world.clock_, budget}, world.options_.settings,
        random.Next());
    store.SetListener([this](const kube::StoreChange& change) {
      const controller::Route route = controller::RouteChange(change, store, topology.Last().get());
      if (route.mapping) topology.MarkDirty();
      for (const oci::Ocid& key : route.load_balancers) {
        queue.Add(key, world.clock_.Now() + route.delay);
      }
    });
    for (const kube::Resource resource : controller::kClusterWide) AddWatch(resource, "");
  }

  void AddWatch(kube::Resource resource, const std::string& ns) {
    watches[{resource, ns}] =
        std::make_unique<Watch>(resource, ns, store.MakeSink(resource, ns), random.Next());
  }

  // Feeds the reflector what the server has for it. Answers when it wants to be
  // called if nothing happens before.
  absl::Time Pump(Watch& watch) {
    for (;;) {
      const absl::Time now = world.clock_.Now();
      if (watch.open.has_value()) {
        if (!Drain(watch)) return world.api_server_.NextDue();
        continue;
      }
      const kube::Reflector::Step step = watch.reflector.Next(now);
      switch (step.kind) {
        case kube::Reflector::StepKind::kWait:
          return step.until;
        case kube::Reflector::StepKind::kList:
          watch.reflector.OnPage(kube.List(step.list), world.clock_.Now());
          break;
        case kube::Reflector::StepKind::kWatch: {
          const absl::Status status = kube.Watch(
              step.watch,
              [&](absl::string_view bytes) { return watch.reflector.OnBytes(bytes, now); },
              std::make_shared<http::Cancellation>());
          watch.open = kube_transport->TakeOpened();
          if (!watch.open.has_value()) watch.reflector.OnWatchEnd(status, now);
          break;
        }
      }
    }
  }

  // False: the watch is open and has nothing.
  bool Drain(Watch& watch) {
    const absl::Time now = world.clock_.Now();
    const KubeWatchBytes got = world.api_server_.TakeWatch(*watch.open);
    absl::Status status;
    if (!got.bytes.empty()) status = watch.reflector.OnBytes(got.bytes, now);
    if (!status.ok()) world.api_server_.CloseWatch(*watch.open);
    if (status.ok() && got.state == KubeWatchBytes::State::kOpen) return !got.bytes.empty();
    if (status.ok() && got.state == KubeWatchBytes::State::kCut) {
      status = absl::DeadlineExceededError("connection broken");
    }
    watch.open.reset();
    watch.reflector.OnWatchEnd(status, now);
    return true;
  }

  void FollowTopology() {
    const std::shared_ptr<const controller::TopologyView> view = topology.View();
    if (view == last_view) return;
    for (const std::string& ns : controller::PodWatchScopes(*view, world.options_.settings)) {
      if (watches.count({kube::Resource::kPods, ns}) == 0) AddWatch(kube::Resource::kPods, ns);
    }
    for (const auto& [key, mapped] : view->mapping.load_balancers) {
      queue.Add(key, world.clock_.Now());
    }
    controller::TellTopology(*view, last_view.get(), reporter);
    last_view = view;
  }

  // Watches, then mapping, then passes, until nothing is due.
  absl::Time Step() {
    for (int turn = 0;; ++turn) {
      CHECK_LT(turn, kMaxTurns) << "the controller does not come to rest";
      absl::Time next = absl::InfiniteFuture();
      for (const auto& [key, watch] : watches) next = std::min(next, Pump(*watch));
      FollowTopology();
      for (const auto& [key, watch] : watches) next = std::min(next, Pump(*watch));
      const std::optional<oci::Ocid> key = queue.Take(world.clock_.Now());
      if (!key.has_value()) return std::min(next, queue.NextDue());
      queue.Done(*key, reconciler->Pass(*key));
      recorder.Flush(kube, world.clock_.Now());
    }
  }

  // Signs nothing: the fake trusts its in-memory clients.
  class Unsigned final : public oci::CredentialsProvider {
   public:
    Unsigned();
    absl::StatusOr<oci::Credentials> Get() override { return credentials_; }
    absl::Status Refresh() override { return absl::OkStatus(); }

   private:
    oci::Credentials credentials_;
  };

  VirtualWorld& world;
  base::Random random;
  std::shared_ptr<KubeTransport> kube_transport;
  kube::RestKubeApi kube;
  InMemoryTransport oci_transport;
  Unsigned credentials;
  std::unique_ptr<oci::LoadBalancerApi> oci;
  kube::ClusterStore store;
  kube::EventRecorder recorder;
  controller::Topology topology;
  controller::Reporter reporter;
  controller::CallBudget budget;
  std::unique_ptr<controller::Reconciler> reconciler;
  controller::DueQueue queue;
  std::shared_ptr<const controller::TopologyView> last_view;
  std::map<std::pair<kube::Resource, std::string>, std::unique_ptr<Watch>> watches;
};

namespace {

// One key for all worlds: making one takes longer than a whole run.
const oci::Credentials& SharedCredentials() {
  static const oci::Credentials* const credentials = [] {
    auto* made = new oci::Credentials;
    made->key_id = "ocid1.tenancy.oc1..sim/ocid1.user.oc1..sim/sim";
    made->key = oci::PrivateKey::FromPem(MakeKeyPair().private_key_pem, "").value();
    return made;
  }();
  return *credentials;
}

}  // namespace

VirtualWorld::Process::Unsigned::Unsigned() : credentials_(SharedCredentials()) {}

VirtualWorld::VirtualWorld(VirtualWorldOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      clock_(kStart),
      api_server_([&] {
        FakeApiServerOptions server;
        server.seed = random_.Next();
        server.start = kStart;
        return server;
      }()),
      cluster_(api_server_,
               [&] {
                 ControllersOptions cluster = options_.cluster;
                 cluster.seed = random_.Next();
                 return cluster;
               }()),
      load_balancer_([&] {
        FakeLoadBalancerOptions fake = options_.load_balancer;
        fake.seed = random_.Next();
        return fake;
      }()),
      load_balancer_http_(load_balancer_),
      rival_kube_(std::make_unique<KubeTransport>(api_server_, clock_)),
      rival_oci_(std::make_unique<InMemoryTransport>(load_balancer_http_, clock_, kRival)),
      rival_world_(std::make_unique<KubeRivalWorld>(*rival_kube_)) {
  // The ingress controller's tick has its own phase.
  rival_due_ = kStart + absl::Milliseconds(random_.Between(0, 9'999));
  RivalOptions rival;
  rival.variant = options_.rival;
  rival.seed = random_.Next();
  rival_ = std::make_unique<Rival>(rival, *rival_world_, *rival_oci_, rival_due_);
  load_balancer_.SetServing([this](const std::string& ip, int port) {
    return cluster_.kubelet().ProcessRunning(ip, port, clock_.Now());
  });
  if (options_.with_controller) RestartController();
}

VirtualWorld::~VirtualWorld() = default;

absl::Status VirtualWorld::Apply(absl::string_view yaml) {
  const absl::StatusOr<std::vector<JsonTree>> manifests = ParseManifests(yaml, "manifest");
  if (!manifests.ok()) return manifests.status();
  for (const JsonTree& manifest : *manifests) {
    const KubeResult result = api_server_.ApplyManifest(manifest, clock_.Now());
    if (!result.ok()) return absl::InvalidArgumentError(result.error->message);
  }
  return absl::OkStatus();
}

absl::Status VirtualWorld::ApplyFile(const std::string& path) {
  const absl::StatusOr<std::vector<JsonTree>> manifests = ReadManifests(path);
  if (!manifests.ok()) return manifests.status();
  for (const JsonTree& manifest : *manifests) {
    const KubeResult result = api_server_.ApplyManifest(manifest, clock_.Now());
    if (!result.ok()) return absl::InvalidArgumentError(result.error->message);
  }
  return absl::OkStatus();
}

void VirtualWorld::RestartController() {
  process_ = std::make_unique<Process>(*this, random_.Next());
}

absl::Time VirtualWorld::Step() {
  absl::Time next = cluster_.Step(clock_.Now());
  load_balancer_.Advance(clock_.Now());
  if (options_.with_rival && clock_.Now() >= rival_due_) {
    rival_due_ = std::max(rival_->Step(clock_.Now()), clock_.Now() + absl::Milliseconds(1));
  }
  if (process_ != nullptr) next = std::min(next, process_->Step());
  next =
      std::min({next, cluster_.NextDue(), api_server_.NextDue(), load_balancer_.NextEventTime()});
  if (options_.with_rival) next = std::min(next, rival_due_);
  return next;
}

bool VirtualWorld::RunUntil(absl::Time end, const std::function<bool()>& done) {
  for (;;) {
    const absl::Time next = Step();
    if (done()) return true;
    if (clock_.Now() >= end) return false;
    // A microsecond at least: whoever is due now again would stop time.
    clock_.Set(std::min(end, std::max(next, clock_.Now() + absl::Microseconds(1))));
  }
}

void VirtualWorld::RunFor(absl::Duration duration) {
  RunUntil(clock_.Now() + duration, [] { return false; });
}

}  // namespace sim
