#include "bench/world.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "oci/backend_set_name.h"
#include "sim/certificates.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_log.h"
#include "sim/load_balancer_document.h"
#include "sim/oci_user.h"
#include "sim/yaml_manifests.h"

namespace bench {
namespace {

constexpr char kManifests[] = "testdata/demo";
constexpr char kNamespace[] = "demo";
constexpr char kService[] = "web-ingress";
constexpr int kServicePort = 80;
constexpr int kBackendPort = 8080;
constexpr char kLoadBalancer[] = "ocid1.loadbalancer.oc1.iad.demo";
constexpr char kLedgerNamespace[] = "oci-backend-drain";
constexpr absl::Duration kStartPatience = absl::Seconds(30);
constexpr size_t kLogTail = 2000;

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("cannot write ", path));
}

// Pods that start and end at once; the rest is the example's.
void ShortenLives(int replicas, sim::JsonTree& manifest) {
  if (manifest["kind"].AsString() != "Deployment") return;
  sim::JsonTree& spec = manifest.Child("spec");
  spec.Set("replicas", replicas);
  sim::JsonTree& pod = spec.Child("template");
  pod.Child("metadata").Erase("annotations");
  for (sim::JsonTree& container : pod.Child("spec").Child("containers").MutableItems()) {
    container.Erase("lifecycle");
  }
}

sim::ServerTls MakeTls(std::string* ca_pem) {
  const sim::CertificateAndKey authority =
      sim::MakeCertificate({.common_name = "authority", .is_authority = true});
  const sim::CertificateAndKey own =
      sim::MakeCertificate({.common_name = "fake", .names = {"127.0.0.1"}}, &authority);
  *ca_pem = authority.certificate_pem;
  return {own.certificate_pem, own.key_pem};
}

}  // namespace

absl::StatusOr<std::unique_ptr<World>> World::Start(const WorldOptions& options) {
  std::unique_ptr<World> world(new World(options));
  absl::Status status = world->MakeFolder();
  if (status.ok()) status = world->StartCluster();
  if (status.ok()) status = world->StartLoadBalancer();
  if (status.ok()) status = world->StartController();
  if (!status.ok()) return status;
  return world;
}

World::~World() {
  replicas_.clear();
  controller_.reset();
  load_balancer_.reset();
  cluster_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

absl::Status World::MakeFolder() {
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error) / "oci-drain-bench-XXXXXX";
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return absl::UnavailableError("cannot make a temporary folder; set TMPDIR");
  }
  folder_ = pattern;
  return absl::OkStatus();
}

absl::Status World::StartCluster() {
  auto manifests = sim::ReadManifests(kManifests);
  if (!manifests.ok()) return manifests.status();
  base::Clock& clock = base::RealClock();
  sim::FakeClusterOptions options;
  options.controllers_run = false;
  options.controllers.seed = options.server.seed = options_.seed;
  sim::KubeletOptions& kubelet = options.controllers.kubelet;
  kubelet.startup = kubelet.ready_after = absl::ZeroDuration();
  kubelet.shutdown = kubelet.removal = absl::ZeroDuration();
  options.server.start = clock.Now();
  options.on_watch_written = [this](absl::Time before, absl::string_view bytes) {
    journal_.AddWatchBytes(before, bytes);
  };
  sim::KubeconfigOptions kubeconfig;
  if (options_.tls) options.socket.tls = MakeTls(&kubeconfig.ca_pem);
  auto cluster = sim::FakeCluster::Start(std::move(options), clock);
  if (!cluster.ok()) return cluster.status();
  cluster_ = *std::move(cluster);
  const auto fill = [&](sim::FakeApiServer& server, sim::Controllers& controllers) -> absl::Status {
    const absl::Time now = clock.Now();
    server.objects().Create(
        sim::resources::Namespaces(), "",
        sim::JsonTree::Object{{"metadata", sim::JsonTree::Object{{"name", kLedgerNamespace}}}},
        {"kubectl", now});
    for (sim::JsonTree& manifest : *manifests) {
      ShortenLives(options_.pods, manifest);
      const sim::KubeResult result = server.ApplyManifest(manifest, now);
      if (!result.ok()) return absl::InternalError(result.error->message);
    }
    controllers.Step(now);
    server.OnRequest([this](const sim::KubeRequestRecord& record) { journal_.AddKube(record); });
    return absl::OkStatus();
  };
  if (absl::Status filled = cluster_->With(fill); !filled.ok()) return filled;
  kubeconfig.server = cluster_->url();
  return WriteFile(File("kubeconfig"), sim::MakeKubeconfig(kubeconfig));
}

absl::Status World::StartLoadBalancer() {
  set_name_ = oci::GenerateBackendSetName(kNamespace, kService, kServicePort).value();
  std::vector<std::string> backends;
  for (const Pod& pod : LivePods()) backends.push_back(KeyOf(pod).backend.value());
  if (backends.size() != static_cast<size_t>(options_.pods)) {
    return absl::InternalError(absl::StrCat(backends.size(), " Pods started"));
  }
  sim::ServerOptions socket;
  std::string ca_pem;
  if (options_.tls) socket.tls = MakeTls(&ca_pem);
  sim::FakeLoadBalancerOptions options;
  options.seed = options_.seed;
  auto server = sim::FakeLoadBalancerServer::Start(options, base::RealClock(), std::move(socket));
  if (!server.ok()) return server.status();
  load_balancer_ = *std::move(server);
  const sim::OciUser user;
  const auto fill = [&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
    http.SetOnAnswered([this](const sim::RequestRecord& record) { journal_.AddOci(record); });
    absl::Status status = core.AddLoadBalancer(
        sim::MakeLoadBalancerJson(kLoadBalancer, {{set_name_, backends}}), base::RealClock().Now());
    status.Update(user.AddTo(http.keys(), "controller"));
    return status;
  };
  absl::Status status = load_balancer_->With(fill);
  status.Update(user.WriteConfig(folder_));
  status.Update(WriteFile(File("ca.pem"), ca_pem));
  return status;
}

absl::StatusOr<std::unique_ptr<sim::ChildProcess>> World::StartProcess(
    const std::string& log) const {
  std::vector<std::string> arguments = {options_.controller,
                                        "--kubeconfig=" + File("kubeconfig"),
                                        "--oci_config_file=" + File("config"),
                                        "--barrier_port=0",
                                        "--health_port=0",
                                        "--barrier_address=127.0.0.1",
                                        "--oci_endpoint=" + load_balancer_->url(),
                                        absl::StrCat("--namespace=", kLedgerNamespace)};
  if (options_.tls) arguments.push_back("--oci_ca_file=" + File("ca.pem"));
  arguments.insert(arguments.end(), options_.controller_flags.begin(),
                   options_.controller_flags.end());
  return sim::ChildProcess::Start(arguments, log);
}

absl::Status World::StartController() {
  auto child = StartProcess(File("log"));
  if (!child.ok()) return child.status();
  controller_ = *std::move(child);
  const bool has_read = journal_.Await(
      [](const std::vector<Entry>& entries) {
        return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
          return entry.kind == Entry::Kind::kGetLoadBalancer;
        });
      },
      kStartPatience);
  if (has_read) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the controller did not read the load balancer; it said:\n", LogTail()));
}

absl::Status World::AddReplica() {
  const auto watches = [](const std::vector<Entry>& entries) {
    return std::count_if(entries.begin(), entries.end(), [](const Entry& entry) {
      return absl::StrContains(entry.target, "watch=1");
    });
  };
  // Seven of the cluster, one of the Pods of the Service's namespace, and the Lease.
  constexpr int kWatches = 9;
  const auto before = watches(journal_.entries());
  auto child = StartProcess(File(absl::StrCat("log-", replicas_.size())));
  if (!child.ok()) return child.status();
  replicas_.push_back(*std::move(child));
  if (journal_.Await([&](const auto& entries) { return watches(entries) >= before + kWatches; },
                     kStartPatience)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("a replica did not come to watch everything");
}

std::vector<Pod> World::LivePods() {
  return cluster_->With([](sim::FakeApiServer& server, sim::Controllers&) {
    std::vector<Pod> pods;
    for (const sim::KubeObject& pod : server.store().List(sim::resources::Pods(), kNamespace)) {
      if (!sim::IsPodActive(*pod)) continue;
      pods.push_back({sim::NameOf(*pod), sim::UidOf(*pod), (*pod)["status"]["podIP"].AsString()});
    }
    return pods;
  });
}

void World::Delete(const Pod& pod) {
  cluster_->With([&](sim::FakeApiServer& server, sim::Controllers&) {
    const absl::Time now = base::RealClock().Now();
    server.objects().Delete({&sim::resources::Pods(), kNamespace, pod.name}, {}, now);
    server.Advance(now);
  });
}

void World::LetClusterSettle() {
  cluster_->With([](sim::FakeApiServer&, sim::Controllers& controllers) {
    controllers.Step(base::RealClock().Now());
  });
}

drain::BackendKey World::KeyOf(const Pod& pod) const {
  return {oci::BackendSetName(set_name_), oci::MakeBackendName(pod.ip, kBackendPort)};
}

int World::HealthPort() const {
  constexpr absl::string_view kBefore = "probes on port ";
  const std::string log = base::ReadFile(File("log")).value_or("");
  const size_t at = log.find(std::string(kBefore));
  if (at == std::string::npos) return 0;
  const size_t from = at + kBefore.size();
  int port = 0;
  return absl::SimpleAtoi(log.substr(from, log.find_first_not_of("0123456789", from) - from), &port)
             ? port
             : 0;
}

std::string World::LogTail() const {
  const absl::StatusOr<std::string> log = base::ReadFile(File("log"));
  if (!log.ok()) return std::string(log.status().message());
  return log->size() <= kLogTail ? *log : log->substr(log->size() - kLogTail);
}

}  // namespace bench
