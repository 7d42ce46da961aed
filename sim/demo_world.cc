#include "sim/demo_world.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "http/cpprest_transport.h"
#include "sim/json_log.h"
#include "sim/kube_log.h"
#include "sim/load_balancer_document.h"
#include "sim/oci_user.h"

namespace sim {
namespace {

constexpr char kNamespace[] = "oci-backend-drain";
constexpr char kCarryAnnotation[] = "oci-native-ingress.oraclecloud.com/backend-drain-carry";
constexpr absl::Duration kLedgerInterval = absl::Milliseconds(50);

absl::Time Now() { return base::RealClock().Now(); }

absl::Status ToStatus(const KubeResult& result, absl::string_view what) {
  if (result.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", result.error->message));
}

const KubeResource& ConfigMaps() { return *FindKubeResource("", "v1", "configmaps"); }

}  // namespace

DemoWorld::DemoWorld(const DemoOptions& options, DemoWorldOptions world)
    : options_(options), world_(std::move(world)), recorder_([this] {
        std::vector<DemoService> services;
        for (const DemoManifests& each : world_.manifests) services.push_back(each.service);
        return services;
      }()) {}

absl::StatusOr<std::unique_ptr<DemoWorld>> DemoWorld::Start(const DemoOptions& options,
                                                            DemoWorldOptions world) {
  std::unique_ptr<DemoWorld> made(new DemoWorld(options, std::move(world)));
  FakeClusterOptions cluster_options;
  cluster_options.server.seed = options.seed;
  cluster_options.controllers.seed = options.seed;
  auto cluster = FakeCluster::Start(cluster_options, base::RealClock());
  if (!cluster.ok()) return cluster.status();
  made->cluster_ = *std::move(cluster);
  FakeLoadBalancerOptions load_balancer_options;
  load_balancer_options.min_service_time = options.service_time.min;
  load_balancer_options.max_service_time = options.service_time.max;
  load_balancer_options.etag_moves = options.etag;
  load_balancer_options.seed = options.seed;
  auto load_balancer = FakeLoadBalancerServer::Start(load_balancer_options, base::RealClock());
  if (!load_balancer.ok()) return load_balancer.status();
  made->load_balancer_ = *std::move(load_balancer);
  absl::Status status = made->ApplyManifests();
  if (status.ok()) status = made->WriteConfiguration();
  if (!status.ok()) return status;
  return made;
}

DemoWorld::~DemoWorld() { Stop(); }

absl::Status DemoWorld::ApplyManifests() {
  return cluster_->With([&](FakeApiServer& server, Controllers& controllers) {
    controllers.kubelet().OnPodEvent(
        [this](const PodEvent& event) { recorder_.OnPodEvent(event); });
    const JsonTree ns = JsonTree::Object{{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"metadata", JsonTree::Object{{"name", kNamespace}}}};
    absl::Status status = ToStatus(server.ApplyManifest(ns, Now()), kNamespace);
    for (const DemoManifests& manifests : world_.manifests) {
      for (JsonTree object : manifests.objects) {
        const std::string kind = object["kind"].AsString();
        if (world_.carry_all && kind == "IngressClass") {
          object.Child("metadata").Child("annotations").Set(kCarryAnnotation, "all");
        }
        status.Update(ToStatus(server.ApplyManifest(object, Now()),
                               absl::StrCat(kind, " ", object["metadata"]["name"].AsString())));
      }
    }
    return status;
  });
}

absl::Status DemoWorld::WriteConfiguration() {
  const OciUser user;
  absl::Status status = load_balancer_->With([&](FakeLoadBalancer&, FakeLoadBalancerHttp& http) {
    http.SetOnAnswered([this](const RequestRecord& record) { recorder_.OnRequest(record); });
    return user.AddTo(http.keys(), kDemoController);
  });
  status.Update(user.WriteConfig(world_.folder));
  status.Update(
      WriteFile(world_.folder + "/kubeconfig", MakeKubeconfig({.server = cluster_->url()})));
  return status;
}

bool DemoWorld::PodsAreReady() const {
  return std::all_of(world_.manifests.begin(), world_.manifests.end(),
                     [&](const DemoManifests& each) {
                       return static_cast<int>(recorder_.ReadyBackends(each.service).size()) ==
                              each.service.replicas;
                     });
}

absl::Status DemoWorld::Connect() {
  std::map<std::string, std::vector<std::string>> sets;
  for (const DemoManifests& each : world_.manifests) {
    sets[each.service.backend_set] = recorder_.ReadyBackends(each.service);
  }
  const absl::Status status = load_balancer_->With([&](FakeLoadBalancer& core,
                                                       FakeLoadBalancerHttp&) {
    core.SetServing([this](const std::string& ip, int port) { return recorder_.Serves(ip, port); });
    core.SetOnFinished([this, &core](const WriteRecord& record) {
      recorder_.OnWriteFinished(record, *core.Applied(world_.load_balancer));
    });
    const absl::Time now = Now();
    const absl::Status added =
        core.AddLoadBalancer(MakeLoadBalancerJson(world_.load_balancer, sets), now);
    if (added.ok()) recorder_.OnStart(*core.Applied(world_.load_balancer), now);
    return added;
  });
  return status.ok() ? StartRival() : status;
}

absl::Status DemoWorld::StartRival() {
  auto kube = http::MakeCpprestTransport({.base_url = cluster_->url()});
  if (!kube.ok()) return kube.status();
  rival_kube_ = *std::move(kube);
  rival_oci_ = load_balancer_->TrustedTransport(kDemoRival);
  rival_world_ = std::make_unique<KubeRivalWorld>(*rival_kube_);
  RivalOptions rival;
  rival.variant = options_.rival;
  rival.seed = options_.seed;
  base::Random random(options_.seed);
  rival.first_copy_age = random.Fraction() * rival.cache_age;
  rival_ = std::make_unique<RivalThread>(rival, *rival_world_, *rival_oci_);
  return absl::OkStatus();
}

std::string DemoWorld::controller_log() const { return world_.folder + "/controller.log"; }

absl::Status DemoWorld::StartController(const std::string& program) {
  auto child =
      ChildProcess::Start({program, absl::StrCat("--kubeconfig=", world_.folder, "/kubeconfig"),
                           absl::StrCat("--oci_config_file=", world_.folder, "/config"),
                           "--barrier_port=0", "--health_port=0", "--barrier_address=127.0.0.1",
                           absl::StrCat("--oci_endpoint=", load_balancer_->url()),
                           absl::StrCat("--namespace=", kNamespace)},
                          controller_log());
  if (!child.ok()) return child.status();
  controller_ = *std::move(child);
  return absl::OkStatus();
}

bool DemoWorld::ControllerHasRead() {
  return load_balancer_->With([](FakeLoadBalancer&, FakeLoadBalancerHttp& http) {
    return http.answers().contains({kDemoController, 200});
  });
}

bool DemoWorld::ControllerIsRunning() { return controller_ == nullptr || controller_->running(); }

absl::Status DemoWorld::StartRollout() {
  return cluster_->With([&](FakeApiServer& server, Controllers&) -> absl::Status {
    const absl::Time now = Now();
    recorder_.Trigger(now);
    for (const DemoManifests& each : world_.manifests) {
      const KubeAnswer answer =
          server.Handle({.method = "PATCH",
                         .target = absl::StrCat("/apis/apps/v1/namespaces/", each.service.ns,
                                                "/deployments/", each.service.deployment),
                         .headers = {{"Content-Type", "application/strategic-merge-patch+json"},
                                     {"User-Agent", "kubectl"}},
                         .body = NewImagePatch(each).Dump()},
                        now);
      if (answer.response.status != 200) {
        return absl::InvalidArgumentError(
            absl::StrCat("Deployment ", each.service.deployment, ": ", answer.response.body));
      }
    }
    return absl::OkStatus();
  });
}

void DemoWorld::Look(absl::Time now) {
  load_balancer_->With([now](FakeLoadBalancer& core, FakeLoadBalancerHttp&) { core.Advance(now); });
  if (controller_ != nullptr && now - ledger_read_ >= kLedgerInterval) ReadLedger(now);
  const int64_t pod_events = recorder_.pod_events();
  if (std::exchange(pod_events_seen_, pod_events) != pod_events && rival_ != nullptr) {
    rival_->Notify();
  }
}

// What the controller has confirmed, from the ConfigMap that it keeps for itself.
void DemoWorld::ReadLedger(absl::Time now) {
  ledger_read_ = now;
  const std::vector<KubeObject> maps = cluster_->With([](FakeApiServer& server, Controllers&) {
    return server.store().List(ConfigMaps(), kNamespace);
  });
  for (const KubeObject& map : maps) {
    const std::string& version = (*map)["metadata"]["resourceVersion"].AsString();
    const auto ledger = JsonTree::Parse((*map)["data"]["ledger"].AsString(), "ledger");
    if (!ledger.ok() || version == ledger_seen_) continue;
    ledger_seen_ = version;
    std::vector<std::string> confirmed;
    for (const JsonTree& entry : (*ledger)["entries"].items()) {
      if (entry["confirmed"].AsBool()) confirmed.push_back(entry["podUid"].AsString());
    }
    recorder_.OnConfirmed(confirmed, now);
  }
}

bool DemoWorld::WritesAreDone() {
  return load_balancer_->With(
      [](FakeLoadBalancer& core, FakeLoadBalancerHttp&) { return core.Idle(); });
}

void DemoWorld::Stop() {
  if (controller_ != nullptr) {
    controller_peak_mb_ = std::max(controller_peak_mb_, controller_->PeakMegabytes());
    controller_->Stop();
  }
  rival_.reset();
}

void DemoWorld::CountOurs(WriteFigures& figures, std::vector<std::string>& faults) {
  const auto log = ReadFile(controller_log());
  if (!log.ok()) {
    faults.push_back(std::string(log.status().message()));
    return;
  }
  std::set<std::string> logged;
  for (const LoggedWrite& write : ParseLoggedWrites(*log)) {
    ++(write.carries_wave ? figures.writes_accepted : figures.writes_corrective);
    figures.waves = std::max(figures.waves, write.waves);
    logged.insert(write.work_request);
  }
  const std::set<std::string> accepted =
      load_balancer_->With([](FakeLoadBalancer& core, FakeLoadBalancerHttp&) {
        std::set<std::string> ids;
        for (const WriteRecord& record : core.writes()) {
          if (record.client == kDemoController) ids.insert(record.work_request_id);
        }
        return ids;
      });
  if (logged != accepted) {
    faults.push_back(absl::StrCat("the controller logged ", logged.size(),
                                  " accepted writes, the load balancer accepted ", accepted.size(),
                                  " of it, and they are not the same"));
  }
}

void DemoWorld::WriteLogs() {
  std::ofstream requests(world_.folder + "/requests.jsonl");
  std::ofstream writes(world_.folder + "/writes.jsonl");
  load_balancer_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    for (const RequestRecord& record : http.requests()) requests << RequestLogLine(record) << "\n";
    for (const WriteRecord& record : core.writes()) writes << WriteLogLine(record) << "\n";
  });
}

WriteFigures DemoWorld::CountWrites(std::vector<std::string>& faults) {
  WriteFigures figures;
  load_balancer_->With([&figures](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    absl::Duration total;
    absl::Time free = absl::InfinitePast();
    int done = 0;
    for (const WriteRecord& record : core.writes()) {
      ++figures.work_requests;
      if (record.client == kDemoRival) ++figures.rival_writes;
      if (!record.done()) continue;
      // One at a time: the wait for the one before is not its own.
      const absl::Duration took = record.finished - std::max(record.accepted, free);
      total += took;
      figures.longest_work_request = std::max(figures.longest_work_request, took);
      free = record.finished;
      ++done;
    }
    if (done > 0) figures.mean_work_request = total / done;
    for (const auto& [key, count] : http.answers()) {
      if (key.second != 412) continue;
      (key.first == kDemoRival ? figures.rival_conflicts_412 : figures.conflicts_412) +=
          static_cast<int>(count);
    }
  });
  if (controller_ != nullptr) CountOurs(figures, faults);
  return figures;
}

}  // namespace sim
