#include "controller/controller.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/routing.h"
#include "glog/logging.h"

namespace controller {
namespace {

// How often watches are looked after and events sent.
constexpr absl::Duration kHousekeeping = absl::Seconds(1);

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
                       uint64_t seed)
    : settings_(settings),
      clock_(base::RealClock()),
      kube_(kube),
      oci_(oci),
      store_(clock_),
      recorder_(base::Random(seed + 1)),
      topology_(store_, settings),
      reporter_(recorder_, clock_),
      budget_(clock_, settings.oci_qps, settings.oci_burst),
      reconciler_({store_, topology_, reporter_}, {kube, oci, clock_, budget_}, settings, seed + 2),
      random_(seed + 3) {
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
      kube_, clock_, target, store_.MakeSink(target.resource, target.ns, std::move(filter)),
      NextSeed());
  if (target.resource == kube::Resource::kPods) {
    pod_watches_[target.ns] = std::move(watcher);
  } else {
    cluster_watches_.push_back(std::move(watcher));
  }
}

void Controller::Start(Mode mode) {
  {
    absl::MutexLock lock(&watch_mutex_);
    for (const kube::Resource resource : kClusterWide) StartWatch({resource, ""});
  }
  threads_.emplace_back([this] { MapLoop(); });
  if (mode == Mode::kWatch) return;
  threads_.emplace_back([this] { EventLoop(); });
  for (int i = 0; i < settings_.workers; ++i) threads_.emplace_back([this] { WorkLoop(); });
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
}

void Controller::JoinAll() {
  {
    absl::MutexLock lock(&watch_mutex_);
    for (const auto& watcher : cluster_watches_) watcher->Cancel();
    for (const auto& [ns, watcher] : pod_watches_) watcher->Cancel();
  }
  for (std::thread& thread : threads_) thread.join();
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
  std::shared_ptr<const TopologyView> told;
  while (!stopping_.HasBeenNotified()) {
    {
      absl::MutexLock lock(&map_mutex_);
      map_mutex_.AwaitWithTimeout(absl::Condition(&map_due_), kHousekeeping);
      map_due_ = false;
    }
    const bool whole = MappingIsWhole();
    const std::shared_ptr<const TopologyView> view = topology_.View();
    if (view != before) FollowTopology(*view, before.get());
    before = view;
    if (whole && view != told) {
      TellTopology(*view, told.get(), reporter_);
      told = view;
    }
    TellForbidden();
  }
}

void Controller::FollowTopology(const TopologyView& view, const TopologyView* before) {
  FollowNamespaces(view);
  if (before != nullptr) {
    for (const auto& [load_balancer, mapped] : before->mapping.load_balancers) {
      if (view.mapping.load_balancers.count(load_balancer) == 0) queue_.Forget(load_balancer);
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
  while (const std::optional<oci::Ocid> load_balancer = queue_.Take()) {
    queue_.Done(*load_balancer, reconciler_.Pass(*load_balancer));
  }
}

void Controller::EventLoop() {
  while (!stopping_.WaitForNotificationWithTimeout(kHousekeeping)) {
    const absl::Time now = clock_.Now();
    if (recorder_.NextFlush() <= now) recorder_.Flush(kube_, now);
  }
  recorder_.Flush(kube_, clock_.Now());
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
      // The first lists may have brought namespaces whose Pods are to be watched.
      const std::shared_ptr<const TopologyView> view = topology_.View();
      absl::MutexLock lock(&watch_mutex_);
      const bool started = std::all_of(
          view->pod_namespaces.begin(), view->pod_namespaces.end(),
          [&](const std::string& ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_) {
            return pod_watches_.count(ns) != 0 || pod_watches_.count(kAllNamespaces) != 0;
          });
      if (started) return absl::OkStatus();
      waiting = absl::UnavailableError("watches of Pods are not started yet");
    }
    if (clock_.Now() >= until) return waiting;
    clock_.SleepFor(absl::Milliseconds(20));
  }
}

}  // namespace controller
