#include "sim/actor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/kube_fields_of.h"
#include "sim/load_balancer_document.h"
#include "sim/scenario_cluster.h"

namespace sim {
namespace {

constexpr char kConsole[] = "console";
// After a failed call the controller waits for so long at most, and after a broken
// watch until it has listed anew.
constexpr absl::Duration kBackoff = absl::Seconds(15);
constexpr absl::Duration kRelist = absl::Seconds(10);
constexpr absl::Duration kListBackoff = absl::Seconds(40);
constexpr absl::Duration kDowntime = absl::Seconds(2);
constexpr int kEveryTime = 1 << 20;

constexpr absl::string_view kWatched[] = {"services",    "ingresses",      "ingressclasses",
                                          "pods",        "endpointslices", "deployments",
                                          "replicasets", "pods",           "endpointslices"};

absl::string_view WatchedBy(const Act& act) {
  return kWatched[static_cast<size_t>(act.number) % std::size(kWatched)];
}

// How late the controller's reaction to a failed call may be.
absl::Duration Recovery(ActKind kind) {
  const bool lists =
      kind == ActKind::kListFails || kind == ActKind::kKubeFails || kind == ActKind::kNoAnswer;
  return lists ? kListBackoff : kBackoff;
}

}  // namespace

Actor::Actor(VirtualWorld& world, Truth& truth, const Scenario& scenario)
    : world_(world),
      truth_(truth),
      scenario_(scenario),
      faults_(scenario.max_oci_latency, scenario.seed) {}

void Actor::Start(absl::Time now) { start_ = now; }

absl::Time Actor::Act(absl::Time now) {
  for (size_t i = 0; i < to_undo_.size();) {
    if (to_undo_[i].first > now) {
      ++i;
      continue;
    }
    const sim::Act act = to_undo_[i].second;
    to_undo_.erase(to_undo_.begin() + static_cast<std::ptrdiff_t>(i));
    Undo(act, now);
  }
  absl::Time due = absl::InfiniteFuture();
  for (; next_ < scenario_.acts.size(); ++next_) {
    const sim::Act& act = scenario_.acts[next_];
    if (act.at_call > 0) continue;
    due = start_ + act.at;
    if (due > now) break;
    due = absl::InfiniteFuture();
    if (on_act_) on_act_(act);
    Do(act, now);
  }
  for (const auto& [until, act] : to_undo_) due = std::min(due, until);
  return due;
}

CallFate Actor::OnCall(const Call& call, absl::Time now) {
  if (start_ > now) return {};
  ++calls_;
  for (const sim::Act& act : scenario_.acts) {
    if (act.at_call != calls_) continue;
    if (on_act_) on_act_(act);
    Do(act, now);
  }
  const CallFaults::Fate fate = faults_.OnCall(call, now);
  if (fate.hit) {
    ++fired_[fate.by];
    truth_.ExcuseUntil(now + fate.fate.latency + Recovery(fate.by));
  }
  return fate.fate;
}

void Actor::Do(const sim::Act& act, absl::Time now) {
  if (CallFaults::Takes(act.kind)) {
    faults_.Begin(act, now);
    return;
  }
  if (act.kind == ActKind::kCrashNow) {
    ++fired_[act.kind];
    truth_.ExcuseUntil(now + kDowntime + kBackoff);
    world_.EndController(kDowntime);
    return;
  }
  if (act.length > absl::ZeroDuration()) to_undo_.emplace_back(now + act.length, act);
  if (act.kind <= ActKind::kOptOut) {
    DoToCluster(act, now);
  } else if (act.kind <= ActKind::kAnyFailedWork) {
    DoToLoadBalancer(act, now);
  } else {
    DoToWatches(act, now);
  }
}

void Actor::PatchDeployment(int service, const std::string& body) {
  world_
      .Patch(absl::StrCat("/apis/apps/v1/namespaces/", kScenarioNamespace, "/deployments/",
                          ScenarioService(service)),
             body)
      .IgnoreError();
}

void Actor::SetOptIn(int service, const char* value) {
  world_
      .Patch(absl::StrCat("/api/v1/namespaces/", kScenarioNamespace, "/services/",
                          ScenarioService(service)),
             absl::StrCat(R"({"metadata":{"annotations":{)",
                          R"("oci-native-ingress.oraclecloud.com/backend-draining":")", value,
                          R"("}}})"))
      .IgnoreError();
}

std::string Actor::PodOf(const sim::Act& act) {
  std::vector<std::string> names;
  const std::string service = ScenarioService(act.service);
  for (const KubeObject& pod :
       world_.api_server().store().List(resources::Pods(), kScenarioNamespace)) {
    if ((*pod)["metadata"]["labels"]["app"].AsString() == service) names.push_back(NameOf(*pod));
  }
  return names.empty() ? "" : names[static_cast<size_t>(act.number) % names.size()];
}

void Actor::DoToCluster(const sim::Act& act, absl::Time now) {
  ++fired_[act.kind];
  switch (act.kind) {
    case ActKind::kRollingUpdate:
      return PatchDeployment(
          act.service,
          absl::StrCat(R"({"spec":{"template":{"metadata":{"annotations":{"rollout":")", ++rolls_,
                       R"("}}}}})"));
    case ActKind::kScale:
      return PatchDeployment(act.service,
                             absl::StrCat(R"({"spec":{"replicas":)", act.number - 1, "}}"));
    case ActKind::kNodeShutdown:
      return world_.cluster().kubelet().ShutDownNode(absl::StrCat("node-", act.number), act.length,
                                                     now);
    case ActKind::kOptOut:
      if (scenario_.services[static_cast<size_t>(act.service)].opted_in) {
        SetOptIn(act.service, "false");
      }
      return;
    default:
      return DoToPod(act, now);
  }
}

void Actor::DoToPod(const sim::Act& act, absl::Time now) {
  const std::string pod = PodOf(act);
  if (pod.empty()) return;
  const KubeObjectRef ref{&resources::Pods(), kScenarioNamespace, pod};
  Kubelet& kubelet = world_.cluster().kubelet();
  switch (act.kind) {
    case ActKind::kCrash:
      return kubelet.Crash(kScenarioNamespace, pod, now).IgnoreError();
    case ActKind::kNotReady:
      return kubelet.ForceReadiness(kScenarioNamespace, pod, false).IgnoreError();
    case ActKind::kForceDelete:
      world_.api_server().objects().Delete(ref, {.grace_seconds = 0}, now);
      return;
    default:
      world_.api_server().objects().Delete(ref, {}, now);
      return;
  }
}

void Actor::DoToLoadBalancer(const sim::Act& act, absl::Time now) {
  FakeLoadBalancer& lb = world_.load_balancer();
  const auto nothing = [](rapidjson::Document&) { return ApiError(); };
  if (act.kind != ActKind::kFailedWork && act.kind != ActKind::kAnyFailedWork) ++fired_[act.kind];
  switch (act.kind) {
    case ActKind::kListenerWrite:
      lb.QueueWrite(kScenarioOcid, "UpdateListener", kConsole, nothing, now).IgnoreError();
      return;
    case ActKind::kUnknownWrite:
      lb.QueueWrite(kScenarioOcid, "UpdateShape", kConsole, nothing, now).IgnoreError();
      return;
    case ActKind::kFreeze:
      lb.Freeze(now + act.length, now);
      truth_.ExcuseUntil(now + act.length);
      return;
    case ActKind::kFailedWork:
    case ActKind::kAnyFailedWork: {
      WorkFault fault;
      const bool lasts = act.length > absl::ZeroDuration();
      fault.times = lasts ? kEveryTime : std::max(1, act.number);
      const absl::Time until = lasts ? now + act.length : absl::InfiniteFuture();
      fault.matches = [this, kind = act.kind, until](const WriteRecord& write) {
        const bool ours = write.client == VirtualWorld::kController;
        if ((kind == ActKind::kFailedWork && !ours) || world_.now() >= until) return false;
        ++fired_[kind];
        // A failure in a row is followed by a backoff.
        truth_.ExcuseUntil(world_.now() + kBackoff);
        return true;
      };
      lb.AddWorkFault(std::move(fault));
      return;
    }
    default:
      return DoToBackend(act, now);
  }
}

void Actor::DoToBackend(const sim::Act& act, absl::Time now) {
  const std::string set = ScenarioSet(act.service);
  switch (act.kind) {
    case ActKind::kConsoleDrain:
      return EditBackend(act, now, "drain", true);
    case ActKind::kConsoleWeight:
      return EditBackend(act, now, "weight", false);
    case ActKind::kConsolePolicy:
      world_.load_balancer()
          .QueueWrite(
              kScenarioOcid, "UpdateBackendSet", kConsole,
              [set](rapidjson::Document& lb) {
                rapidjson::Value* found = FindBackendSet(lb, set);
                if (found != nullptr) (*found)["policy"] = "ROUND_ROBIN";
                return ApiError();
              },
              now)
          .IgnoreError();
      return;
    default:
      break;
  }
  const std::string ip = absl::StrCat("192.0.2.", act.number);
  world_.load_balancer()
      .QueueWrite(
          kScenarioOcid, "CreateBackend", kConsole,
          [set, ip](rapidjson::Document& lb) -> ApiError {
            rapidjson::Value* found = FindBackendSet(lb, set);
            const std::string name = absl::StrCat(ip, ":9000");
            if (found == nullptr || FindBackend(*found, name) != nullptr) return {};
            rapidjson::Document backend(&lb.GetAllocator());
            backend.Parse(absl::StrCat(R"({"name":")", name, R"(","ipAddress":")", ip,
                                       R"(","port":9000,"weight":3,"drain":false,)",
                                       R"("backup":false,"offline":false})")
                              .c_str());
            (*found)["backends"].PushBack(static_cast<rapidjson::Value&>(backend),
                                          lb.GetAllocator());
            return {};
          },
          now)
      .IgnoreError();
}

void Actor::EditBackend(const sim::Act& act, absl::Time now, const char* member, bool drain) {
  const auto& backends = truth_.services()[static_cast<size_t>(act.service)].backends;
  if (backends.empty()) return;
  auto chosen = backends.begin();
  std::advance(chosen, act.number % static_cast<int>(backends.size()));
  const int weight = 2 + act.number;
  world_.load_balancer()
      .QueueWrite(
          kScenarioOcid, "UpdateBackend", kConsole,
          [set = ScenarioSet(act.service), name = chosen->first, member, drain,
           weight](rapidjson::Document& lb) -> ApiError {
            rapidjson::Value* found = FindBackendSet(lb, set);
            rapidjson::Value* backend = found == nullptr ? nullptr : FindBackend(*found, name);
            if (backend == nullptr) return NotThere();
            if (absl::string_view(member) == "drain") {
              (*backend)[member].SetBool(drain);
            } else {
              (*backend)[member].SetInt(weight);
            }
            return {};
          },
          now)
      .IgnoreError();
}

void Actor::DoToWatches(const sim::Act& act, absl::Time now) {
  KubeWatches& watches = world_.api_server().watches();
  if (act.kind == ActKind::kWatchGone || act.kind == ActKind::kApiRestart) {
    ++fired_[act.kind];
    truth_.ExcuseUntil(now + kRelist);
    if (act.kind == ActKind::kWatchGone) {
      watches.Expire("");
    } else {
      world_.api_server().Restart();
    }
    return;
  }
  KubeWatchFault fault;
  fault.times = -1;
  fault.kind = act.kind == ActKind::kWatchDrop     ? KubeWatchFault::Kind::kDrop
               : act.kind == ActKind::kWatchRepeat ? KubeWatchFault::Kind::kRepeat
                                                   : KubeWatchFault::Kind::kDelay;
  fault.delay = absl::Seconds(act.number);
  if (act.kind == ActKind::kWatchSkew) fault.resource = std::string(WatchedBy(act));
  fault.only_if = [this, kind = act.kind, until = now + act.length](const KubeChange&) {
    if (world_.now() >= until) return false;
    ++fired_[kind];
    return true;
  };
  world_.api_server().faults().Add(std::move(fault));
  if (act.kind != ActKind::kWatchRepeat) {
    truth_.ExcuseUntil(now + act.length + absl::Seconds(act.number) + kRelist);
  }
}

void Actor::Undo(const sim::Act& act, absl::Time now) {
  switch (act.kind) {
    case ActKind::kNodeShutdown:
      return world_.cluster().kubelet().StartNode(absl::StrCat("node-", act.number));
    case ActKind::kNotReady: {
      for (const KubeObject& pod :
           world_.api_server().store().List(resources::Pods(), kScenarioNamespace)) {
        world_.cluster()
            .kubelet()
            .ForceReadiness(kScenarioNamespace, NameOf(*pod), std::nullopt)
            .IgnoreError();
      }
      return;
    }
    case ActKind::kOptOut:
      if (scenario_.services[static_cast<size_t>(act.service)].opted_in) {
        SetOptIn(act.service, "true");
      }
      return;
    case ActKind::kConsoleDrain:
      return EditBackend(act, now, "drain", false);
    case ActKind::kWatchDrop:
      truth_.ExcuseUntil(now + kRelist);
      return world_.api_server().watches().Expire("");
    default:
      return;
  }
}

}  // namespace sim
