#include "sim/capacity_rollout.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "glog/logging.h"
#include "oci/backend_set_name.h"
#include "oci/http_status.h"
#include "sim/kube_resources.h"
#include "sim/load_balancer_document.h"
#include "sim/virtual_world.h"

namespace sim {
namespace {

constexpr char kOcid[] = "ocid1.loadbalancer.oc1.iad.full";
constexpr char kForeignSet[] = "foreign";

constexpr char kClass[] = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: oci-backend-drain}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: oci, annotations: {oci-native-ingress.oraclecloud.com/id: $0}}
spec: {controller: oci.oraclecloud.com/native-ingress-controller}
)";

constexpr char kGate[] = "{conditionType: oci-native-ingress.oraclecloud.com/load-balancer-ready}";

constexpr char kDeployment[] = R"(
apiVersion: v1
kind: Service
metadata:
  name: $0
  namespace: shop
  annotations: {oci-native-ingress.oraclecloud.com/backend-draining: "true"}
spec:
  publishNotReadyAddresses: true
  selector: {app: $0, oci-native-ingress.oraclecloud.com/published: "true"}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: $0, namespace: shop}
spec:
  ingressClassName: oci
  rules: [{http: {paths: [{path: /$0, pathType: Prefix,
                           backend: {service: {name: $0, port: {number: 80}}}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: $0, namespace: shop}
spec:
  replicas: $1
  selector: {matchLabels: {app: $0}}
  strategy: {rollingUpdate: {maxSurge: $2, maxUnavailable: $3}}
  template:
    metadata:
      labels: {app: $0, oci-native-ingress.oraclecloud.com/published: "true"}
      annotations: {sim/shutdown-seconds: "$4"}
    spec:
      terminationGracePeriodSeconds: $5
      readinessGates: [$6]
      containers: [{name: web, image: a}]
)";

void Must(const absl::Status& status) { CHECK(status.ok()) << status; }

VirtualWorldOptions WorldOf(const CapacityRolloutOptions& options) {
  VirtualWorldOptions world;
  world.seed = options.seed;
  world.load_balancer.seed = options.seed;
  world.load_balancer.min_service_time = absl::Seconds(6);
  world.load_balancer.max_service_time = absl::Seconds(14);
  world.load_balancer.max_backends_per_set = options.limit_of_set;
  world.load_balancer.max_backends_per_load_balancer = options.limit_of_load_balancer;
  world.cluster.kubelet.startup = absl::Seconds(3);
  world.cluster.kubelet.ready_after = options.ready_after;
  world.with_rival = options.with_rival;
  world.with_controller = false;
  world.settings.capacity_action = options.action;
  world.settings.pod_conditions.gate = world.settings.plan.gates = options.gate;
  world.settings.plan.gate_release_at_limit = options.release_gate;
  world.settings.plan.max_backends_per_set = options.limit_of_set;
  world.settings.plan.max_backends_per_load_balancer = options.limit_of_load_balancer;
  return world;
}

class CapacityRun : private VirtualWorld::Observer {
 public:
  explicit CapacityRun(const CapacityRolloutOptions& options)
      : options_(options), world_(WorldOf(options)) {}

  CapacityRolloutResult Run() {
    SetUp();
    const absl::Time begin = world_.now();
    begun_ = true;
    for (int i = 0; i < options_.deployments; ++i) {
      Must(world_.Patch(absl::StrCat("/apis/apps/v1/namespaces/shop/deployments/", NameOf(i)),
                        R"({"spec":{"template":{"metadata":{"annotations":{"rollout":"1"}}}}})"));
    }
    result_.finished = world_.RunUntil(begin + options_.at_most, [&] { return Over(); });
    result_.took = world_.now() - begin;
    Measure();
    return result_;
  }

 private:
  struct Pod {
    absl::Time published = absl::InfiniteFuture();
    absl::Time registered = absl::InfiniteFuture();
  };

  static std::string NameOf(int i) { return absl::StrCat("web-", i); }
  int All() const { return options_.deployments * options_.replicas; }

  void SetUp() {
    world_.SetObserver(this);
    world_.cluster().kubelet().OnPodEvent([this](const PodEvent& event) { Note(event); });
    world_.load_balancer().SetOnFinished([this](const WriteRecord&) { Look(); });
    Must(world_.Apply(absl::Substitute(kClass, kOcid)));
    std::map<std::string, std::vector<std::string>> sets;
    for (int i = 0; i < options_.deployments; ++i) {
      Must(world_.Apply(
          absl::Substitute(kDeployment, NameOf(i), options_.replicas, options_.max_surge,
                           options_.max_unavailable, absl::ToInt64Seconds(options_.shutdown),
                           absl::ToInt64Seconds(options_.grace), options_.gate ? kGate : "")));
      set_of_[NameOf(i)] = oci::GenerateBackendSetName("shop", NameOf(i), 80).value();
      sets[set_of_[NameOf(i)]] = {};
    }
    CHECK(world_.RunUntil(world_.now() + absl::Minutes(10), [&] {
      return options_.gate ? static_cast<int>(deployment_of_.size()) == All() : ready_ == All();
    }));
    for (const auto& [ip, name] : deployment_of_) {
      sets[set_of_[name]].push_back(absl::StrCat(ip, ":8080"));
      old_.insert(ip);
    }
    for (int i = 0; i < options_.foreign; ++i) {
      sets[kForeignSet].push_back(absl::StrCat("192.0.", i / 250, ".", 1 + i % 250, ":80"));
    }
    Must(world_.load_balancer().AddLoadBalancer(MakeLoadBalancerJson(kOcid, sets), world_.now()));
    world_.RestartController();
    CHECK(world_.RunUntil(world_.now() + absl::Minutes(10), [&] { return ready_ == All(); }));
    // Past the two minutes after an IngressClass's change, at any phase of the tick.
    base::Random random(options_.seed);
    world_.RunFor(absl::Seconds(130) + absl::Milliseconds(random.Between(0, 59'999)));
  }

  void Note(const PodEvent& event) {
    if (event.kind == PodEvent::Kind::kReady) ++ready_;
    if (event.kind == PodEvent::Kind::kRunning) {
      const size_t dash = event.name.find('-', 4);
      deployment_of_[event.ip] = event.name.substr(0, dash);
      if (begun_) new_[event.ip].published = event.time;
    }
    if (event.kind == PodEvent::Kind::kDeleted && begun_) deletions_.push_back(event.time);
  }

  // The backends of a write's end.
  void Look() {
    if (!begun_) return;
    const rapidjson::Value* document = world_.load_balancer().Applied(kOcid);
    std::set<std::string> held;
    for (const auto& [name, set] : set_of_) {
      for (const auto& backend : (*FindBackendSet(*document, set))["backends"].GetArray()) {
        held.insert(backend["ipAddress"].GetString());
      }
    }
    result_.peak = std::max(result_.peak, static_cast<int>(held.size()));
    for (auto& [ip, pod] : new_) {
      if (held.count(ip) != 0) pod.registered = std::min(pod.registered, world_.now());
    }
    old_left_ = static_cast<int>(
        std::count_if(old_.begin(), old_.end(), [&](const auto& ip) { return held.count(ip); }));
  }

  bool Over() const {
    if (static_cast<int>(new_.size()) < All() || old_left_ != 0) return false;
    return std::none_of(new_.begin(), new_.end(), [](const auto& pod) {
      return pod.second.registered == absl::InfiniteFuture();
    });
  }

  // Of [from, to], what no foreign work request covers.
  absl::Duration Counted(absl::Time from, absl::Time to) {
    absl::Duration counted = std::max(to - from, absl::ZeroDuration());
    for (const WriteRecord& write : world_.load_balancer().writes()) {
      if (write.client == VirtualWorld::kController) continue;
      const absl::Time begin = std::max(from, write.accepted);
      const absl::Time end = std::min(to, write.finished);
      if (end > begin) counted -= end - begin;
    }
    return counted;
  }

  void Measure() {
    std::vector<std::pair<absl::Time, absl::Time>> waits;  // registered, published
    for (const auto& [ip, pod] : new_) waits.emplace_back(pod.registered, pod.published);
    std::sort(waits.begin(), waits.end());
    std::sort(deletions_.begin(), deletions_.end());
    int free = options_.limit_of_load_balancer - options_.foreign - All();
    if (options_.deployments == 1) free = std::min(free, options_.limit_of_set - All());
    for (size_t i = 0; i < waits.size(); ++i) {
      const int index = static_cast<int>(i) - free;
      absl::Time from = waits[i].second;
      if (index >= 0 && index < static_cast<int>(deletions_.size())) {
        from = std::max(from, deletions_[index]);
      }
      const absl::Time to = std::min(waits[i].first, world_.now());
      result_.longest_wait = std::max(result_.longest_wait, Counted(from, to));
    }
    MeasureBlocked();
    for (const WriteRecord& write : world_.load_balancer().writes()) {
      if (write.client != VirtualWorld::kController || !write.done()) continue;
      result_.slowest_write = std::max(result_.slowest_write, write.finished - write.accepted);
    }
  }

  void MeasureBlocked() {
    absl::Time published = absl::InfiniteFuture();
    for (const auto& [ip, pod] : new_) published = std::min(published, pod.published);
    for (const KubeObject& event : world_.api_server().store().List(resources::Events(), "")) {
      if ((*event)["reason"].AsString() != "RolloutBlockedByBackendLimit") continue;
      absl::Time told;
      CHECK(absl::ParseTime(absl::RFC3339_full, (*event)["eventTime"].AsString(), &told, nullptr));
      result_.blocked_after = std::min(result_.blocked_after, told - published);
    }
  }

  CallFate OnCall(const Call&) override { return {}; }
  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead*) override {
    if (call.kind == CallKind::kRemovePodLabel && status.ok()) ++result_.withdrawn;
    if (IsOciWrite(call.kind) && oci::HttpStatusOf(status) == 400) ++result_.over;
  }
  void OnStep() override {}
  absl::Time Act(absl::Time) override { return absl::InfiniteFuture(); }

  const CapacityRolloutOptions options_;
  VirtualWorld world_;
  CapacityRolloutResult result_;
  bool begun_ = false;
  int ready_ = 0;
  int old_left_ = 0;
  std::map<std::string, std::string> set_of_;         // by Deployment
  std::map<std::string, std::string> deployment_of_;  // by IP
  std::set<std::string> old_;
  std::map<std::string, Pod> new_;  // by IP
  std::vector<absl::Time> deletions_;
};

}  // namespace

CapacityRolloutResult RunCapacityRollout(const CapacityRolloutOptions& options) {
  return CapacityRun(options).Run();
}

}  // namespace sim
