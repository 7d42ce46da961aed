#include "sim/lab/lab_world.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "http/cpprest_transport.h"
#include "oci/backend_set_name.h"
#include "sim/json_log.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_log.h"
#include "sim/lab/lab_manifests.h"
#include "sim/load_balancer_document.h"
#include "sim/oci_user.h"
#include "sim/program.h"

namespace sim {
namespace {

constexpr char kController[] = "controller";
constexpr char kRival[] = "NIC";
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr absl::Duration kPoll = absl::Milliseconds(5);
// What is shortened by the factor, as it is at factor 1.
constexpr absl::Duration kWorkRequestMin = absl::Seconds(6);
constexpr absl::Duration kWorkRequestMax = absl::Seconds(14);
constexpr absl::Duration kGrace = absl::Seconds(240);
constexpr absl::Duration kShutdown = absl::Seconds(30);
constexpr absl::Duration kLinger = absl::Seconds(2);
constexpr absl::Duration kHealthInterval = absl::Seconds(10);
// Of the experiment.
constexpr absl::Duration kGracefulShutdown = absl::Seconds(3);
constexpr absl::Duration kPreStopSleep = absl::Seconds(5);
// Longer than it takes until nobody routes to the Pod, also without the controller.
constexpr absl::Duration kCloseShutdown = absl::Seconds(40);

absl::Time Now() { return base::RealClock().Now(); }

int WholeSeconds(absl::Duration duration) {
  return std::max(1, static_cast<int>(std::ceil(absl::ToDoubleSeconds(duration))));
}

const char* ModeOf(Application application) {
  switch (application) {
    case Application::kNaive:
      return "exit";
    case Application::kGraceful:
    case Application::kPreStop:
      return "graceful";
    case Application::kConnectionClose:
      return "close";
  }
  return "";
}

absl::Duration ShutdownOf(Application application) {
  switch (application) {
    case Application::kNaive:
      return absl::ZeroDuration();
    case Application::kGraceful:
    case Application::kPreStop:
      return kGracefulShutdown;
    case Application::kConnectionClose:
      return kCloseShutdown;
  }
  return absl::ZeroDuration();
}

bool HasBarrier(Help help) { return help == Help::kBarrier || help == Help::kBarrierAndGate; }

absl::Status ToStatus(const KubeResult& result, absl::string_view what) {
  if (result.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", result.error->message));
}

std::string IpOf(const std::string& backend) { return backend.substr(0, backend.rfind(':')); }

}  // namespace

LabWorld::LabWorld(LabOptions options)
    : options_(std::move(options)),
      backend_set_(oci::GenerateBackendSetName(kLabNamespace, kLabName, 80).value()) {}

LabWorld::~LabWorld() {
  controller_.reset();
  rival_.reset();
  haproxy_.reset();
  // The kubelet calls into it.
  cluster_.reset();
  if (pods_ != nullptr) pods_->Stop();
}

absl::StatusOr<std::unique_ptr<LabWorld>> LabWorld::Start(LabOptions options) {
  std::unique_ptr<LabWorld> made(new LabWorld(std::move(options)));
  absl::Status status = made->StartFakes();
  if (status.ok()) status = made->WaitFor(&LabWorld::PodsAreReady, "starting the Pods");
  if (status.ok()) status = made->StartLoadBalancer();
  if (status.ok()) status = made->StartRival();
  if (status.ok() && made->options_.help != Help::kNone) status = made->StartController();
  if (!status.ok()) return status;
  return made;
}

absl::Status LabWorld::WaitFor(bool (LabWorld::*condition)(), const char* what) {
  const absl::Time end = Now() + kPatience;
  while (!(this->*condition)()) {
    if (const absl::Status status = Act(); !status.ok()) return status;
    if (Now() > end) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, " took longer than ", absl::FormatDuration(kPatience)));
    }
    base::RealClock().SleepFor(kPoll);
  }
  return absl::OkStatus();
}

absl::Status LabWorld::StartFakes() {
  const absl::Duration shutdown = Short(ShutdownOf(options_.application));
  PodProcessOptions pods;
  pods.folder = options_.folder;
  pods.server = options_.programs.pod_server;
  pods.mode = ModeOf(options_.application);
  pods.shutdown = shutdown;
  pods.network = options_.network;
  const bool sleeps = options_.application == Application::kPreStop ||
                      options_.application == Application::kConnectionClose;
  if (sleeps && !HasBarrier(options_.help)) {
    pods.pre_stop = {"/bin/sleep", absl::StrCat(absl::ToDoubleSeconds(Short(kPreStopSleep)))};
  }
  pods_ = std::make_unique<Pods>(pods);
  FakeClusterOptions cluster;
  cluster.server.seed = options_.seed;
  cluster.controllers.seed = options_.seed;
  KubeletOptions& kubelet = cluster.controllers.kubelet;
  kubelet.startup = Short(kubelet.startup);
  kubelet.ready_after = Short(kubelet.ready_after);
  kubelet.shutdown = shutdown;
  auto started = FakeCluster::Start(cluster, base::RealClock());
  if (!started.ok()) return started.status();
  cluster_ = *std::move(started);
  return ApplyManifests();
}

absl::Status LabWorld::ApplyManifests() {
  LabManifestOptions options;
  options.replicas = options_.replicas;
  options.max_surge = options_.max_surge;
  options.grace_seconds = WholeSeconds(Short(kGrace));
  options.shutdown_seconds = WholeSeconds(Short(kShutdown));
  options.opted_in = options_.help != Help::kNone;
  options.gate = options_.help == Help::kBarrierAndGate;
  const auto manifests = LabManifests(options);
  if (!manifests.ok()) return manifests.status();
  return cluster_->With([&](FakeApiServer& server, Controllers& controllers) {
    controllers.kubelet().OnPodEvent([this](const PodEvent& event) { pods_->OnPodEvent(event); });
    controllers.kubelet().SetPreStopHooks(pods_.get());
    absl::Status status;
    for (const JsonTree& object : *manifests) {
      status.Update(ToStatus(server.ApplyManifest(object, Now()), object["kind"].AsString()));
    }
    return status;
  });
}

std::vector<std::string> LabWorld::ReadyBackends() {
  std::vector<std::string> backends;
  cluster_->With([&](FakeApiServer& server, Controllers&) {
    for (const KubeObject& pod : server.store().List(resources::Pods(), kLabNamespace)) {
      const std::string& ip = (*pod)["status"]["podIP"].AsString();
      if (ip.empty() || !IsConditionTrue(*pod, "ContainersReady") || !pods_->Serves(ip)) continue;
      backends.push_back(absl::StrCat(ip, ":", kLabPort));
    }
  });
  return backends;
}

bool LabWorld::PodsAreReady() {
  return static_cast<int>(ReadyBackends().size()) == options_.replicas;
}

absl::Status LabWorld::StartLoadBalancer() {
  auto haproxy = Haproxy::Start({.folder = options_.folder, .slots = 200});
  if (!haproxy.ok()) return haproxy.status();
  haproxy_ = *std::move(haproxy);
  FakeLoadBalancerOptions options;
  options.min_service_time = Short(kWorkRequestMin);
  options.max_service_time = Short(kWorkRequestMax);
  options.health_check_interval = Short(kHealthInterval);
  options.seed = options_.seed;
  auto server = FakeLoadBalancerServer::Start(options, base::RealClock());
  if (!server.ok()) return server.status();
  load_balancer_ = *std::move(server);
  const OciUser user;
  absl::Status status =
      load_balancer_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
        core.SetServing([this](const std::string& ip, int) { return pods_->Serves(ip); });
        absl::Status added = core.AddLoadBalancer(
            MakeLoadBalancerJson(kLabLoadBalancer, {{backend_set_, ReadyBackends()}}), Now());
        added.Update(user.AddTo(http.keys(), kController));
        return added;
      });
  status.Update(user.WriteConfig(options_.folder));
  status.Update(
      WriteFile(options_.folder + "/kubeconfig", MakeKubeconfig({.server = cluster_->url()})));
  if (status.ok()) status = Act();
  return status;
}

absl::Status LabWorld::StartRival() {
  auto kube = http::MakeCpprestTransport({.base_url = cluster_->url()});
  if (!kube.ok()) return kube.status();
  rival_kube_ = *std::move(kube);
  rival_oci_ = load_balancer_->TrustedTransport(kRival);
  rival_world_ = std::make_unique<KubeRivalWorld>(*rival_kube_);
  RivalOptions rival;
  // The controller knows how long the ingress controller keeps its copy; where the two work
  // together that time is as it is.
  if (options_.help == Help::kNone) {
    rival.tick = Short(rival.tick);
    rival.cache_age = Short(rival.cache_age);
    rival.poll = Short(rival.poll);
  }
  rival.seed = options_.seed;
  base::Random random(options_.seed);
  rival.first_copy_age = random.Fraction() * rival.cache_age;
  rival_ = std::make_unique<RivalThread>(rival, *rival_world_, *rival_oci_);
  return absl::OkStatus();
}

absl::Status LabWorld::StartController() {
  const std::string look = absl::FormatDuration(Short(absl::Seconds(2)));
  const std::string poll = absl::FormatDuration(Short(absl::Seconds(1)));
  auto child = ChildProcess::Start(
      {options_.programs.controller, absl::StrCat("--kubeconfig=", options_.folder, "/kubeconfig"),
       absl::StrCat("--oci_config_file=", options_.folder, "/config"), "--barrier_port=0",
       "--health_port=0", "--barrier_address=127.0.0.1",
       absl::StrCat("--oci_endpoint=", load_balancer_->url()), "--namespace=oci-backend-drain",
       "--active_poll=" + look, "--work_request_poll=" + poll,
       absl::StrCat("--oci_qps=", 10 * options_.factor),
       absl::StrCat("--oci_burst=", std::lround(20 * options_.factor)),
       options_.help == Help::kBarrierAndGate ? "--pod_conditions=both" : "--pod_conditions=none"},
      options_.folder + "/controller.log");
  if (!child.ok()) return child.status();
  controller_ = *std::move(child);
  absl::Status status = WaitFor(&LabWorld::ControllerHasRead, "the controller's first look");
  if (status.ok() && options_.help == Help::kBarrierAndGate) {
    status = WaitFor(&LabWorld::GatesAreTrue, "opening the first readiness gates");
  }
  if (!status.ok() || !HasBarrier(options_.help)) return status;
  status = WaitFor(&LabWorld::BarrierListens, "the drain barrier");
  const absl::Duration linger = Short(kLinger);
  const absl::Duration timeout =
      absl::Seconds(WholeSeconds(Short(kGrace)) - WholeSeconds(Short(kShutdown))) - linger;
  pods_->SetPreStop(
      {options_.programs.drain_wait, absl::StrCat("--address=127.0.0.1:", barrier_port_),
       "--timeout=" + absl::FormatDuration(timeout), "--linger=" + absl::FormatDuration(linger)});
  if (options_.faults) AddFaults();
  return status;
}

bool LabWorld::ControllerHasRead() {
  return load_balancer_->With([](FakeLoadBalancer&, FakeLoadBalancerHttp& http) {
    return http.answers().contains({kController, 200});
  });
}

bool LabWorld::GatesAreTrue() {
  return cluster_->With([&](FakeApiServer& server, Controllers&) {
    const auto pods = server.store().List(resources::Pods(), kLabNamespace);
    return std::all_of(pods.begin(), pods.end(),
                       [](const KubeObject& pod) { return IsPodReady(*pod); });
  });
}

bool LabWorld::BarrierListens() {
  constexpr absl::string_view kWords = "drain barrier on port ";
  const auto log = ReadFile(options_.folder + "/controller.log");
  if (!log.ok()) return false;
  const size_t at = absl::string_view(*log).find(kWords);
  if (at == std::string::npos) return false;
  const size_t begin = at + kWords.size();
  const size_t end = log->find_first_not_of("0123456789", begin);
  return end != std::string::npos &&
         absl::SimpleAtoi(log->substr(begin, end - begin), &barrier_port_);
}

void LabWorld::AddFaults() {
  const auto one_in = [random = std::make_shared<base::Random>(options_.seed)](int of) {
    return random->Between(1, of) == 1;
  };
  load_balancer_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    const auto add = [&](int of, RequestFault fault) {
      fault.matches = [one_in, of](const RequestRecord& record) {
        return record.client == kController && one_in(of);
      };
      fault.times = std::numeric_limits<int>::max();
      http.faults().Add(std::move(fault));
    };
    add(20, {.answer = ErrorResponse(503, "ServiceUnavailable")});
    add(50, {.answer = TooManyRequests(absl::Seconds(1))});
    add(50, {.damage = Damage::kLoseReply});
    WorkFault work;
    work.matches = [one_in](const WriteRecord&) { return one_in(20); };
    work.times = std::numeric_limits<int>::max();
    core.AddWorkFault(std::move(work));
  });
}

absl::Status LabWorld::StartRollout() {
  ++generation_;
  marks_.push_back({Now(), probe::MarkKind::kRollout, ""});
  return cluster_->With([&](FakeApiServer& server, Controllers&) -> absl::Status {
    const KubeAnswer answer =
        server.Handle({.method = "PATCH",
                       .target = absl::StrCat("/apis/apps/v1/namespaces/", kLabNamespace,
                                              "/deployments/", kLabName),
                       .headers = {{"Content-Type", "application/strategic-merge-patch+json"},
                                   {"User-Agent", "kubectl"}},
                       .body = LabImagePatch(generation_).Dump()},
                      Now());
    if (answer.response.status == 200) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("Deployment: ", answer.response.body));
  });
}

// A backend as the control plane has it.
ServerState LabWorld::StateOf(const rapidjson::Value& backend) {
  if (base::ReadBool(backend, "offline").value_or(false)) return ServerState::kMaint;
  return base::ReadBool(backend, "drain").value_or(false) ? ServerState::kDrain
                                                          : ServerState::kReady;
}

absl::Status LabWorld::SyncHaproxy(absl::Time now) {
  std::map<std::string, ServerState> applied;  // by Pod's address
  const bool changed = load_balancer_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp&) {
    core.Advance(now);
    const int64_t version = core.StateVersion(kLabLoadBalancer);
    if (std::exchange(synced_version_, version) == version && !pending_) return false;
    const rapidjson::Value* set = FindBackendSet(*core.Applied(kLabLoadBalancer), backend_set_);
    const rapidjson::Value* list = set == nullptr ? nullptr : base::FindMember(*set, "backends");
    if (list == nullptr || !list->IsArray()) return true;
    for (const rapidjson::Value& backend : list->GetArray()) {
      applied[IpOf(base::ReadString(backend, "name").value_or(""))] = StateOf(backend);
    }
    return true;
  });
  if (!changed) return absl::OkStatus();
  pending_ = false;
  std::map<std::string, ServerState> servers;
  for (const auto& [ip, state] : applied) {
    const std::string endpoint = pods_->EndpointOf(ip);
    endpoint.empty() ? void(pending_ = true) : void(servers[endpoint] = state);
    const auto before = applied_.find(ip);
    const bool routable_before = before != applied_.end() && before->second == ServerState::kReady;
    if (state != ServerState::kReady && routable_before) {
      marks_.push_back({now, probe::MarkKind::kDrained, pods_->NameOf(ip)});
    }
  }
  for (const auto& [ip, state] : applied_) {
    if (state == ServerState::kReady && !applied.contains(ip)) {
      marks_.push_back({now, probe::MarkKind::kDrained, pods_->NameOf(ip)});
    }
  }
  applied_ = std::move(applied);
  return haproxy_->Apply(servers);
}

absl::Status LabWorld::Act() {
  const absl::Time now = Now();
  const auto ended_hooks = pods_->Act(now);
  if (!ended_hooks.ok()) return ended_hooks.status();
  if (!ended_hooks->empty()) {
    cluster_->With([&](FakeApiServer&, Controllers& controllers) {
      for (const std::string& uid : *ended_hooks) controllers.kubelet().EndPreStop(uid, now);
    });
  }
  for (probe::Mark& mark : pods_->TakeMarks()) marks_.push_back(std::move(mark));
  if (controller_ != nullptr && !controller_->running()) {
    return absl::UnavailableError(absl::StrCat("the controller has ended: ", controller_->Ending(),
                                               "; its log is ", options_.folder,
                                               "/controller.log"));
  }
  return haproxy_ == nullptr || load_balancer_ == nullptr ? absl::OkStatus() : SyncHaproxy(now);
}

void LabWorld::WriteLogs() {
  std::ofstream requests(options_.folder + "/requests.jsonl");
  std::ofstream writes(options_.folder + "/writes.jsonl");
  std::ofstream marks(options_.folder + "/marks.jsonl");
  for (const probe::Mark& mark : marks_) marks << probe::FormatMark(mark);
  load_balancer_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    for (const RequestRecord& record : http.requests()) requests << RequestLogLine(record) << "\n";
    for (const WriteRecord& record : core.writes()) writes << WriteLogLine(record) << "\n";
  });
}

bool LabWorld::RolloutIsOver() {
  std::set<std::string> wanted;
  const bool replaced = cluster_->With([&](FakeApiServer& server, Controllers&) {
    const auto pods = server.store().List(resources::Pods(), kLabNamespace);
    for (const KubeObject& pod : pods) {
      const JsonTree& container = (*pod)["spec"]["containers"].items().front();
      if (container["image"].AsString() != LabImage(generation_) || !IsPodReady(*pod)) return false;
      wanted.insert((*pod)["status"]["podIP"].AsString());
    }
    return static_cast<int>(pods.size()) == options_.replicas;
  });
  if (!replaced) return false;
  size_t routable = 0;
  for (const auto& [ip, state] : applied_) {
    if (state != ServerState::kReady) continue;
    if (!wanted.contains(ip)) return false;
    ++routable;
  }
  return routable == wanted.size();
}

}  // namespace sim
