#include "sim/scenario_run.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "sim/actor.h"
#include "sim/oracle.h"
#include "sim/scenario_cluster.h"
#include "sim/truth.h"
#include "sim/virtual_world.h"

namespace sim {
namespace {

// After its start the controller has to list first.
constexpr absl::Duration kStartUp = absl::Seconds(10);

VirtualWorldOptions WorldOf(const Scenario& scenario) {
  VirtualWorldOptions world;
  world.seed = scenario.seed;
  world.with_controller = false;
  world.with_rival = scenario.with_rival;
  world.rival.variant = scenario.rival;
  world.cluster.kubelet.ip_reuse = scenario.ip_reuse;
  world.load_balancer.min_service_time = scenario.min_service_time;
  world.load_balancer.max_service_time = scenario.max_service_time;
  world.load_balancer.etag_moves = scenario.etag_moves;
  world.load_balancer.max_backends_per_set = scenario.max_backends_per_set;
  world.settings.plan.max_backends_per_set = scenario.max_backends_per_set;
  return world;
}

void AppendNames(absl::string_view what, const std::vector<std::string>& names, std::string& text) {
  if (!names.empty()) absl::StrAppend(&text, " ", what, " ", absl::StrJoin(names, " "));
}

std::string Describe(const WriteEffect& effect) {
  std::string text;
  AppendNames("added", effect.added, text);
  AppendNames("removed", effect.removed, text);
  AppendNames("drained", effect.drained, text);
  AppendNames("undrained", effect.undrained, text);
  AppendNames("changed", effect.changed, text);
  return text.empty() ? " nothing changed" : text;
}

class Run final : private VirtualWorld::Observer, private google::LogSink {
 public:
  Run(const Scenario& scenario, bool trace)
      : scenario_(scenario),
        trace_(trace),
        world_(WorldOf(scenario)),
        truth_(world_, scenario_),
        actor_(world_, truth_, scenario_),
        oracles_(MakeOracles()) {
    for (const auto& oracle : oracles_) {
      oracle->OnFail(
          [this](const Oracle& broken, const std::string& what) { Fail(broken.name(), what); });
    }
    google::AddLogSink(this);
  }
  ~Run() override { google::RemoveLogSink(this); }

  ScenarioResult Go() {
    SetUp();
    const absl::Time start = world_.now();
    truth_.SetStart(start);
    actor_.Start(start);
    world_.RestartController();
    world_.RunUntil(start + scenario_.length, [&] { return result_.breach.has_value(); });
    if (!result_.breach.has_value()) {
      for (const auto& oracle : oracles_) oracle->OnEnd(truth_);
    }
    result_.fired = actor_.fired();
    result_.virtual_time = world_.now() - start;
    for (const WriteRecord& write : world_.load_balancer().writes()) {
      if (write.client == VirtualWorld::kController) ++result_.writes;
      if (write.client == VirtualWorld::kRival) ++result_.rival_writes;
    }
    return std::move(result_);
  }

 private:
  void SetUp() {
    for (const JsonTree& object : ScenarioObjects(scenario_)) Apply(object);
    world_.RunFor(absl::Seconds(15));
    truth_.Refresh();
    std::map<int, std::vector<std::string>> backends;
    for (size_t i = 0; i < truth_.services().size(); ++i) {
      std::vector<std::string>& own = backends[static_cast<int>(i)];
      for (const auto& [backend, pods] : truth_.services()[i].published) own.push_back(backend);
      if (!scenario_.with_rival) own.emplace_back(kForeignBackend);
    }
    const absl::Status added =
        world_.load_balancer().AddLoadBalancer(ScenarioLoadBalancer(backends), world_.now());
    CHECK(added.ok()) << added;
    Apply(ScenarioIngressClass(scenario_));
    world_.load_balancer().SetOnFinished([this](const WriteRecord& write) { OnFinished(write); });
    world_.cluster().kubelet().OnPodEvent([this](const PodEvent& event) {
      Say(absl::StrCat("pod ", event.name, " ", event.ip, " ", PodEventName(event.kind)));
    });
    actor_.OnAct([this](const sim::Act& act) { Say(absl::StrCat("act ", Describe(act))); });
    world_.SetObserver(this);
  }

  void Apply(const JsonTree& object) {
    const KubeResult result = world_.api_server().ApplyManifest(object, world_.now());
    CHECK(result.ok()) << result.error->message;
  }

  // Tells the oracles what was accepted and started since the last time.
  void Sync() {
    truth_.Refresh();
    const auto& writes = world_.load_balancer().writes();
    while (accepted_ < writes.size()) {
      const WriteRecord& write = writes[accepted_++];
      Say(absl::StrCat(write.client, " has ", write.type, " ", write.backend_set, " accepted ",
                       write.request_id));
      truth_.OnAccepted(write);
      for (const auto& oracle : oracles_) oracle->OnAccepted(write, truth_);
    }
    if (std::exchange(starts_, world_.controller_starts()) != world_.controller_starts()) {
      Say("controller starts");
      truth_.ExcuseUntil(world_.now() + kStartUp);
      truth_.OnStart();
      for (const auto& oracle : oracles_) oracle->OnStart(truth_);
    }
  }

  void OnFinished(const WriteRecord& write) {
    Sync();
    truth_.OnFinished(write);
    Say(absl::StrCat(write.client, "'s ", write.type, " ", write.backend_set,
                     write.state == WorkState::kFailed ? " failed" : "", Describe(write.effect)));
    for (const auto& oracle : oracles_) oracle->OnFinished(write, truth_);
  }

  CallFate OnCall(const Call& call) override {
    ++result_.calls;
    if (trace_) result_.sent.push_back({call.kind, world_.now() - truth_.start()});
    Sync();
    for (const auto& oracle : oracles_) oracle->OnCall(call, truth_);
    const CallFate fate = actor_.OnCall(call, world_.now());
    if (fate.kind == CallFate::Kind::kCrashBefore || fate.kind == CallFate::Kind::kCrashAfter) {
      Say(absl::StrCat("controller ends at ", CallName(call.kind)));
    }
    return fate;
  }

  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead* read) override {
    Sync();
    if (!status.ok() && !absl::IsNotFound(status)) {
      // absl prints payloads in an order of chance.
      Say(absl::StrCat(CallName(call.kind), ": ",
                       status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
    }
    if (IsOciWrite(call.kind) && status.ok()) truth_.OnAnswered();
    for (const auto& oracle : oracles_) oracle->OnAnswer(call, status, read, truth_);
  }

  void OnStep() override {
    Sync();
    const absl::Duration since_last = world_.now() - std::exchange(last_step_, world_.now());
    for (const auto& oracle : oracles_) oracle->OnStep(since_last, truth_);
  }

  absl::Time Act(absl::Time now) override { return actor_.Act(now); }

  // What the product says with LOG(ERROR) should never be.
  void send(google::LogSeverity severity, const char*, const char* file, int,
            const google::LogMessageTime&, const char* message, size_t length) override {
    if (severity >= google::GLOG_ERROR) {
      Fail("error-log", absl::StrCat(file, ": ", absl::string_view(message, length)));
    }
  }

  void Fail(absl::string_view invariant, const std::string& what) {
    if (result_.breach.has_value()) return;
    Say(absl::StrCat("BREACH ", invariant, ": ", what));
    result_.breach = Breach{std::string(invariant), what, world_.now() - truth_.start()};
  }

  void Say(const std::string& what) {
    if (!trace_) return;
    result_.trace.push_back(
        absl::StrFormat("%9.3f  %s", absl::ToDoubleSeconds(world_.now() - truth_.start()), what));
  }

  const Scenario scenario_;
  const bool trace_;
  ScenarioResult result_;
  VirtualWorld world_;
  Truth truth_;
  Actor actor_;
  std::vector<std::unique_ptr<Oracle>> oracles_;
  size_t accepted_ = 0;  // writes told of
  int starts_ = 0;
  absl::Time last_step_ = absl::InfinitePast();
};

}  // namespace

ScenarioResult RunScenario(const Scenario& scenario, bool trace) {
  return std::make_unique<Run>(scenario, trace)->Go();
}

}  // namespace sim
