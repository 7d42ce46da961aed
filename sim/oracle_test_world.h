// A small world in which a test breaks one promise by hand and sees what one oracle
// says about it. The controller in it runs, plans and writes nothing (--dry_run): what
// "we" write is the test's.
#ifndef OCI_BACKEND_DRAIN_SIM_ORACLE_TEST_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_ORACLE_TEST_WORLD_H_

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "controller/ledger_codec.h"
#include "controller/ledger_store.h"
#include "sim/kube_fields_of.h"
#include "sim/load_balancer_document.h"
#include "sim/oracle.h"
#include "sim/rival_body.h"
#include "sim/scenario_cluster.h"
#include "sim/truth.h"
#include "sim/virtual_world.h"

namespace sim {

// Two Services of two Pods, both opted in. Work requests take ten seconds.
inline Scenario PlainScenario() {
  Scenario scenario;
  ServiceSpec spec;
  spec.replicas = 2;
  scenario.services = {spec, spec};
  scenario.max_oci_latency = absl::ZeroDuration();
  scenario.calm = absl::ZeroDuration();
  scenario.length = absl::Hours(10);
  return scenario;
}

class OracleTestWorld {
 public:
  static constexpr const char* kUs = VirtualWorld::kController;
  static constexpr char kConsole[] = "console";

  explicit OracleTestWorld(std::unique_ptr<Oracle> oracle, Scenario scenario = PlainScenario())
      : scenario_(std::move(scenario)),
        world_(Options()),
        truth_(world_, scenario_),
        oracle_(std::move(oracle)) {
    oracle_->OnFail([this](const Oracle& broken, const std::string& what) {
      if (said_.empty()) said_ = absl::StrCat(broken.name(), ": ", what);
    });
    for (const JsonTree& object : ScenarioObjects(scenario_)) Apply(object);
    world_.RunFor(absl::Seconds(15));
    truth_.Refresh();
    std::map<int, std::vector<std::string>> backends;
    for (size_t i = 0; i < truth_.services().size(); ++i) {
      for (const auto& [name, pods] : truth_.services()[i].published) {
        backends[static_cast<int>(i)].push_back(name);
      }
      backends[static_cast<int>(i)].emplace_back(kForeignBackend);
    }
    EXPECT_TRUE(
        world_.load_balancer().AddLoadBalancer(ScenarioLoadBalancer(backends), world_.now()).ok());
    Apply(ScenarioIngressClass(scenario_));
    world_.load_balancer().SetOnFinished([this](const WriteRecord& write) {
      truth_.Refresh();
      truth_.OnFinished(write);
      oracle_->OnFinished(write, truth_);
    });
    truth_.SetStart(world_.now());
    world_.RestartController();
    RunFor(absl::Seconds(20));
  }

  // What the oracle has said first, with its name; empty: nothing.
  const std::string& said() const { return said_; }
  Oracle& oracle() { return *oracle_; }
  Truth& truth() { return truth_; }
  VirtualWorld& world() { return world_; }

  void RunFor(absl::Duration duration) {
    const absl::Time end = world_.now() + duration;
    while (world_.now() < end) {
      const absl::Time before = world_.now();
      world_.RunFor(absl::Milliseconds(500));
      truth_.Refresh();
      oracle_->OnStep(world_.now() - before, truth_);
    }
  }

  // The `index`-th address that the Service's Pods have at first.
  std::string Backend(size_t index, int service = 0) {
    const auto& published = truth_.services()[static_cast<size_t>(service)].published;
    auto found = published.begin();
    std::advance(found, index);
    return found->first;
  }
  void DeletePod(const std::string& backend) {
    for (const KubeObject& pod :
         world_.api_server().store().List(resources::Pods(), kScenarioNamespace)) {
      if (absl::StrCat((*pod)["status"]["podIP"].AsString(), ":", kScenarioPort) != backend) {
        continue;
      }
      world_.api_server().objects().Delete({&resources::Pods(), kScenarioNamespace, NameOf(*pod)},
                                           {}, world_.now());
    }
    RunFor(absl::Seconds(1));
  }

  // A write of `client` that is accepted now and ends after those before it.
  // UpdateBackend of one backend, or with `edit` UpdateBackendSet.
  struct Settings {
    bool drain = false;
    int weight = 1;
    bool offline = false;
  };
  const WriteRecord& Update(const std::string& client, const std::string& backend,
                            const Settings& settings, int service = 0,
                            const std::string& request = "") {
    const auto word = [](bool value) { return value ? "true" : "false"; };
    return Sent(world_.load_balancer().UpdateBackend(
        {kScenarioOcid, ScenarioSet(service), backend},
        absl::StrCat(R"({"backup":false,"weight":)", settings.weight, R"(,"drain":)",
                     word(settings.drain), R"(,"offline":)", word(settings.offline), "}"),
        Headers(client, request), world_.now()));
  }
  const WriteRecord& UpdateSet(const std::string& client,
                               const std::function<void(std::vector<RivalBackend>&)>& edit,
                               int service = 0, const std::string& request = "") {
    const rapidjson::Value& set =
        *FindBackendSet(*world_.load_balancer().Applied(kScenarioOcid), ScenarioSet(service));
    std::vector<RivalBackend> backends;
    for (const rapidjson::Value& backend : set["backends"].GetArray()) {
      backends.push_back({std::string(base::StringOf(backend["ipAddress"])),
                          backend["port"].GetInt(), backend["drain"].IsTrue()});
    }
    edit(backends);
    return Sent(world_.load_balancer().UpdateBackendSet({kScenarioOcid, ScenarioSet(service)},
                                                        RivalBackendSetBody(set, backends),
                                                        Headers(client, request), world_.now()));
  }
  const WriteRecord& Drain(const std::string& client, const std::string& backend, int service = 0) {
    return Update(client, backend, {.drain = true}, service, "oci-drain-drain-x");
  }
  const WriteRecord& Undrain(const std::string& client, const std::string& backend) {
    return Update(client, backend, {});
  }

  // As the controller stores it.
  void StoreLedger(const drain::Ledger& ledger) {
    const std::string name = controller::LedgerName(oci::Ocid(kScenarioOcid));
    const JsonTree data = JsonTree::Object{{"ledger", *controller::EncodeLedger(ledger)},
                                           {"loadBalancer", kScenarioOcid}};
    const JsonTree metadata = JsonTree::Object{{"name", name}, {"namespace", "oci-backend-drain"}};
    world_.api_server().ApplyManifest(
        JsonTree::Object{
            {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}, {"data", data}},
        world_.now());
    EXPECT_TRUE(world_
                    .Patch(absl::StrCat("/api/v1/namespaces/oci-backend-drain/configmaps/", name),
                           JsonTree(JsonTree::Object{{"data", data}}).Dump())
                    .ok());
  }
  // Answers of the controller's calls, as the oracle is told of them.
  void Answer(CallKind kind, const absl::Status& status = absl::OkStatus()) {
    oracle_->OnAnswer({kind}, status, nullptr, truth_);
  }
  void AnswerRead(const oci::LoadBalancerRead& read) {
    oracle_->OnAnswer({CallKind::kGetLoadBalancer}, absl::OkStatus(), &read, truth_);
  }

 private:
  static VirtualWorldOptions Options() {
    VirtualWorldOptions world;
    world.with_controller = false;
    world.with_rival = false;
    world.settings.dry_run = true;
    world.load_balancer.min_service_time = absl::Seconds(10);
    world.load_balancer.max_service_time = absl::Seconds(10);
    return world;
  }

  void Apply(const JsonTree& object) {
    const KubeResult result = world_.api_server().ApplyManifest(object, world_.now());
    EXPECT_TRUE(result.ok());
  }

  WriteHeaders Headers(const std::string& client, const std::string& request) {
    return {.if_match = world_.load_balancer().Etag(kScenarioOcid),
            .request_id = request,
            .client = client};
  }

  const WriteRecord& Sent(const ApiReply& reply) {
    EXPECT_EQ(reply.status, 204) << reply.body;
    const WriteRecord& write = world_.load_balancer().writes().back();
    truth_.Refresh();
    truth_.OnAccepted(write);
    oracle_->OnAccepted(write, truth_);
    if (write.client == kUs) truth_.OnAnswered();
    return write;
  }

  const Scenario scenario_;
  VirtualWorld world_;
  Truth truth_;
  std::unique_ptr<Oracle> oracle_;
  std::string said_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ORACLE_TEST_WORLD_H_
