#include "controller/controller.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/heap.h"
#include "controller/routing.h"
#include "controller/supervised_api.h"
#include "glog/logging.h"
#include "health/this_loop.h"

namespace controller {
namespace {

// How often watches are looked after and events sent.
constexpr absl::Duration kHousekeeping = absl::Seconds(1);

// How often it is looked whether the mapping is whole, until it is.
constexpr absl::Duration kWholePoll = absl::Milliseconds(50);

// How long a Pod condition may wait to be written.
constexpr absl::Duration kConditionPause = absl::Milliseconds(100);

// How long a worker without work waits before it ticks.
constexpr absl::Duration kIdleTick = absl::Seconds(2);

// A health check that a wedge ends after so long, where nobody else says so.
constexpr absl::Duration kWedgeAfter = absl::Seconds(10);

// One watch of Pods over all namespaces goes by this name.
constexpr char kAllNamespaces[] = "";

bool Needs(const MappedLoadBalancer& load_balancer, const Watcher::Target& target) {
  const auto is_of_namespace = [&](const MappedPort& port) { return port.service.ns == target.ns; };
  return target.ns.empty() ||
         std::any_of(load_balancer.sets.begin(), load_balancer.sets.end(), [&](const auto& set) {
           return std::any_of(set.second.ports.begin(), set.second.ports.end(), is_of_namespace);
         });
}

}  // namespace

Controller::Controller(kube::KubeApi& kube, oci::LoadBalancerApi& oci, const Settings& settings,
                       uint64_t seed, const ControllerOptions& options)
    : settings_(settings),
      clock_(base::RealClock()),
      own_vitals_(options.vitals == nullptr ? std::make_unique<health::Vitals>(kWedgeAfter)
                                            : nullptr),
      vitals_(options.vitals == nullptr ? *own_vitals_ : *options.vitals),
      metrics_(options.metrics == nullptr ? health::NoMetrics() : *options.metrics),
      supervised_kube_(Supervise(kube, {clock_, fence_, metrics_})),
      supervised_oci_(Supervise(oci, {clock_, fence_, metrics_})),
      kube_(*supervised_kube_),
      oci_(*supervised_oci_),
      store_(clock_),
      recorder_(base::Random(seed + 1)),
      topology_(store_, settings),
      reporter_(recorder_, clock_, metrics_),
      gate_check_(store_, reporter_),
      budget_(clock_, settings.oci_qps, settings.oci_burst),
      board_(BoardFor(store_, topology_,
                      [this](const oci::Ocid& key) { queue_.Add(key, clock_.Now()); })),
      conditions_(board_, BoardFor(store_, topology_, nullptr).load_balancers_of,
                  settings.pod_conditions),
      reconciler_({store_, topology_, reporter_, board_, conditions_, &status_},
                  {kube_, oci_, clock_, budget_}, settings, seed + 2),
      random_(seed + 3) {
  vitals_.SetPart("caches", false, "nothing is listed yet");
  if (options.lease_api == nullptr) {
    fence_.OpenUntil(absl::InfiniteDuration());
  } else {
    supervised_leases_ = Supervise(*options.lease_api, {clock_, fence_, metrics_});
    elector_ = std::make_unique<Elector>(
        Elector::Parts{*supervised_leases_, clock_, fence_, vitals_}, options.election,
        Elector::Callbacks{[this] { BeginTerm(); }, [this] { EndTerm(); },
                           [this] { return queue_.AtRest(); }},
        seed + 4);
  }
  store_.SetListener([this](const kube::StoreChange& change) { OnChange(change); });
  store_.SetBadObjectListener([this](kube::Resource resource, const kube::ObjectKey& key,
                                     const absl::Status& why) { OnBadObject(resource, key, why); });
}

Controller::~Controller() { Stop(); }

uint64_t Controller::NextSeed() { return random_.Next(); }

void Controller::StartWatch(const Watcher::Target& target) {
  kube::ClusterStore::NamespaceFilter filter;
  if (target.resource == kube::Resource::kPods && target.ns.empty()) {
    filter = [this](absl::string_view ns) {
      const std::shared_ptr<const TopologyView> view = topology_.Last();
      return view != nullptr && view->pod_namespaces.count(std::string(ns)) != 0;
    };
  }
  auto watcher = std::make_unique<Watcher>(
      Watcher::Parts{kube_, clock_, vitals_}, target,
      store_.MakeSink(target.resource, target.ns, std::move(filter)), NextSeed());
  if (target.resource == kube::Resource::kPods) {
    pod_watches_[target.ns] = std::move(watcher);
  } else {
    cluster_watches_.push_back(std::move(watcher));
  }
}

void Controller::Start(Mode mode, absl::string_view barrier_address) {
  {
    absl::MutexLock lock(&watch_mutex_);
    for (const kube::Resource resource : kClusterWide) StartWatch({resource, ""});
  }
  SpawnLoop("mapping", [this] { MapLoop(); });
  if (mode == Mode::kWatch) return;
  works_ = true;
  SpawnLoop("events", [this] { EventLoop(); });
  SpawnLoop("pod conditions", [this] { ConditionLoop(); });
  if (elector_ != nullptr) queue_.Pause(true);
  for (int i = 0; i < settings_.workers; ++i) {
    SpawnLoop(absl::StrCat("worker-", i), [this] { WorkLoop(); });
  }
  if (elector_ != nullptr) elector_->Start(barrier_address);
}

std::string Controller::LeaderAddress() const {
  if (elector_ == nullptr || leads()) return "";
  const std::string holder = elector_->holder();
  return holder == elector_->identity() ? "" : std::string(AddressIn(holder));
}

void Controller::SpawnLoop(const std::string& name, std::function<void()> run) {
  threads_.emplace_back([this, name, run = std::move(run)] {
    const health::ThisLoop loop(vitals_, name);
    run();
  });
}

void Controller::Stop() {
  if (stopping_.HasBeenNotified()) return;
  stopping_.Notify();
  queue_.Close();
  {
    absl::MutexLock lock(&map_mutex_);
    map_due_ = true;
  }
  absl::Notification joined;
  std::thread watchdog([&] {
    if (joined.WaitForNotificationWithTimeout(kStopPatience)) return;
    LOG(WARNING) << "calls that do not end are given up";
    kube_.EndCalls();
    oci_.EndCalls();
  });
  JoinAll();
  joined.Notify();
  watchdog.join();
  // Only now is nothing of ours under way: whoever takes the lease writes alone.
  fence_.CloseForever();
  if (elector_ == nullptr) return;
  elector_->Resign();
  if (!elector_->AwaitResigned(kReleasePatience)) {
    LOG(WARNING) << "the lease could not be released; it runs out by itself";
  }
}

void Controller::Abandon() {
  fence_.CloseForever();
  if (elector_ != nullptr) elector_->Resign();
}

// Others have led since this process did, or it is new: nothing that it planned then
// holds, and what it told then is told again.
void Controller::BeginTerm() {
  ForgetTerm();
  reconciler_.BeginTerm();
  {
    absl::MutexLock lock(&map_mutex_);
    tell_anew_ = map_due_ = true;
  }
  for (const oci::Ocid& load_balancer : LoadBalancers()) queue_.Add(load_balancer, clock_.Now());
  queue_.Pause(false);
}

void Controller::EndTerm() {
  queue_.Pause(true);
  ForgetTerm();
}

// A report of the last term would let a Pod go that another replica knows better. A
// pass that is in flight when a term ends still reports: so it is done before the
// next one, too.
void Controller::ForgetTerm() {
  conditions_.ForgetWanted();
  for (const oci::Ocid& load_balancer : LoadBalancers()) {
    board_.Forget(load_balancer);
    status_.Forget(load_balancer);
    metrics_.SetSlotsOf(load_balancer.value(), {});
  }
}

health::Status Controller::Status() const {
  health::Status status = status_.Show(clock_.Now());
  status.dry_run = settings_.dry_run;
  status.leads = leads();
  status.queue = queue_.waiting();
  if (elector_ == nullptr) return status;
  status.elects = true;
  status.identity = health::ShownText(elector_->identity());
  status.leader = health::ShownText(elector_->holder());
  status.terms = elector_->terms();
  return status;
}

absl::StatusOr<PodExplanation> Controller::ExplainPod(const kube::ObjectKey& pod) const {
  return status_.Explain(pod, clock_.Now());
}

std::vector<oci::Ocid> Controller::LoadBalancers() {
  std::vector<oci::Ocid> known;
  const std::shared_ptr<const TopologyView> view = topology_.Last();
  if (view == nullptr) return known;
  for (const auto& [load_balancer, mapped] : view->mapping.load_balancers) {
    known.push_back(load_balancer);
  }
  return known;
}

void Controller::JoinAll() {
  {
    absl::MutexLock lock(&watch_mutex_);
    for (const auto& watcher : cluster_watches_) watcher->Cancel();
    for (const auto& [ns, watcher] : pod_watches_) watcher->Cancel();
  }
  for (std::thread& thread : threads_) thread.join();
  // What the last passes had to tell, too.
  if (works_ && leads()) recorder_.Flush(kube_, clock_.Now());
  absl::MutexLock lock(&watch_mutex_);
  cluster_watches_.clear();
  pod_watches_.clear();
}

void Controller::OnChange(const kube::StoreChange& change) {
  const Route route = RouteChange(change, store_, topology_.Last().get());
  if (route.mapping) {
    topology_.MarkDirty();
    absl::MutexLock lock(&map_mutex_);
    map_due_ = true;
  }
  const absl::Time at = clock_.Now() + route.delay;
  for (const oci::Ocid& load_balancer : route.load_balancers) queue_.Add(load_balancer, at);
}

void Controller::OnBadObject(kube::Resource resource, const kube::ObjectKey& key,
                             const absl::Status& why) {
  LOG(WARNING) << "left out: " << kube::ResourceName(resource) << " " << key.ToString() << ": "
               << why.message();
}

void Controller::MapLoop() {
  std::shared_ptr<const TopologyView> before;
  std::shared_ptr<const TopologyView> followed;
  std::shared_ptr<const TopologyView> told;
  while (!stopping_.HasBeenNotified()) {
    health::Tick();
    // Each object of the first lists is a change; they are mapped together.
    if (followed == nullptr) stopping_.WaitForNotificationWithTimeout(kWholePoll);
    {
      absl::MutexLock lock(&map_mutex_);
      if (followed != nullptr) {
        map_mutex_.AwaitWithTimeout(absl::Condition(&map_due_), kHousekeeping);
      }
      map_due_ = false;
      if (std::exchange(tell_anew_, false)) {
        told = nullptr;
        forbidden_told_.clear();
      }
    }
    const bool whole = MappingIsWhole();
    const std::shared_ptr<const TopologyView> view = topology_.View();
    // Namespaces that become known one by one would each begin a watch of Pods, and
    // past their limit all of them would begin again as one.
    if ((whole || followed != nullptr) && view != followed) {
      FollowTopology(*view, followed.get());
      followed = view;
    }
    if (view != before) status_.SetTopology(view);
    before = view;
    TellState();
    // What nobody may send is not told, so that it is told when this process leads.
    if (!leads()) continue;
    if (whole && view != told) {
      TellTopology(*view, told.get(), reporter_);
      told = view;
    }
    if (whole && settings_.pod_conditions.gate) gate_check_.Run(*view);
    TellForbidden();
  }
}

// Ready means: every watch that there is has listed once.
void Controller::TellState() {
  const absl::Time now = clock_.Now();
  std::string missing;
  std::vector<health::Metrics::CacheAge> ages;
  {
    absl::MutexLock lock(&watch_mutex_);
    const auto look = [&](const Watcher& watcher) {
      const Watcher::State state = watcher.state();
      const std::string name = watcher.target().ToString();
      if (state.synced) return ages.push_back({name, now - state.last_heard});
      if (!missing.empty()) return;
      missing = absl::StrCat(name, " not listed yet", state.last_error.ok() ? "" : ": ",
                             state.last_error.message());
    };
    for (const auto& watcher : cluster_watches_) look(*watcher);
    for (const auto& [ns, watcher] : pod_watches_) look(*watcher);
  }
  if (missing.empty() && !MappingIsWhole()) missing = "Services and Ingresses not listed yet";
  vitals_.SetPart("caches", missing.empty(), missing);
  metrics_.SetCacheAges(ages);
  metrics_.SetQueueDepth(queue_.waiting());
  metrics_.SetLeader(leads());
}

void Controller::FollowTopology(const TopologyView& view, const TopologyView* before) {
  FollowNamespaces(view);
  if (before != nullptr) {
    for (const auto& [load_balancer, mapped] : before->mapping.load_balancers) {
      if (view.mapping.load_balancers.count(load_balancer) == 0) {
        queue_.Forget(load_balancer);
        board_.Forget(load_balancer);
        status_.Forget(load_balancer);
        conditions_.Forget(load_balancer);
        metrics_.SetSlotsOf(load_balancer.value(), {});
      }
    }
  }
  for (const auto& [load_balancer, mapped] : view.mapping.load_balancers) {
    queue_.Add(load_balancer, clock_.Now());
  }
}

// Before all are listed, what seems to be missing may only not be known yet.
bool Controller::MappingIsWhole() const {
  return store_.Synced(kube::Resource::kServices, "") &&
         store_.Synced(kube::Resource::kIngresses, "") &&
         store_.Synced(kube::Resource::kIngressClasses, "");
}

void Controller::FollowNamespaces(const TopologyView& view) {
  const std::set<std::string> targets = PodWatchScopes(view, settings_);
  const std::set<std::string>& wanted = view.pod_namespaces;
  const bool all = targets.count(kAllNamespaces) != 0;
  // What a filtered watch has listed lacks the Pods of namespaces wanted since.
  const bool stale = all && !std::includes(filtered_for_.begin(), filtered_for_.end(),
                                           wanted.begin(), wanted.end());
  if (all) filtered_for_ = wanted;
  std::vector<std::unique_ptr<Watcher>> ended;
  {
    absl::MutexLock lock(&watch_mutex_);
    for (auto it = pod_watches_.begin(); it != pod_watches_.end();) {
      const bool keep = targets.count(it->first) != 0 && !stale;
      if (!keep) ended.push_back(std::move(it->second));
      it = keep ? std::next(it) : pod_watches_.erase(it);
    }
  }
  for (const auto& watcher : ended) {
    const health::DeclaredWait joining(clock_.Monotonic() + kListBound);
    watcher->Stop();
    store_.Forget(kube::Resource::kPods, watcher->target().ns);
  }
  absl::MutexLock lock(&watch_mutex_);
  for (const std::string& ns : targets) {
    if (pod_watches_.count(ns) == 0) StartWatch({kube::Resource::kPods, ns});
  }
}

// A forbidden watch stops the load balancers that need it; say so where their
// users look, also on those that come to be known later.
void Controller::TellForbidden() {
  std::map<std::string, std::pair<Watcher::Target, absl::Status>> forbidden;
  {
    absl::MutexLock lock(&watch_mutex_);
    const auto check = [&](const Watcher& watcher) {
      const absl::Status error = watcher.state().last_error;
      if (!absl::IsPermissionDenied(error)) return;
      const Watcher::Target& target = watcher.target();
      forbidden[absl::StrCat(kube::ResourceName(target.resource), "/", target.ns)] = {target,
                                                                                      error};
    };
    for (const auto& watcher : cluster_watches_) check(*watcher);
    for (const auto& [ns, watcher] : pod_watches_) check(*watcher);
  }
  std::erase_if(forbidden_told_,
                [&](const auto& told) { return forbidden.count(told.first) == 0; });
  const std::shared_ptr<const TopologyView> view = topology_.Last();
  for (const auto& [name, watch] : forbidden) {
    const auto& [target, why] = watch;
    const std::string note =
        absl::StrCat("Backends are not drained: ", kube::ResourceName(target.resource),
                     target.ns.empty() ? "" : absl::StrCat(" in namespace ", target.ns),
                     " may not be watched: ", why.message(), "; grant get, list and watch");
    for (const auto& [load_balancer, mapped] : view->mapping.load_balancers) {
      if (!Needs(mapped, target) || !forbidden_told_.emplace(name, load_balancer).second) continue;
      reporter_.TellLoadBalancer("WatchForbidden", note, *view, load_balancer);
    }
  }
}

void Controller::WorkLoop() {
  enum { kNoneYet, kFirstPasses, kGaveBack } memory = kNoneYet;
  while (!queue_.closed()) {
    health::Tick();
    const std::optional<oci::Ocid> load_balancer = queue_.Take(kIdleTick);
    health::Tick();
    if (!load_balancer.has_value()) {
      // All load balancers are read and planned for in the first seconds, which takes
      // more memory than anything that follows.
      if (memory == kFirstPasses) {
        base::GiveBackMemory();
        memory = kGaveBack;
      }
      continue;
    }
    if (memory == kNoneYet) memory = kFirstPasses;
    queue_.Done(*load_balancer, reconciler_.Pass(*load_balancer));
    // The term has ended meanwhile: what the pass saw is another's affair.
    if (elector_ != nullptr && !leads()) status_.Forget(*load_balancer);
  }
}

void Controller::EventLoop() {
  while (!stopping_.WaitForNotificationWithTimeout(kHousekeeping)) {
    health::Tick();
    const absl::Time now = clock_.Now();
    if (leads() && recorder_.NextFlush() <= now) recorder_.Flush(kube_, now);
  }
}

void Controller::ConditionLoop() {
  while (!stopping_.WaitForNotificationWithTimeout(kConditionPause)) {
    health::Tick();
    while (leads() && !stopping_.HasBeenNotified() && conditions_.WriteOne(kube_, clock_.Now())) {
    }
  }
}

absl::Status Controller::WaitForSync(absl::Duration patience) {
  const absl::Time until = clock_.Now() + patience;
  for (;;) {
    absl::Status waiting;
    {
      absl::MutexLock lock(&watch_mutex_);
      const auto check = [&](const Watcher& watcher) {
        const Watcher::State state = watcher.state();
        if (state.synced || !waiting.ok()) return;
        waiting = absl::UnavailableError(
            absl::StrCat(kube::ResourceName(watcher.target().resource),
                         watcher.target().ns.empty() ? "" : " in namespace ", watcher.target().ns,
                         " could not be listed", state.last_error.ok() ? " in time" : ": ",
                         state.last_error.message()));
      };
      for (const auto& watcher : cluster_watches_) check(*watcher);
      for (const auto& [ns, watcher] : pod_watches_) check(*watcher);
    }
    if (waiting.ok()) {
      // The first lists may have brought namespaces whose Pods are to be watched. A watch
      // that was started since the look above has not listed yet.
      const std::shared_ptr<const TopologyView> view = topology_.View();
      absl::MutexLock lock(&watch_mutex_);
      const bool listed =
          std::all_of(view->pod_namespaces.begin(), view->pod_namespaces.end(),
                      [&](const std::string& ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_) {
                        auto watch = pod_watches_.find(ns);
                        if (watch == pod_watches_.end()) watch = pod_watches_.find(kAllNamespaces);
                        return watch != pod_watches_.end() && watch->second->state().synced;
                      });
      if (listed) return absl::OkStatus();
      waiting = absl::UnavailableError("Pods could not be listed in time");
    }
    if (clock_.Now() >= until) return waiting;
    clock_.SleepFor(absl::Milliseconds(20));
  }
}

}  // namespace controller
