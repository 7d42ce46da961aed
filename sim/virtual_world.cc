#include "sim/virtual_world.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'796'000'000);

// What is due within a step can make more due at once, but not without end.
constexpr int kMaxTurns = 10'000;

}  // namespace

class VirtualWorld::Gate final : public CallGate {
 public:
  explicit Gate(VirtualWorld& world) : world_(world) {}

  CallFate OnCall(const Call& call) override {
    return world_.observer_ == nullptr ? CallFate() : world_.observer_->OnCall(call);
  }
  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead* read) override {
    if (world_.observer_ != nullptr) world_.observer_->OnAnswer(call, status, read);
  }
  bool ended() const override { return world_.ending_; }

 private:
  VirtualWorld& world_;
};

VirtualWorld::VirtualWorld(VirtualWorldOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      clock_(kStart),
      api_server_([&] {
        FakeApiServerOptions server;
        server.seed = random_.Next();
        server.start = kStart;
        server.log_limit = 0;
        server.field_ownership = options_.field_ownership;
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
      rival_world_(std::make_unique<KubeRivalWorld>(*rival_kube_, &api_server_.store())),
      gate_(std::make_unique<Gate>(*this)) {
  // The ingress controller's tick has its own phase.
  rival_due_ = kStart + absl::Milliseconds(random_.Between(0, 9'999));
  if (options_.rival_first_tick >= absl::ZeroDuration()) {
    rival_due_ = kStart + options_.rival_first_tick;
  }
  options_.rival.seed = random_.Next();
  rival_ = std::make_unique<Rival>(options_.rival, *rival_world_, *rival_oci_, rival_due_);
  load_balancer_.SetServing([this](const std::string& ip, int port) {
    return cluster_.kubelet().ProcessRunning(ip, port, clock_.Now());
  });
  clock_.OnSleep([this](absl::Time wake) { LiveUntil(wake); });
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

absl::Status VirtualWorld::Patch(const std::string& target, const std::string& body) {
  const KubeAnswer answer = api_server_.Handle(
      {.method = "PATCH",
       .target = target,
       .headers = {{"User-Agent", "kubectl"}, {"Content-Type", "application/merge-patch+json"}},
       .body = body},
      clock_.Now());
  if (answer.response.status == 200) return absl::OkStatus();
  return absl::InvalidArgumentError(answer.response.body);
}

void VirtualWorld::RestartController() {
  if (in_pass_) {
    EndController(absl::ZeroDuration());
    return;
  }
  process_.reset();
  ending_ = false;
  starts_ = absl::InfiniteFuture();
  ++controller_starts_;
  process_ = std::make_unique<ControllerProcess>(
      ControllerProcess::World{api_server_, load_balancer_, clock_, *gate_}, options_.settings,
      kController, random_.Next());
}

void VirtualWorld::EndController(absl::Duration downtime) {
  if (process_ == nullptr) return;
  starts_ = clock_.Now() + downtime;
  if (in_pass_) {
    ending_ = true;
  } else {
    process_.reset();
  }
}

absl::Time VirtualWorld::StepOthers() {
  absl::Time next = absl::InfiniteFuture();
  if (observer_ != nullptr) next = observer_->Act(clock_.Now());
  next = std::min(next, cluster_.Step(clock_.Now()));
  load_balancer_.Advance(clock_.Now());
  if (options_.with_rival) {
    if (options_.rival.variant == RivalVariant::kDrainsByItself) {
      const int64_t changes = api_server_.store().Changes(resources::Pods()) +
                              api_server_.store().Changes(resources::Endpoints());
      if (std::exchange(rival_saw_, changes) != changes) {
        rival_->Notify();
        rival_due_ = clock_.Now();
      }
    }
    if (clock_.Now() >= rival_due_) {
      rival_due_ = std::max(rival_->Step(clock_.Now()), clock_.Now() + absl::Milliseconds(1));
    }
    next = std::min(next, rival_due_);
  }
  if (process_ != nullptr && !ending_) process_->PumpWatches();
  if (observer_ != nullptr) observer_->OnStep();
  return std::min(
      {next, cluster_.NextDue(), api_server_.NextDue(), load_balancer_.NextEventTime()});
}

void VirtualWorld::LiveUntil(absl::Time wake) {
  if (!in_pass_) return;
  for (;;) {
    const absl::Time next = StepOthers();
    if (next >= wake) return;
    clock_.Set(std::max(next, clock_.Now() + absl::Microseconds(1)));
  }
}

void VirtualWorld::StepController() {
  for (int turn = 0; process_ != nullptr; ++turn) {
    CHECK_LT(turn, kMaxTurns) << "the controller does not come to rest";
    bool passed = false;
    in_pass_ = true;
    pass_began_ = clock_.Now();
    try {
      passed = process_->PassOnce();
    } catch (const ProcessEnds&) {
      process_.reset();
      ending_ = false;
      starts_ = std::min(starts_, clock_.Now() + options_.downtime);
    }
    in_pass_ = false;
    if (!passed) return;
    StepBetweenPasses();
  }
}

absl::Time VirtualWorld::StepBetweenPasses() {
  try {
    return StepOthers();
  } catch (const ProcessEnds&) {
    process_.reset();
    starts_ = clock_.Now() + options_.downtime;
    return absl::InfiniteFuture();
  }
}

absl::Time VirtualWorld::Step() {
  if (clock_.Now() >= starts_) RestartController();
  absl::Time next = StepBetweenPasses();
  const absl::Time before = clock_.Now();
  StepController();
  // A pass takes time when its calls do.
  if (clock_.Now() != before || process_ == nullptr) next = StepBetweenPasses();
  if (process_ != nullptr) next = std::min(next, process_->NextDue());
  return std::min(next, starts_);
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
