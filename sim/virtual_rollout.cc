#include "sim/virtual_rollout.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/ledger_codec.h"
#include "controller/ledger_store.h"
#include "glog/logging.h"
#include "oci/http_status.h"
#include "sim/demo_recorder.h"
#include "sim/demo_setup.h"
#include "sim/load_balancer_document.h"

namespace sim {
namespace {

constexpr char kOcid[] = "ocid1.loadbalancer.oc1.iad.demo";

DemoManifests Manifests(const std::string& folder) {
  absl::StatusOr<DemoManifests> manifests = ReadDemoManifests(folder);
  CHECK(manifests.ok()) << manifests.status();
  return *std::move(manifests);
}

// As much of a write's path as tells what it is about.
std::string TargetOf(const WriteRecord& write) {
  return absl::StrCat("/backendSets/", write.backend_set,
                      write.type == "UpdateBackend" ? "/backends/" : "");
}

void Must(const absl::Status& status) { CHECK(status.ok()) << status; }

class RolloutRun : private VirtualWorld::Observer {
 public:
  explicit RolloutRun(const VirtualRolloutOptions& options)
      : options_(options),
        world_([&] {
          VirtualWorldOptions world = options.world;
          // First the world settles; the controller comes when it has.
          world.with_controller = false;
          return world;
        }()),
        web_(Manifests("testdata/demo").service),
        other_(Manifests("testdata/demo/neighbour").service),
        recorder_(options.neighbour ? std::vector<DemoService>{web_, other_}
                                    : std::vector<DemoService>{web_}) {}

  VirtualRolloutResult Run() {
    SetUp();
    const absl::Time trigger = Trigger();
    const absl::Time end = trigger + options_.at_most;
    VirtualRolloutResult result;
    result.finished = world_.RunUntil(end, [&] {
      NoteConfirmed();
      NoteEvents(trigger, result);
      return Over();
    });
    Fill(result);
    return result;
  }

 private:
  void SetUp() {
    world_.cluster().kubelet().OnPodEvent(
        [this](const PodEvent& event) { recorder_.OnPodEvent(event); });
    world_.SetObserver(this);
    world_.load_balancer_http().SetOnAnswered(
        [this](const RequestRecord& record) { recorder_.OnRequest(record); });
    world_.load_balancer().SetOnFinished([this](const WriteRecord& record) {
      recorder_.OnWriteFinished(record, *world_.load_balancer().Applied(kOcid));
    });
    Must(world_.ApplyFile("testdata/demo"));
    if (options_.neighbour) Must(world_.ApplyFile("testdata/demo/neighbour"));
    Must(world_.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: oci-backend-drain}}"));
    // The Pods are ready before there is a load balancer to fill.
    CHECK(world_.RunUntil(world_.now() + absl::Seconds(30), [&] {
      return Ready(web_) == web_.replicas &&
             (!options_.neighbour || Ready(other_) == other_.replicas);
    }));
    world_.RunFor(absl::Seconds(15));
    std::map<std::string, std::vector<std::string>> sets;
    sets[web_.backend_set] = recorder_.ReadyBackends(web_);
    if (options_.neighbour) sets[other_.backend_set] = recorder_.ReadyBackends(other_);
    const absl::Status added =
        world_.load_balancer().AddLoadBalancer(MakeLoadBalancerJson(kOcid, sets), world_.now());
    CHECK(added.ok()) << added;
    recorder_.OnStart(*world_.load_balancer().Applied(kOcid), world_.now());
  }

  absl::Time Trigger() {
    if (options_.carry_all) {
      Patch("/apis/networking.k8s.io/v1/ingressclasses/oci",
            R"({"metadata":{"annotations":{)"
            R"("oci-native-ingress.oraclecloud.com/backend-drain-carry":"all"}}})");
    }
    if (options_.world.with_controller) world_.RestartController();
    base::Random random(options_.world.seed);
    // Past the two minutes after an IngressClass's change, at any phase of the tick.
    world_.RunFor(absl::Seconds(130) + absl::Milliseconds(random.Between(0, 59'999)));
    recorder_.Trigger(world_.now());
    Roll(web_);
    if (options_.neighbour) Roll(other_);
    return world_.now();
  }

  void Roll(const DemoService& service) {
    Patch(absl::StrCat("/apis/apps/v1/namespaces/demo/deployments/", service.deployment),
          R"({"spec":{"template":{"metadata":{"annotations":{"rollout":"1"}}}}})");
  }

  void Patch(const std::string& target, const std::string& body) {
    Must(world_.Patch(target, body));
  }

  CallFate OnCall(const Call&) override { return {}; }
  void OnStep() override {}
  absl::Time Act(absl::Time) override { return absl::InfiniteFuture(); }

  // As the recorder would see the controller's writes over HTTP.
  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead*) override {
    if (!IsOciWrite(call.kind)) return;
    RequestRecord record{world_.now(), VirtualWorld::kController, {}};
    record.request.method = "PUT";
    record.status = status.ok() ? 204 : oci::HttpStatusOf(status);
    if (status.ok()) {
      const WriteRecord& write = world_.load_balancer().writes().back();
      record.request.target = TargetOf(write);
      record.request.body = write.body;
    }
    if (record.status == 412) ++conflicts_;
    recorder_.OnRequest(record);
  }

  int Ready(const DemoService& service) const {
    return static_cast<int>(recorder_.ReadyBackends(service).size());
  }

  bool Over() {
    const absl::Time now = world_.now();
    return RolloutIsOver(recorder_.History(web_, now), web_.replicas) &&
           world_.load_balancer().Idle() &&
           (!options_.neighbour || RolloutIsOver(recorder_.History(other_, now), other_.replicas));
  }

  // As an operator would see it: in the ConfigMap.
  void NoteConfirmed() {
    const KubeAnswer answer = world_.api_server().Handle(
        {.method = "GET",
         .target = absl::StrCat("/api/v1/namespaces/", options_.world.settings.ns, "/configmaps/",
                                controller::LedgerName(oci::Ocid(kOcid))),
         .headers = {{"User-Agent", "kubectl"}},
         .body = ""},
        world_.now());
    if (answer.response.status != 200) return;
    const auto tree = JsonTree::Parse(answer.response.body, "ledger");
    const auto ledger = controller::DecodeLedger((*tree)["data"]["ledger"].AsString());
    if (!ledger.ok()) return;
    std::vector<std::string> confirmed;
    for (const auto& [key, entry] : *ledger) {
      if (entry.confirmed) confirmed.push_back(entry.pod_uid);
    }
    recorder_.OnConfirmed(confirmed, world_.now());
  }

  void NoteEvents(absl::Time trigger, VirtualRolloutResult& result) {
    for (const DemoEvent& event : recorder_.TakeEvents(world_.now())) {
      result.timeline.push_back(absl::StrFormat(
          "%7.2f  %-13s %s", absl::ToDoubleSeconds(event.time - trigger), event.actor, event.text));
    }
  }

  void Fill(VirtualRolloutResult& result) {
    result.figures = Measure(recorder_.History(web_, world_.now()));
    if (options_.neighbour) result.neighbour = Measure(recorder_.History(other_, world_.now()));
    for (const WriteRecord& write : world_.load_balancer().writes()) {
      if (write.client == VirtualWorld::kController) {
        ++result.writes;
        if (write.type == "UpdateBackend") ++result.single_writes;
      } else {
        ++result.rival_writes;
      }
    }
    result.conflicts = conflicts_;
  }

  const VirtualRolloutOptions options_;
  VirtualWorld world_;
  const DemoService web_;
  const DemoService other_;
  DemoRecorder recorder_;
  int conflicts_ = 0;
};

}  // namespace

VirtualRolloutResult RunVirtualRollout(const VirtualRolloutOptions& options) {
  return RolloutRun(options).Run();
}

}  // namespace sim
