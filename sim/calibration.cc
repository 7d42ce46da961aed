#include "sim/calibration.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/random.h"
#include "glog/logging.h"
#include "rapidjson/document.h"
#include "sim/demo_meter.h"
#include "sim/kube_fields_of.h"
#include "sim/load_balancer_document.h"
#include "sim/rival_body.h"
#include "sim/scenario_cluster.h"
#include "sim/virtual_world.h"

namespace sim {
namespace {

constexpr int kReplicas = 10;
constexpr char kPolicyClient[] = "drain-only";
constexpr absl::Duration kLooks = absl::Seconds(1);  // the policy, at the cluster
constexpr absl::Duration kLength = absl::Minutes(4);

// Where in the ingress controller's ten seconds, and in the minute of its copy of the
// load balancer, a measured rollout began is not known, and it matters. All three are
// met a second after a tick; two of them where that tick has just read the load
// balancer, the third where the one before it has. Ticks are at the tens; the load
// balancer is there from 15 s on, so the reads are at 20 s and 80 s.
absl::Duration BeginOf(DrainOnlyPolicy policy) {
  return absl::Seconds(policy == DrainOnlyPolicy::kOnePerPass ? 90 : 80);
}

Scenario MeasuredScenario() {
  Scenario scenario;
  ServiceSpec spec;
  spec.opted_in = false;
  spec.replicas = kReplicas;
  spec.max_surge = 3;
  spec.max_unavailable = 0;
  spec.grace = absl::Seconds(45);
  spec.pre_stop = absl::Seconds(25);
  spec.shutdown = absl::ZeroDuration();
  spec.ready_after = absl::Seconds(3);
  scenario.services = {spec};
  return scenario;
}

VirtualWorldOptions WorldOf(uint64_t seed) {
  VirtualWorldOptions world;
  world.seed = seed;
  world.with_controller = false;
  // The measured Pods were no containers: they had their address at once.
  world.cluster.kubelet.startup = absl::Milliseconds(200);
  world.rival_first_tick = absl::ZeroDuration();
  world.load_balancer.min_service_time = absl::Seconds(6);
  world.load_balancer.max_service_time = absl::Seconds(14);
  return world;
}

class Calibration {
 public:
  Calibration(DrainOnlyPolicy policy, uint64_t seed)
      : policy_(policy), seed_(seed), world_(WorldOf(seed)) {}

  CalibrationFigures Run() {
    const absl::Time start = world_.now();
    SetUp();
    base::Random random(seed_);
    world_.RunFor(start + BeginOf(policy_) - world_.now());
    world_.RunFor(absl::Milliseconds(random.Between(300, 1'299)));
    history_.trigger = world_.now();
    conflicts_before_ = world_.rival_counts().conflicts_412;
    NoteState();
    Roll();
    const absl::Time end = world_.now() + kLength;
    while (world_.now() < end) {
      world_.RunFor(kLooks);
      if (policy_ != DrainOnlyPolicy::kNone) Look();
    }
    history_.end = world_.now();
    return Figures();
  }

 private:
  void SetUp() {
    const Scenario scenario = MeasuredScenario();
    for (const JsonTree& object : ScenarioObjects(scenario)) Apply(object);
    world_.RunFor(absl::Seconds(15));
    std::vector<std::string> backends;
    for (const KubeObject& pod : Pods()) {
      backends.push_back(absl::StrCat((*pod)["status"]["podIP"].AsString(), ":", kScenarioPort));
    }
    const absl::Status added =
        world_.load_balancer().AddLoadBalancer(ScenarioLoadBalancer({{0, backends}}), world_.now());
    CHECK(added.ok()) << added;
    Apply(ScenarioIngressClass(scenario));
    world_.load_balancer().SetOnFinished([this](const WriteRecord&) { NoteState(); });
    world_.cluster().kubelet().OnPodEvent([this](const PodEvent& event) { NotePod(event); });
    for (const PodEvent& event : world_.cluster().kubelet().log()) NotePod(event);
  }

  void Apply(const JsonTree& object) {
    const KubeResult result = world_.api_server().ApplyManifest(object, world_.now());
    CHECK(result.ok()) << result.error->message;
  }

  void Roll() {
    const absl::Status rolled =
        world_.Patch(absl::StrCat("/apis/apps/v1/namespaces/", kScenarioNamespace, "/deployments/",
                                  ScenarioService(0)),
                     R"({"spec":{"template":{"metadata":{"annotations":{"rollout":"1"}}}}})");
    CHECK(rolled.ok()) << rolled;
  }

  std::vector<KubeObject> Pods() {
    return world_.api_server().store().List(resources::Pods(), kScenarioNamespace);
  }

  const rapidjson::Value& Set() {
    return *FindBackendSet(*world_.load_balancer().Applied(kScenarioOcid), ScenarioSet(0));
  }

  void NoteState() {
    AppliedState state{world_.now(), {}};
    for (const rapidjson::Value& backend : Set()["backends"].GetArray()) {
      state.drained_by_backend[std::string(base::StringOf(backend["name"]))] =
          backend["drain"].IsTrue();
    }
    history_.states.push_back(std::move(state));
  }

  void NotePod(const PodEvent& event) {
    PodTimes& pod = pods_[event.uid];
    pod.uid = event.uid;
    pod.name = event.name;
    if (!event.ip.empty()) pod.backend = absl::StrCat(event.ip, ":", kScenarioPort);
    switch (event.kind) {
      case PodEvent::Kind::kCreated:
        pod.created = event.time;
        break;
      case PodEvent::Kind::kRunning:
        pod.running = event.time;
        break;
      case PodEvent::Kind::kDeleted:
        pod.deleted = event.time;
        break;
      case PodEvent::Kind::kProcessEnded:
        pod.ended = event.time;
        break;
      case PodEvent::Kind::kRemoved:
        pod.removed = event.time;
        break;
      default:
        break;
    }
  }

  // The drain-only add-on: reads, and writes what is terminating and not drained.
  void Look() {
    const absl::Time now = world_.now();
    FakeLoadBalancer& lb = world_.load_balancer();
    lb.Advance(now);
    for (const WriteRecord& write : lb.writes()) {
      if (write.client == kPolicyClient && !write.done()) return;
    }
    std::set<std::string> leaving;
    for (const KubeObject& pod : Pods()) {
      if (IsTerminating(*pod)) leaving.insert((*pod)["status"]["podIP"].AsString());
    }
    const rapidjson::Value& set = Set();
    std::vector<RivalBackend> backends;
    std::string first;
    for (const rapidjson::Value& backend : set["backends"].GetArray()) {
      const std::string ip(base::StringOf(backend["ipAddress"]));
      const bool drained = backend["drain"].IsTrue();
      if (!drained && leaving.count(ip) != 0 && first.empty()) first = ip;
      backends.push_back({ip, kScenarioPort, drained || leaving.count(ip) != 0});
    }
    if (first.empty()) return;
    const WriteHeaders headers{.if_match = lb.Etag(kScenarioOcid), .client = kPolicyClient};
    const FakeLoadBalancer::BackendPath path{kScenarioOcid, ScenarioSet(0)};
    const ApiReply reply =
        policy_ == DrainOnlyPolicy::kOnePerPass
            ? lb.UpdateBackendSet(path, RivalBackendSetBody(set, backends), headers, now)
            : lb.UpdateBackend(
                  {path.load_balancer, path.backend_set, absl::StrCat(first, ":", kScenarioPort)},
                  R"({"weight":1,"backup":false,"drain":true,"offline":false})", headers, now);
    CHECK_EQ(reply.status, 204) << reply.body;
  }

  CalibrationFigures Figures() {
    for (const auto& [uid, pod] : pods_) history_.pods.push_back(pod);
    const ServiceFigures figures = Measure(history_);
    CHECK_EQ(figures.terminated, kReplicas);
    return {
        .drained_before_exit = static_cast<double>(figures.drained_before_exit),
        .latency_p50 = absl::ToDoubleSeconds(Percentile(figures.drain_latency, 50)),
        .latency_max = absl::ToDoubleSeconds(Percentile(figures.drain_latency, 100)),
        .conflicts = static_cast<double>(world_.rival_counts().conflicts_412 - conflicts_before_),
        .replaced_after = absl::ToDoubleSeconds(figures.replaced_after),
        .fewest_good = static_cast<double>(figures.min_good_backends),
        .none_good = absl::ToDoubleSeconds(figures.without_good),
        .dead_routable = absl::ToDoubleSeconds(figures.dead + figures.dead_foreign),
    };
  }

  const DrainOnlyPolicy policy_;
  const uint64_t seed_;
  VirtualWorld world_;
  ServiceHistory history_;
  std::map<std::string, PodTimes> pods_;
  int64_t conflicts_before_ = 0;
};

}  // namespace

CalibrationFigures RunCalibration(DrainOnlyPolicy policy, uint64_t seed) {
  return Calibration(policy, seed).Run();
}

CalibrationFigures MedianOf(DrainOnlyPolicy policy, int seeds) {
  std::vector<CalibrationFigures> all;
  for (int seed = 1; seed <= seeds; ++seed) {
    all.push_back(RunCalibration(policy, static_cast<uint64_t>(seed)));
  }
  CalibrationFigures median;
  for (const CalibrationRow& row : CalibrationRows()) {
    std::vector<double> values;
    for (const CalibrationFigures& figures : all) values.push_back(figures.*row.figure);
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    median.*row.figure =
        values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
  return median;
}

CalibrationFigures Measured(DrainOnlyPolicy policy) {
  switch (policy) {
    case DrainOnlyPolicy::kNone:
      return {0, 38, 42, 0, 21, 9, 0, 20};
    case DrainOnlyPolicy::kOnePerPod:
      return {2, 57, 64, 7, 69, 0, 29, 39};
    case DrainOnlyPolicy::kOnePerPass:
      break;
  }
  return {10, 18, 21, 5, 58, 0, 30, 0};
}

const std::vector<CalibrationRow>& CalibrationRows() {
  using F = CalibrationFigures;
  static const auto* const rows = new std::vector<CalibrationRow>{
      {"drained or gone before exit", &F::drained_before_exit, true},
      {"drain latency p50", &F::latency_p50, false},
      {"drain latency max", &F::latency_max, false},
      {"412s that the ingress controller got", &F::conflicts, true},
      {"replacements routed after", &F::replaced_after, false},
      {"fewest good backends", &F::fewest_good, true},
      {"seconds with none good", &F::none_good, false},
      {"seconds with a dead one routable", &F::dead_routable, false},
  };
  return *rows;
}

absl::string_view PolicyName(DrainOnlyPolicy policy) {
  switch (policy) {
    case DrainOnlyPolicy::kNone:
      return "ingress controller alone";
    case DrainOnlyPolicy::kOnePerPod:
      return "and one UpdateBackend per Pod";
    case DrainOnlyPolicy::kOnePerPass:
      break;
  }
  return "and one UpdateBackendSet per pass";
}

}  // namespace sim
