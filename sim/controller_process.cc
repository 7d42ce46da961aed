#include "sim/controller_process.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "controller/routing.h"
#include "controller/supervised_api.h"

namespace sim {

// One reflector and its open watch.
struct ControllerProcess::Watch {
  Watch(const kube::Reflector::Scope& scope, std::unique_ptr<kube::ReflectorSink> its_sink,
        uint64_t seed)
      : sink(std::move(its_sink)), random(seed), reflector(scope, *sink, random) {}

  std::unique_ptr<kube::ReflectorSink> sink;
  base::Random random;
  kube::Reflector reflector;
  std::optional<int64_t> open;
  absl::Time due = absl::InfinitePast();  // while it is not open
};

// As Elector's of the product.
class ControllerProcess::LeaseSink final : public kube::ReflectorSink {
 public:
  explicit LeaseSink(ControllerProcess& process) : process_(process) {}

  void OnListBegin() override { seen_ = false; }
  void OnListEnd() override {
    if (!seen_) process_.OnLease(std::nullopt);
  }
  void OnObject(kube::Object object) override {
    seen_ = true;
    process_.OnLease(std::get<kube::Lease>(std::move(object)));
  }
  void OnDeleted(const kube::ObjectKey&, const std::string&) override {
    process_.OnLease(std::nullopt);
  }
  void OnBadObject(const kube::ObjectKey&, const absl::Status&) override {}

 private:
  ControllerProcess& process_;
  bool seen_ = false;
};

ControllerProcess::ControllerProcess(const World& world, const controller::Settings& settings,
                                     std::string name, uint64_t seed,
                                     const std::optional<controller::ElectionOptions>& election)
    : world_(world),
      settings_(settings),
      random_(seed),
      bare_kube_(world.api_server, world.clock),
      bare_oci_(world.load_balancer, world.clock, std::move(name)),
      gated_kube_(GateCalls(bare_kube_, world.gate, world.clock)),
      gated_oci_(GateCalls(bare_oci_, world.gate, world.clock)),
      kube_(controller::Supervise(*gated_kube_, {world.clock, fence_, health::NoMetrics()})),
      oci_(controller::Supervise(*gated_oci_, {world.clock, fence_, health::NoMetrics()})),
      store_(world.clock),
      recorder_(base::Random(random_.Next())),
      topology_(store_, settings),
      reporter_(recorder_, world.clock),
      budget_(world.clock, settings.oci_qps, settings.oci_burst),
      board_(controller::BoardFor(
          store_, topology_,
          [this](const oci::Ocid& key) { queue_.Add(key, world_.clock.Now()); })),
      conditions_(board_, controller::BoardFor(store_, topology_, nullptr).load_balancers_of,
                  settings.pod_conditions),
      reconciler_({store_, topology_, reporter_, board_, conditions_},
                  {*kube_, *oci_, world.clock, budget_}, settings, random_.Next()) {
  store_.SetListener([this](const kube::StoreChange& change) { OnChange(change); });
  for (const kube::Resource resource : controller::kClusterWide) AddWatch(resource, "");
  if (!election.has_value()) {
    fence_.OpenUntil(absl::InfiniteDuration());
    leads_ = true;
    return;
  }
  election_options_ = *election;
  election_.emplace(*election);
  election_due_ = absl::InfinitePast();
  const kube::Reflector::Scope scope{kube::Resource::kLeases, election->lease.ns,
                                     election->lease.name};
  watches_[{scope.resource, scope.ns}] =
      std::make_unique<Watch>(scope, std::make_unique<LeaseSink>(*this), random_.Next());
}

ControllerProcess::~ControllerProcess() {
  for (const auto& [key, watch] : watches_) {
    if (watch->open.has_value()) world_.api_server.CloseWatch(*watch->open);
  }
}

void ControllerProcess::AddWatch(kube::Resource resource, const std::string& ns) {
  watches_[{resource, ns}] = std::make_unique<Watch>(kube::Reflector::Scope{resource, ns},
                                                     store_.MakeSink(resource, ns), random_.Next());
}

void ControllerProcess::OnChange(const kube::StoreChange& change) {
  const controller::Route route = controller::RouteChange(change, store_, topology_.Last().get());
  if (route.mapping) {
    topology_.MarkDirty();
    mapping_changed_ = true;
  }
  for (const oci::Ocid& key : route.load_balancers) {
    queue_.Add(key, world_.clock.Now() + route.delay);
  }
}

void ControllerProcess::Pump(Watch& watch) {
  for (;;) {
    const absl::Time now = world_.clock.Now();
    if (watch.open.has_value()) {
      if (!world_.api_server.HasWatchBytes(*watch.open) || !TakeBytes(watch)) return;
      continue;
    }
    if (watch.due > now) return;
    const kube::Reflector::Step step = watch.reflector.Next(now);
    switch (step.kind) {
      case kube::Reflector::StepKind::kWait:
        watch.due = step.until;
        break;
      case kube::Reflector::StepKind::kList:
        watch.reflector.OnPage(kube_->List(step.list), world_.clock.Now());
        break;
      case kube::Reflector::StepKind::kWatch:
        Open(step.watch, watch);
        break;
    }
  }
}

void ControllerProcess::Open(const kube::WatchRequest& request, Watch& watch) {
  const CallFate fate = world_.gate.OnCall({CallKind::kWatch});
  if (fate.kind == CallFate::Kind::kCrashBefore) throw ProcessEnds();
  const absl::StatusOr<int64_t> opened =
      fate.kind == CallFate::Kind::kPass || fate.kind == CallFate::Kind::kCrashAfter
          ? bare_kube_.OpenWatch(request)
          : absl::UnavailableError("the watch does not open");
  if (opened.ok()) {
    watch.open = *opened;
    // Its destructor closes it.
    if (fate.kind == CallFate::Kind::kCrashAfter) throw ProcessEnds();
  } else {
    watch.reflector.OnWatchEnd(opened.status(), world_.clock.Now());
  }
}

// False: the watch is open and has nothing.
bool ControllerProcess::TakeBytes(Watch& watch) {
  const absl::Time now = world_.clock.Now();
  const KubeWatchBytes got = world_.api_server.TakeWatch(*watch.open);
  absl::Status status;
  if (!got.bytes.empty()) status = watch.reflector.OnBytes(got.bytes, now);
  if (!status.ok()) world_.api_server.CloseWatch(*watch.open);
  if (status.ok() && got.state == KubeWatchBytes::State::kOpen) return !got.bytes.empty();
  if (status.ok() && got.state == KubeWatchBytes::State::kCut) {
    status = absl::DeadlineExceededError("connection broken");
  }
  watch.open.reset();
  watch.due = absl::InfinitePast();
  watch.reflector.OnWatchEnd(status, now);
  return true;
}

void ControllerProcess::FollowTopology() {
  if (!mapping_changed_) return;
  mapping_changed_ = false;
  const std::shared_ptr<const controller::TopologyView> view = topology_.View();
  for (const std::string& ns : controller::PodWatchScopes(*view, settings_)) {
    if (watches_.count({kube::Resource::kPods, ns}) == 0) AddWatch(kube::Resource::kPods, ns);
  }
  for (const auto& [key, mapped] : view->mapping.load_balancers) {
    queue_.Add(key, world_.clock.Now());
  }
  if (!leads_) return;
  controller::TellTopology(*view, last_view_.get(), reporter_);
  last_view_ = view;
}

void ControllerProcess::PumpWatches() {
  // A pass that sleeps lets the world go on, and that comes here again.
  if (pumping_) return;
  pumping_ = true;
  do {
    for (const auto& [key, watch] : watches_) Pump(*watch);
    FollowTopology();
  } while (mapping_changed_);
  for (const auto& [key, watch] : watches_) Pump(*watch);
  pumping_ = false;
}

bool ControllerProcess::PassOnce() {
  if (passing_ || !leads_) return false;
  passing_ = true;
  const std::optional<oci::Ocid> key = queue_.Take(world_.clock.Now());
  if (key.has_value()) queue_.Done(*key, reconciler_.Pass(*key));
  bool wrote = false;
  if (may_write()) {
    wrote = conditions_.WriteOne(*kube_, world_.clock.Now());
    if (recorder_.NextFlush() <= world_.clock.Now()) recorder_.Flush(*kube_, world_.clock.Now());
  }
  passing_ = false;
  return key.has_value() || wrote;
}

bool ControllerProcess::may_write() const { return fence_.Check(world_.clock.Monotonic()).ok(); }

void ControllerProcess::OnLease(const std::optional<kube::Lease>& lease) {
  election_->Observe(lease, world_.clock.Monotonic());
  election_due_ = absl::InfinitePast();
}

void ControllerProcess::StepElection() {
  if (!election_.has_value() || electing_ || world_.clock.Now() < election_due_) return;
  electing_ = true;
  for (;;) {
    const absl::Duration now = world_.clock.Monotonic();
    const controller::ElectionStep step =
        election_->Next({.at_rest = !passing_}, now, world_.clock.Now());
    PublishElection();
    if (step.kind == controller::ElectionStep::Kind::kWait) {
      election_due_ = world_.clock.Now() + (step.until - now);
      break;
    }
    if (step.kind == controller::ElectionStep::Kind::kRead) {
      const absl::StatusOr<kube::Lease> lease = gated_kube_->GetLease(election_options_.lease);
      election_->OnRead(lease, world_.clock.Monotonic());
    } else {
      const absl::StatusOr<kube::Lease> stored = gated_kube_->PutLease(step.lease);
      election_->OnWritten(step, stored, now, world_.clock.Monotonic());
    }
    PublishElection();
  }
  electing_ = false;
}

void ControllerProcess::PublishElection() {
  fence_.OpenUntil(election_->write_until());
  const bool led = std::exchange(leads_, election_->leads());
  if (led == leads_) return;
  const std::shared_ptr<const controller::TopologyView> view = topology_.Last();
  if (leads_) {
    reconciler_.BeginTerm();
    last_view_ = nullptr;
    mapping_changed_ = true;
  } else {
    conditions_.ForgetWanted();
  }
  if (view == nullptr) return;
  for (const auto& [key, mapped] : view->mapping.load_balancers) {
    leads_ ? queue_.Add(key, world_.clock.Now()) : board_.Forget(key);
  }
}

absl::Time ControllerProcess::NextDue() const {
  // What it is at is not due again before it is over.
  absl::Time next = electing_ ? absl::InfiniteFuture() : election_due_;
  if (leads_ && !passing_ && may_write()) {
    next = std::min({next, queue_.NextDue(), recorder_.NextFlush(), conditions_.NextDue()});
  }
  for (const auto& [key, watch] : watches_) {
    if (!watch->open.has_value()) next = std::min(next, watch->due);
  }
  return next;
}

}  // namespace sim
