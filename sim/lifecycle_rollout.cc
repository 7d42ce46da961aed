#include "sim/lifecycle_rollout.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "sim/drain_waiters.h"
#include "sim/kube_fields_of.h"
#include "sim/lifecycle_faults.h"
#include "sim/lifecycle_judge.h"
#include "sim/load_balancer_document.h"
#include "sim/virtual_world.h"

namespace sim {
namespace {

constexpr absl::Duration kAtMost = absl::Hours(2);
// After the last Pod's deadline, for Events to be sent.
constexpr absl::Duration kForEvents = absl::Seconds(30);

// A controller that knows of a wait has told of its end after so long.
constexpr absl::Duration kToTell = absl::Seconds(15);

// The Events that tell of a drain that was late or is missing.
constexpr absl::string_view kReports[] = {"DrainDeadlineMissed", "DrainDeadlineAtRisk",
                                          "DrainWaitEnded"};

void Must(const absl::Status& status) { CHECK(status.ok()) << status; }

VirtualWorldOptions WorldOf(const Lifecycle& lifecycle) {
  VirtualWorldOptions world;
  world.seed = lifecycle.seed;
  world.load_balancer.min_service_time = absl::Seconds(6);
  world.load_balancer.max_service_time = absl::Seconds(14);
  world.load_balancer.etag_moves = lifecycle.etag_moves;
  world.cluster.kubelet.ready_after = lifecycle.ready_after;
  world.rival.variant = lifecycle.rival;
  world.with_rival = lifecycle.with_rival;
  world.with_controller = false;
  world.settings.pod_conditions = {lifecycle.drained_condition, true};
  world.settings.plan.gates = true;
  world.settings.plan.acknowledge_all = lifecycle.drained_condition;
  return world;
}

cmd::DrainWaitOptions WaitOptions() {
  cmd::DrainWaitOptions options;
  options.timeout = kLifecycleTimeout;
  return options;
}

std::string Describe(const WriteEffect& effect) {
  std::string text;
  const auto append = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) absl::StrAppend(&text, " ", what, " ", absl::StrJoin(names, " "));
  };
  append("added", effect.added);
  append("removed", effect.removed);
  append("drained", effect.drained);
  append("undrained", effect.undrained);
  return text;
}

class Run final : private VirtualWorld::Observer {
 public:
  Run(const Lifecycle& lifecycle, bool trace)
      : lifecycle_(lifecycle),
        trace_(trace),
        world_(WorldOf(lifecycle)),
        judge_(world_.load_balancer(), LifecycleSets(lifecycle)),
        faults_(world_, lifecycle_),
        waiters_(world_.cluster().kubelet(), WaitOptions()) {}

  LifecycleResult Go() {
    SetUp();
    begin_ = world_.now();
    faults_.Start(begin_);
    old_ = judge_.pods();
    Must(world_.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                      R"({"spec":{"template":{"metadata":{"annotations":{"rollout":"1"}}}}})"));
    result_.finished = world_.RunUntil(begin_ + kAtMost, [&] { return Over(); });
    if (!result_.finished) Violate("the rollout has not ended");
    result_.took = world_.now() - begin_;
    if (!late_.empty()) {
      world_.RunUntil(last_deadline_ + kForEvents, [] { return false; });
      CheckReports();
    }
    result_.virtual_time = world_.now() - created_;
    for (const WriteRecord& write : world_.load_balancer().writes()) {
      if (write.client == VirtualWorld::kController) ++result_.writes;
    }
    return std::move(result_);
  }

 private:
  // A Pod that got SIGTERM while it was routable.
  struct Late {
    DrainWaiters::Wait wait;
    // The process that knew of the wait lived on for long enough to tell.
    bool known = false;
  };

  void SetUp() {
    created_ = world_.now();
    world_.SetObserver(this);
    world_.cluster().kubelet().OnPodEvent([this](const PodEvent& event) { OnPod(event); });
    world_.load_balancer().SetOnFinished([this](const WriteRecord& write) { OnFinished(write); });
    waiters_.OnSigterm([this](const DrainWaiters::Wait& wait) { OnSigterm(wait); });
    faults_.OnFault([this](const std::string& fault) { Say(absl::StrCat("fault ", fault)); });
    Must(world_.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: oci-backend-drain}}"));
    Must(world_.Apply(LifecycleManifests(lifecycle_)));
    std::map<std::string, std::vector<std::string>> sets;
    for (const LifecycleSet& set : LifecycleSets(lifecycle_)) sets[set.name] = {};
    Must(world_.load_balancer().AddLoadBalancer(MakeLoadBalancerJson(kLifecycleOcid, sets),
                                                world_.now()));
    world_.RestartController();
    CHECK(world_.RunUntil(world_.now() + kAtMost, [&] {
      return ready_.size() == static_cast<size_t>(lifecycle_.replicas);
    })) << Describe(lifecycle_);
    // Past the two minutes after an IngressClass's change, at any phase of the tick.
    base::Random random(lifecycle_.seed);
    world_.RunFor(absl::Seconds(130) + absl::Milliseconds(random.Between(0, 59'999)));
  }

  bool Over() {
    const bool replaced = std::none_of(old_.begin(), old_.end(), [&](const auto& pod) {
      return judge_.pods().count(pod.first) != 0;
    });
    return replaced && ready_.size() == static_cast<size_t>(lifecycle_.replicas) &&
           world_.load_balancer().Idle() && judge_.RoutesToAllAndNoOther();
  }

  void OnPod(const PodEvent& event) {
    Say(absl::StrCat("pod ", event.name, " ", event.ip, " ", PodEventName(event.kind)));
    judge_.OnPodEvent(event);
    if (event.kind == PodEvent::Kind::kReady) ready_.insert(event.uid);
    if (event.kind == PodEvent::Kind::kNotReady || event.kind == PodEvent::Kind::kRemoved ||
        event.kind == PodEvent::Kind::kDeleted) {
      ready_.erase(event.uid);
    }
    CheckServed();
  }

  void OnFinished(const WriteRecord& write) {
    Say(absl::StrCat(
        write.client, "'s ", write.type, " ", write.backend_set, " sent ",
        absl::FormatDuration(absl::Trunc(world_.now() - write.accepted, absl::Milliseconds(1))),
        write.state == WorkState::kFailed ? " ago failed" : " ago", Describe(write.effect)));
    judge_.OnFinished(write);
    CheckServed();
    if (write.client == VirtualWorld::kController) return;
    for (const std::string& backend : write.effect.undrained) {
      const auto ended = sigterm_of_.find(backend.substr(0, backend.rfind(':')));
      if (ended == sigterm_of_.end() || write.accepted > ended->second) continue;
      Say(absl::StrCat("taken back after SIGTERM: ", backend));
      ++result_.taken_back;
    }
  }

  void OnSigterm(const DrainWaiters::Wait& wait) {
    const std::string& pod = wait.pod.key.name;
    Say(absl::StrCat("pod ", pod, " gets SIGTERM after ",
                     absl::FormatDuration(wait.sigterm - wait.began), ": ", Name(wait.outcome),
                     wait.cut_off ? ", cut off" : ""));
    ++result_.pods;
    result_.longest_wait = std::max(result_.longest_wait, wait.sigterm - wait.began);
    const auto routable = judge_.RoutableOf(wait.pod.uid, wait.told);
    judge_.OnSigterm(wait.pod.uid);
    const auto ip = judge_.pods().find(wait.pod.uid);
    if (ip != judge_.pods().end()) sigterm_of_[ip->second] = wait.sigterm;
    CheckServed();
    if (routable.empty()) return;
    if (std::all_of(routable.begin(), routable.end(), [](const auto& r) { return r.by_foreign; })) {
      ++result_.undrained_by_foreign;
      return;
    }
    ++result_.undrained;
    last_deadline_ = std::max(last_deadline_, wait.began + kLifecycleGrace);
    late_.push_back({wait, true});
    if (!lifecycle_.faults.empty()) return;
    Violate(absl::StrCat("Pod ", pod, " got SIGTERM with ", routable.front().backend, " of ",
                         routable.front().set, " undrained, ", Name(wait.outcome), " after ",
                         absl::FormatDuration(wait.sigterm - wait.began)));
  }

  // Whether, since the begin, some set has had no routed, serving Pod.
  void CheckServed() {
    if (begin_ == absl::InfinitePast()) return;
    const absl::Time now = world_.now();
    if (unserved_since_.has_value()) result_.without_pod += now - *unserved_since_;
    const std::string set = judge_.SetWithoutPod();
    if (set.empty()) {
      unserved_since_.reset();
      return;
    }
    const bool news = !unserved_since_.has_value();
    unserved_since_ = now;
    if (news && lifecycle_.faults.empty()) {
      Violate(absl::StrCat("no routed, serving Pod in ", set));
    }
  }

  // Of the waits that are over: whether their process has lived on.
  void FollowProcess() {
    const int running = world_.controller_runs() ? world_.controller_starts() : 0;
    for (Late& late : late_) {
      if (world_.now() > late.wait.sigterm + kToTell) continue;
      late.known = late.known && late.wait.asked_of == running;
    }
  }

  // Each late Pod must be told of. One that no process knew of: with the time that its
  // drain took at least, or that the load balancer could not be read.
  void CheckReports() {
    for (const Late& late : late_) {
      if (!late.known) ++result_.unheard;
      bool told = false;
      for (const KubeObject& event : world_.api_server().store().List(resources::Events(), "")) {
        const bool unread = (*event)["reason"].AsString() == "LoadBalancerNotReadable";
        told = told || (unread && !late.known);
        if (!absl::StrContains((*event)["note"].AsString(), late.wait.pod.key.name)) continue;
        const std::string& reason = (*event)["reason"].AsString();
        const bool warns =
            std::find(std::begin(kReports), std::end(kReports), reason) != std::end(kReports);
        told = told || warns || (!late.known && reason == "BackendDrained");
      }
      if (told) continue;
      ++result_.unreported;
      Violate(absl::StrCat("no Event tells that Pod ", late.wait.pod.key.name,
                           " got SIGTERM undrained"));
    }
  }

  void Violate(const std::string& what) {
    Say(absl::StrCat("VIOLATION ", what));
    result_.violations.push_back(what);
  }

  CallFate OnCall(const Call& call) override { return faults_.OnCall(call, world_.now()); }
  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead*) override {
    if (IsOciWrite(call.kind) && status.ok() && trace_) {
      const WriteRecord& write = world_.load_balancer().writes().back();
      Say(absl::StrCat("controller sends ", write.type, " ", write.backend_set));
    } else if (!status.ok() && !absl::IsNotFound(status) && trace_) {
      Say(absl::StrCat(CallName(call.kind), ": ",
                       status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
    }
  }
  void OnStep() override {
    FollowProcess();
    if (!trace_ || starts_ == world_.controller_starts()) return;
    starts_ = world_.controller_starts();
    Say("controller starts");
  }
  absl::Time Act(absl::Time now) override {
    const absl::Time due = faults_.Act(now);
    const DrainWaiters::Barrier barrier{world_.board(), world_.controller_starts(),
                                        !faults_.BarrierGone(now)};
    return std::min(due, waiters_.Act(barrier, now));
  }

  void Say(const std::string& what) {
    if (!trace_) return;
    const absl::Time from = begin_ == absl::InfinitePast() ? created_ : begin_;
    result_.trace.push_back(
        absl::StrFormat("%9.3f  %s", absl::ToDoubleSeconds(world_.now() - from), what));
  }

  const Lifecycle lifecycle_;
  const bool trace_;
  LifecycleResult result_;
  VirtualWorld world_;
  LifecycleJudge judge_;
  LifecycleFaults faults_;
  DrainWaiters waiters_;
  absl::Time created_;
  absl::Time begin_ = absl::InfinitePast();
  std::map<std::string, std::string> old_;
  std::set<std::string> ready_;
  std::map<std::string, absl::Time> sigterm_of_;  // by IP
  std::optional<absl::Time> unserved_since_;
  std::vector<Late> late_;
  absl::Time last_deadline_ = absl::InfinitePast();
  int starts_ = 0;
};

}  // namespace

LifecycleResult RunLifecycle(const Lifecycle& lifecycle, bool trace) {
  return std::make_unique<Run>(lifecycle, trace)->Go();
}

}  // namespace sim
