#include "sim/controller_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "controller/ledger_store.h"
#include "glog/logging.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/backend_set_name.h"
#include "oci/rest_load_balancer_api.h"
#include "sim/kube_log.h"
#include "sim/load_balancer_document.h"
#include "sim/oci_user.h"
#include "sim/program.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

// Bounds a failure; a machine under a sanitizer and full load is slow.
constexpr absl::Duration kPatience = absl::Minutes(1);
// Time itself can make a wait come true: a work request ends.
constexpr std::chrono::milliseconds kLookAgain{20};
constexpr size_t kShownLogLines = 60;

const OciUser& User() {
  static const OciUser* const user = new OciUser;
  return *user;
}

std::string NewFolder() {
  std::string pattern = testing::TempDir() + "/worldXXXXXX";
  const char* const made = mkdtemp(pattern.data());
  CHECK(made != nullptr) << pattern;
  return pattern;
}

FakeClusterOptions Quick(FakeClusterOptions options) {
  options.controllers.kubelet.startup = absl::Milliseconds(1);
  options.controllers.kubelet.ready_after = absl::Milliseconds(1);
  return options;
}

}  // namespace

bool WorldCall::is_ledger_write() const {
  return to == To::kKube && (method == "PUT" || method == "POST") &&
         absl::StrContains(target, "/configmaps");
}

controller::Settings QuickSettings() {
  controller::Settings settings;
  settings.ns = kWorldNamespace;
  settings.plan.coalesce_window = absl::ZeroDuration();
  settings.plan.active_poll = absl::Milliseconds(20);
  settings.plan.idle_poll = absl::Milliseconds(50);
  settings.plan.work_request_poll = absl::Milliseconds(5);
  settings.plan.health_poll = absl::Milliseconds(20);
  settings.plan.lookup_retry = absl::Milliseconds(20);
  settings.plan.ledger_patience = absl::Milliseconds(300);
  settings.oci_qps = 100'000;
  settings.oci_burst = 100'000;
  settings.workers = 2;
  return settings;
}

class ControllerWorld::Sink final : public google::LogSink {
 public:
  explicit Sink(ControllerWorld& world) : world_(world) { google::AddLogSink(this); }
  ~Sink() override { google::RemoveLogSink(this); }

  void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&,
            const char* message, size_t length) override {
    {
      std::lock_guard<std::mutex> lock(world_.mutex_);
      world_.log_.emplace_back(message, length);
    }
    world_.Wake();
  }

 private:
  ControllerWorld& world_;
};

ControllerWorld::ControllerWorld(ControllerWorldOptions options)
    : options_(std::move(options)), folder_(NewFolder()), sink_(std::make_unique<Sink>(*this)) {
  auto oci = FakeLoadBalancerServer::Start(options_.load_balancer, base::RealClock(),
                                           {.tls = options_.load_balancer_tls});
  CHECK_EQ(oci.status(), absl::OkStatus());
  oci_ = *std::move(oci);
  oci_->With([this](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    CHECK_EQ(User().AddTo(http.keys(), "controller"), absl::OkStatus());
    core.SetOnFinished([this](const WriteRecord&) { Wake(); });
    http.SetOnAnswered([this](const RequestRecord& record) {
      const http::Request& request = record.request;
      Record({.to = WorldCall::To::kOci,
              .time = record.time,
              .method = request.method,
              .target = request.target,
              .body = request.body,
              .if_match = std::string(http::FindHeader(request.headers, "if-match")),
              .retry_token = std::string(http::FindHeader(request.headers, "opc-retry-token")),
              .status = record.status});
    });
  });
  auto cluster = FakeCluster::Start(Quick(options_.cluster), base::RealClock());
  CHECK_EQ(cluster.status(), absl::OkStatus());
  cluster_ = *std::move(cluster);
  cluster_->With([this](FakeApiServer& server, Controllers& controllers) {
    server.OnRequest([this](const KubeRequestRecord& record) {
      Record({.to = WorldCall::To::kKube,
              .time = record.time,
              .method = record.method,
              .target = record.target,
              .body = record.body,
              .status = record.status});
    });
    controllers.kubelet().OnPodEvent([this](const PodEvent&) { Wake(); });
  });
  Apply(absl::StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", kWorldNamespace, "}\n"));
}

ControllerWorld::~ControllerWorld() {
  StopController();
  // Nobody calls back any more once these are gone.
  cluster_.reset();
  oci_.reset();
  sink_.reset();
}

void ControllerWorld::Wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

void ControllerWorld::Record(WorldCall call) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(std::move(call));
  }
  Wake();
}

void ControllerWorld::Apply(absl::string_view yaml) {
  const auto manifests = ParseManifests(yaml, "test");
  ASSERT_TRUE(manifests.ok()) << manifests.status();
  cluster_->With([&](FakeApiServer& server, Controllers&) {
    for (const JsonTree& manifest : *manifests) {
      const KubeResult result = server.ApplyManifest(manifest, base::RealClock().Now());
      EXPECT_TRUE(result.ok()) << result.error->message;
    }
  });
}

void ControllerWorld::AddClass(const std::string& name, const std::string& load_balancer) {
  Apply(
      absl::Substitute("apiVersion: networking.k8s.io/v1\n"
                       "kind: IngressClass\n"
                       "metadata:\n"
                       "  name: $0\n"
                       "  annotations: {oci-native-ingress.oraclecloud.com/id: $1}\n"
                       "spec: {controller: oci.oraclecloud.com/native-ingress-controller}\n",
                       name, load_balancer));
}

WorldService ControllerWorld::AddService(const WorldService& service) {
  Apply(ServiceYaml(service));
  if (service.has_ingress) Apply(IngressYaml(service));
  for (int i = 0; i < service.pods; ++i) AddPod(service, absl::StrCat(service.name, "-", i));
  return service;
}

void ControllerWorld::AddPod(const WorldService& service, const std::string& pod) {
  Apply(PodYaml(service, pod));
  Await(absl::StrCat("Pod ", pod, " has an address"),
        [&] { return !BackendOf(service, pod).empty(); });
}

void ControllerWorld::DeletePod(const WorldService& service, const std::string& pod) {
  cluster_->With([&](FakeApiServer& server, Controllers&) {
    const KubeResult result =
        server.objects().Delete({&resources::Pods(), service.ns, pod}, {}, base::RealClock().Now());
    EXPECT_TRUE(result.ok()) << result.error->message;
  });
}

void ControllerWorld::KillPod(const WorldService& service, const std::string& pod) {
  cluster_->With([&](FakeApiServer& server, Controllers&) {
    const KubeResult result = server.objects().Delete(
        {&resources::Pods(), service.ns, pod}, {.grace_seconds = 0}, base::RealClock().Now());
    EXPECT_TRUE(result.ok()) << result.error->message;
  });
}

void ControllerWorld::Annotate(const KubeObjectRef& object, const std::string& key,
                               std::optional<std::string> value) {
  cluster_->With([&](FakeApiServer& server, Controllers&) {
    const KubeResult result =
        server.objects().Modify(object, {"kubectl", base::RealClock().Now()}, [&](JsonTree& tree) {
          JsonTree& annotations = tree.Child("metadata").Child("annotations");
          if (value.has_value()) {
            annotations.Set(key, *value);
          } else {
            annotations.Erase(key);
          }
        });
    EXPECT_TRUE(result.ok()) << result.error->message;
  });
}

KubeObjectRef ControllerWorld::ClassRef(const std::string& name) const {
  return {FindKubeKind("networking.k8s.io/v1", "IngressClass"), "", name};
}

KubeObjectRef ControllerWorld::ServiceRef(const WorldService& service) const {
  return {&resources::Services(), service.ns, service.name};
}

JsonTree ControllerWorld::Find(const KubeObjectRef& object) {
  return cluster_->With([&](FakeApiServer& server, Controllers&) {
    const KubeObject found = server.store().Find(object);
    return found == nullptr ? JsonTree() : *found;
  });
}

std::string ControllerWorld::BackendOf(const WorldService& service, const std::string& pod) {
  const JsonTree found = Find({&resources::Pods(), service.ns, pod});
  const std::string& ip = found["status"]["podIP"].AsString();
  return ip.empty() ? "" : absl::StrCat(ip, ":", kWorldTargetPort);
}

void ControllerWorld::AddLoadBalancer(const std::string& ocid,
                                      const std::vector<WorldService>& services) {
  std::map<std::string, std::vector<std::string>> sets;
  for (const WorldService& service : services) {
    std::vector<std::string>& backends = sets[service.backend_set()];
    for (int i = 0; i < service.pods; ++i) {
      backends.push_back(BackendOf(service, absl::StrCat(service.name, "-", i)));
    }
  }
  oci_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp&) {
    const absl::Status status =
        core.AddLoadBalancer(MakeLoadBalancerJson(ocid, sets), base::RealClock().Now());
    EXPECT_TRUE(status.ok()) << status;
  });
}

std::optional<WorldBackend> ControllerWorld::Backend(const std::string& ocid,
                                                     const std::string& set,
                                                     const std::string& backend) {
  return oci_->With(
      [&](FakeLoadBalancer& core, FakeLoadBalancerHttp&) -> std::optional<WorldBackend> {
        core.Advance(base::RealClock().Now());
        const rapidjson::Value* lb = core.Applied(ocid);
        const rapidjson::Value* in = lb == nullptr ? nullptr : FindBackendSet(*lb, set);
        const rapidjson::Value* found = in == nullptr ? nullptr : FindBackend(*in, backend);
        if (found == nullptr) return std::nullopt;
        return WorldBackend{(*found)["drain"].GetBool(), (*found)["offline"].GetBool(),
                            (*found)["weight"].GetInt()};
      });
}

bool ControllerWorld::IsDrained(const WorldService& service, const std::string& pod,
                                const std::string& ocid) {
  const auto backend = Backend(ocid, service.backend_set(), BackendOf(service, pod));
  return backend.has_value() && backend->drain;
}

void ControllerWorld::EditBackend(const WorldService& service, const std::string& pod,
                                  const std::function<void(rapidjson::Value&)>& change,
                                  const std::string& ocid) {
  const std::string set = service.backend_set();
  const std::string name = BackendOf(service, pod);
  oci_->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp&) {
    const absl::Status status = core.EditNow(
        ocid,
        [&](rapidjson::Document& lb) {
          change(*FindBackend(*FindBackendSet(lb, set), name));
          return ApiError();
        },
        base::RealClock().Now());
    EXPECT_TRUE(status.ok()) << status;
  });
}

void ControllerWorld::StartController(controller::Mode mode) {
  StopController();
  auto running = std::make_unique<Running>();
  running->settings = options_.settings;
  CHECK_EQ(User().WriteConfig(folder_), absl::OkStatus());
  auto credentials = oci::ConfigFileCredentials::Load({.path = folder_ + "/config"});
  CHECK_EQ(credentials.status(), absl::OkStatus());
  running->credentials = *std::move(credentials);

  http::TransportOptions to_oci;
  to_oci.base_url = oci_->url();
  to_oci.ca_pem = options_.load_balancer_ca_pem;
  running->oci_transport = http::MakeCpprestTransport(to_oci).value();
  oci::RestOptions rest;
  rest.authority = http::ParseServerUrl(oci_->url())->Authority();
  running->oci = oci::MakeRestLoadBalancerApi(*running->oci_transport, *running->credentials,
                                              base::RealClock(), rest);

  http::TransportOptions to_kube;
  to_kube.base_url = cluster_->url();
  to_kube.ca_pem = options_.cluster_ca_pem;
  running->kube =
      std::make_unique<kube::RestKubeApi>(http::MakeCpprestTransport(to_kube).value(),
                                          http::MakeCpprestTransport(to_kube).value(), nullptr);
  running->controller =
      std::make_unique<controller::Controller>(*running->kube, *running->oci, running->settings, 1);
  running_ = std::move(running);
  running_->controller->Start(mode);
}

std::vector<std::string> ControllerWorld::ProgramFlags() {
  CHECK_EQ(User().WriteConfig(folder_), absl::OkStatus());
  CHECK_EQ(WriteFile(folder_ + "/kubeconfig", MakeKubeconfig({.server = cluster_->url()})),
           absl::OkStatus());
  return {absl::StrCat("--kubeconfig=", folder_, "/kubeconfig"),
          absl::StrCat("--oci_config_file=", folder_, "/config"),
          absl::StrCat("--oci_endpoint=", oci_->url()),
          absl::StrCat("--namespace=", options_.settings.ns)};
}

void ControllerWorld::StopController() {
  if (running_ == nullptr) return;
  running_->controller->Stop();
  running_ = nullptr;
}

std::vector<WorldCall> ControllerWorld::Calls() {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

std::vector<WorldCall> ControllerWorld::OciWrites(const std::string& ocid) {
  std::vector<WorldCall> writes = Calls();
  std::erase_if(writes, [&](const WorldCall& call) {
    return !call.is_oci_write() || !absl::StrContains(call.target, ocid);
  });
  return writes;
}

std::vector<std::string> ControllerWorld::Log() {
  std::lock_guard<std::mutex> lock(mutex_);
  return log_;
}

std::vector<JsonTree> ControllerWorld::Events(const std::string& reason) {
  return cluster_->With([&](FakeApiServer& server, Controllers&) {
    std::vector<JsonTree> events;
    for (const KubeObject& event : server.store().List(resources::Events(), "")) {
      if ((*event)["reason"].AsString() == reason) events.push_back(*event);
    }
    return events;
  });
}

std::string ControllerWorld::Ledger(const std::string& ocid) {
  const JsonTree found = Find(
      {FindKubeKind("v1", "ConfigMap"), kWorldNamespace, controller::LedgerName(oci::Ocid(ocid))});
  return found["data"]["ledger"].AsString();
}

bool ControllerWorld::Await(const std::string& what, const std::function<bool()>& done) {
  const absl::Time end = base::RealClock().Now() + kPatience;
  for (;;) {
    uint64_t seen = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      seen = changes_;
    }
    if (done()) return true;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kLookAgain, [&] { return changes_ != seen; });
    if (base::RealClock().Now() < end) continue;
    std::string tail;
    const size_t first = log_.size() < kShownLogLines ? 0 : log_.size() - kShownLogLines;
    for (size_t i = first; i < log_.size(); ++i) absl::StrAppend(&tail, log_[i], "\n");
    ADD_FAILURE() << "waited in vain until " << what << "; the log said last:\n" << tail;
    return false;
  }
}

bool ControllerWorld::AwaitDrained(const WorldService& service, const std::string& pod,
                                   const std::string& ocid) {
  return Await(absl::StrCat("Pod ", pod, " is drained on ", ocid),
               [&] { return IsDrained(service, pod, ocid); });
}

bool ControllerWorld::AwaitConfirmed(const WorldService& service, const std::string& pod,
                                     const std::string& ocid) {
  const std::string backend = BackendOf(service, pod);
  return Await(absl::StrCat("the ledger says confirmed of Pod ", pod), [&] {
    const auto ledger = JsonTree::Parse(Ledger(ocid), "ledger");
    if (!ledger.ok()) return false;
    const auto& entries = (*ledger)["entries"].items();
    return std::any_of(entries.begin(), entries.end(), [&](const JsonTree& entry) {
      return entry["backend"].AsString() == backend &&
             entry["set"].AsString() == service.backend_set() && entry["confirmed"].AsBool();
    });
  });
}

JsonTree ControllerWorld::AwaitEvent(const std::string& reason, const std::string& regarding) {
  JsonTree found;
  Await(absl::StrCat("there is an Event ", reason, " on ", regarding), [&] {
    for (const JsonTree& event : Events(reason)) {
      if (event["regarding"]["name"].AsString() != regarding) continue;
      found = event;
      return true;
    }
    return false;
  });
  return found;
}

bool ControllerWorld::AwaitLog(const std::vector<std::string>& texts) {
  return Await(absl::StrCat("a line of the log has \"", texts.front(), "\""), [&] {
    const std::vector<std::string> log = Log();
    return std::any_of(log.begin(), log.end(), [&](const std::string& line) {
      return std::all_of(texts.begin(), texts.end(),
                         [&](const std::string& text) { return absl::StrContains(line, text); });
    });
  });
}

bool ControllerWorld::AwaitLooks(int count, const std::string& ocid) {
  const std::string target = absl::StrCat("/20170115/loadBalancers/", ocid);
  const auto looks = [&] {
    const std::vector<WorldCall> calls = Calls();
    return std::count_if(calls.begin(), calls.end(), [&](const WorldCall& call) {
      return call.to == WorldCall::To::kOci && call.method == "GET" && call.target == target;
    });
  };
  const auto before = looks();
  return Await(absl::StrCat(count, " more looks at ", ocid),
               [&] { return looks() >= before + count; });
}

}  // namespace sim
