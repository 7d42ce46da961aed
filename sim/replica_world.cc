#include "sim/replica_world.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
#include "controller/election.h"
#include "glog/logging.h"
#include "sim/controller_process.h"
#include "sim/controllers.h"
#include "sim/fake_api_server.h"
#include "sim/fake_load_balancer.h"
#include "sim/json_tree.h"
#include "sim/load_balancer_document.h"
#include "sim/scenario_cluster.h"
#include "sim/virtual_clock.h"

namespace sim {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'796'000'000);
constexpr char kLeaseNamespace[] = "oci-backend-drain";
constexpr char kLeaseName[] = "oci-drain";
constexpr int kMaxTurns = 10'000;

bool IsWrite(CallKind kind) {
  return IsOciWrite(kind) || kind == CallKind::kPutConfigMap || kind == CallKind::kRemovePodLabel ||
         kind == CallKind::kPodCondition || kind == CallKind::kEvent;
}

Scenario ScenarioFor(uint64_t seed) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.services.resize(2);
  scenario.services[1].max_surge = 2;
  scenario.with_rival = false;
  return scenario;
}

class World;

// One process and what becomes of its calls.
class Replica final : public CallGate {
 public:
  Replica(World& world, int index) : world_(world), index_(index) {}

  CallFate OnCall(const Call& call) override;
  void OnAnswer(const Call& call, const absl::Status& status,
                const oci::LoadBalancerRead* read) override;
  bool ended() const override { return ending; }

  std::string name() const { return absl::StrCat("replica-", index_); }
  std::string identity() const { return absl::StrCat(name(), "_", incarnation_); }
  controller::ElectionOptions NextElection() {
    ++incarnation_;
    controller::ElectionOptions options;
    options.lease = {kLeaseNamespace, kLeaseName};
    options.identity = identity();
    return options;
  }
  std::unique_ptr<ControllerProcess> process;
  absl::Time starts = kStart;
  absl::Time paused_until = absl::InfinitePast();
  absl::Time away_until = absl::InfinitePast();  // from the API server
  absl::Time slow_until = absl::InfinitePast();  // OCI
  bool ending = false;
  // How many steps of it are on the stack: its threads that sleep in a call, and the
  // one that runs.
  int depth = 0;

 private:
  World& world_;
  const int index_;
  int incarnation_ = 0;
};

class World {
 public:
  explicit World(const ReplicaOptions& options)
      : options_(options),
        random_(options.seed),
        scenario_(ScenarioFor(options.seed)),
        clock_(kStart),
        api_server_([&] {
          FakeApiServerOptions server;
          server.seed = random_.Next();
          server.start = kStart;
          server.log_limit = 0;
          server.field_ownership = false;
          return server;
        }()),
        cluster_(api_server_,
                 [&] {
                   ControllersOptions cluster;
                   cluster.seed = random_.Next();
                   return cluster;
                 }()),
        load_balancer_([&] {
          FakeLoadBalancerOptions fake;
          fake.seed = random_.Next();
          return fake;
        }()) {
    load_balancer_.SetServing([this](const std::string& ip, int port) {
      return cluster_.kubelet().ProcessRunning(ip, port, clock_.Now());
    });
    clock_.OnSleep([this](absl::Time wake) { LiveUntil(wake); });
    for (int i = 0; i < options.replicas; ++i) {
      replicas_.push_back(std::make_unique<Replica>(*this, i));
    }
  }

  ReplicaResult Go() {
    SetUp();
    start_ = clock_.Now();
    next_act_ = start_ + absl::Seconds(5);
    calm_ = start_ + options_.faults;
    for (const auto& replica : replicas_) replica->starts = start_;
    RunUntil(calm_ + options_.calm);
    if (!result_.breach.has_value()) CheckEnd();
    for (const WriteRecord& write : load_balancer_.writes()) {
      if (absl::StartsWith(write.client, "replica-")) ++result_.writes;
    }
    return std::move(result_);
  }

  CallFate FateOf(Replica& replica, const Call& call) {
    const absl::Time now = clock_.Now();
    if (IsWrite(call.kind)) CheckSent(replica, call);
    CallFate fate;
    const bool calm = now >= calm_;
    const bool of_oci = IsOci(call.kind);
    if (!calm && !of_oci && now < replica.away_until) {
      fate.kind = random_.Between(0, 3) == 0 ? CallFate::Kind::kLoseReply : CallFate::Kind::kRefuse;
      fate.http_status = 503;
      fate.code = "ServiceUnavailable";
      fate.latency = absl::Milliseconds(random_.Between(0, 3'000));
      return fate;
    }
    const bool slow = !calm && of_oci && now < replica.slow_until;
    fate.latency = absl::Milliseconds(random_.Between(1, slow ? 18'000 : 60));
    // It stands still between the check of its lease and the call.
    if (now < replica.paused_until) fate.latency += 2 * (replica.paused_until - now);
    if (!calm && IsOciWrite(call.kind) && random_.Between(0, 9) == 0) {
      fate.latency = 2 * absl::Seconds(random_.Between(5, 40));
      ++result_.pauses;
      Say(absl::StrCat(replica.identity(), " pauses before ", CallName(call.kind)));
    }
    if (!calm && of_oci && random_.Between(0, 59) == 0) fate.kind = CallFate::Kind::kLoseReply;
    return fate;
  }

  void NoteAnswer(Replica& replica, const Call& call, const absl::Status& status) {
    if (IsOciWrite(call.kind) && absl::IsAborted(status)) ++result_.refused;
    if (call.kind == CallKind::kPutLease || IsOciWrite(call.kind)) {
      Say(absl::StrCat(replica.identity(), " ", CallName(call.kind), " ", call.backend_set, ": ",
                       absl::StatusCodeToString(status.code())));
    }
  }

 private:
  void SetUp() {
    for (const JsonTree& object : ScenarioObjects(scenario_)) Apply(object);
    for (const auto& replica : replicas_) replica->starts = absl::InfiniteFuture();
    RunUntil(kStart + absl::Seconds(15));
    std::map<int, std::vector<std::string>> backends;
    for (const auto& [backend, service] : LiveBackends()) backends[service].push_back(backend);
    const absl::Status added =
        load_balancer_.AddLoadBalancer(ScenarioLoadBalancer(backends), clock_.Now());
    CHECK(added.ok()) << added;
    Apply(ScenarioIngressClass(scenario_));
  }

  void Apply(const JsonTree& object) {
    const KubeResult result = api_server_.ApplyManifest(object, clock_.Now());
    CHECK(result.ok()) << result.error->message;
  }

  // "ip:port" of every Pod that has an address and no deletionTimestamp.
  std::map<std::string, int> LiveBackends() {
    std::map<std::string, int> live;
    for (const KubeObject& pod : api_server_.store().List(resources::Pods(), kScenarioNamespace)) {
      const std::string ip = (*pod)["status"]["podIP"].AsString();
      if (ip.empty() || !(*pod)["metadata"]["deletionTimestamp"].is_null()) continue;
      for (size_t i = 0; i < scenario_.services.size(); ++i) {
        if ((*pod)["metadata"]["labels"]["app"].AsString() ==
            ScenarioService(static_cast<int>(i))) {
          live[absl::StrCat(ip, ":", kScenarioPort)] = static_cast<int>(i);
        }
      }
    }
    return live;
  }

  void RunUntil(absl::Time end) {
    while (clock_.Now() < end && !result_.breach.has_value()) {
      const absl::Time next = Step();
      clock_.Set(std::min(end, std::max(next, clock_.Now() + absl::Milliseconds(1))));
    }
  }

  // A thread of a process sleeps in a call: everything else goes on.
  void LiveUntil(absl::Time wake) {
    while (clock_.Now() < wake) {
      const absl::Time next = Step();
      if (next >= wake) return;
      clock_.Set(std::max(next, clock_.Now() + absl::Milliseconds(1)));
    }
  }

  absl::Time Step() {
    Act();
    absl::Time next = std::min(next_act_, cluster_.Step(clock_.Now()));
    load_balancer_.Advance(clock_.Now());
    for (const auto& replica : replicas_) next = std::min(next, StepReplica(*replica));
    Check();
    return std::min(
        {next, cluster_.NextDue(), api_server_.NextDue(), load_balancer_.NextEventTime()});
  }

  absl::Time StepReplica(Replica& replica) {
    ++replica.depth;
    const absl::Time next = StepThread(replica);
    --replica.depth;
    return next;
  }

  absl::Time StepThread(Replica& replica) {
    const absl::Time now = clock_.Now();
    if (replica.process == nullptr) {
      if (now < replica.starts) return replica.starts;
      replica.ending = false;
      const uint64_t seed = random_.Next();
      const controller::ElectionOptions election = replica.NextElection();
      Say(absl::StrCat(replica.identity(), " starts"));
      replica.process = std::make_unique<ControllerProcess>(
          ControllerProcess::World{api_server_, load_balancer_, clock_, replica}, settings_,
          replica.name(), seed, election);
    }
    if (replica.ending) return EndIfQuiet(replica);
    if (now < replica.paused_until) return replica.paused_until;
    try {
      replica.process->StepElection();
      if (replica.ending) return EndIfQuiet(replica);
      replica.process->PumpWatches();
      for (int turn = 0; !replica.ending && replica.process->PassOnce(); ++turn) {
        CHECK_LT(turn, kMaxTurns) << "a replica does not come to rest";
        replica.process->PumpWatches();
      }
    } catch (const ProcessEnds&) {
      return EndIfQuiet(replica);
    }
    return replica.ending ? EndIfQuiet(replica) : replica.process->NextDue();
  }

  // The process is gone once none of its threads sleeps further down on the stack.
  absl::Time EndIfQuiet(Replica& replica) {
    if (replica.depth > 1) return absl::InfiniteFuture();
    replica.process.reset();
    return replica.starts;
  }

  void Act() {
    const absl::Time now = clock_.Now();
    if (start_ == absl::Time() || now < next_act_) return;
    if (now >= calm_) {
      next_act_ = absl::InfiniteFuture();
      return;
    }
    next_act_ = now + absl::Milliseconds(random_.Between(500, 20'000));
    Replica& replica = *replicas_[static_cast<size_t>(random_.Between(0, options_.replicas - 1))];
    const absl::Duration length = absl::Seconds(random_.Between(2, 40));
    switch (random_.Between(0, 6)) {
      case 0:
      case 1:
        return RollOut(static_cast<int>(random_.Between(0, 1)));
      case 2:
        Say(absl::StrCat(replica.identity(), " is away for ", absl::FormatDuration(length)));
        replica.away_until = now + length;
        return;
      case 3:
        Say(absl::StrCat("the API server is away for ", absl::FormatDuration(length)));
        for (const auto& each : replicas_) each->away_until = now + length;
        return;
      case 4:
        replica.slow_until = now + length;
        return;
      case 5:
        Say(absl::StrCat(replica.identity(), " stands still for ", absl::FormatDuration(length)));
        replica.paused_until = now + length;
        return;
      default:
        if (replica.process == nullptr || replica.ending) return;
        Say(absl::StrCat(replica.identity(), " crashes"));
        replica.ending = true;
        replica.starts = now + length / 2;
    }
  }

  void RollOut(int service) {
    const std::string patch = absl::StrCat(
        R"({"spec":{"template":{"metadata":{"annotations":{"rollout":")", ++rolls_, R"("}}}}})");
    Say(absl::StrCat("rolling update of ", ScenarioService(service)));
    const KubeAnswer answer = api_server_.Handle(
        {.method = "PATCH",
         .target = absl::StrCat("/apis/apps/v1/namespaces/", kScenarioNamespace, "/deployments/",
                                ScenarioService(service)),
         .headers = {{"User-Agent", "kubectl"}, {"Content-Type", "application/merge-patch+json"}},
         .body = patch},
        clock_.Now());
    CHECK_EQ(answer.response.status, 200) << answer.response.body;
  }

  JsonTree LeaseSpec() {
    for (const KubeObject& lease : api_server_.store().List(
             *FindKubeKind("coordination.k8s.io/v1", "Lease"), kLeaseNamespace)) {
      return (*lease)["spec"];
    }
    return JsonTree();
  }
  std::string Holder() { return LeaseSpec()["holderIdentity"].AsString(); }

  void CheckSent(const Replica& replica, const Call& call) {
    const JsonTree spec = LeaseSpec();
    absl::Time renewed;
    std::string error;
    const bool parsed =
        absl::ParseTime(absl::RFC3339_full, spec["renewTime"].AsString(), &renewed, &error);
    const absl::Duration age = clock_.Now() - renewed;
    if (parsed && spec["holderIdentity"].AsString() == replica.identity() &&
        age < controller::ElectionOptions().lease_duration) {
      return;
    }
    Fail(absl::StrCat(replica.identity(), " sends ", CallName(call.kind),
                      ", but the lease is held by ", spec["holderIdentity"].AsString(),
                      ", renewed ", absl::FormatDuration(age), " ago"));
  }

  void Check() {
    std::set<std::string> writers;
    for (const auto& replica : replicas_) {
      if (replica->process != nullptr && !replica->ending && replica->process->may_write()) {
        writers.insert(replica->identity());
      }
    }
    if (writers.size() > 1) Fail("two replicas may write at one moment");
    const std::string holder = Holder();
    if (!holder.empty() && holder != last_holder_) {
      if (!last_holder_.empty()) ++result_.takeovers;
      last_holder_ = holder;
    }
    const auto& writes = load_balancer_.writes();
    for (; accepted_ < writes.size(); ++accepted_) {
      const WriteRecord& write = writes[accepted_];
      if (write.if_match.empty()) Fail(absl::StrCat("a write of ", write.client, " has no ETag"));
      const bool late = !absl::StartsWith(holder, write.client + "_");
      if (late) ++result_.late_writes;
      Say(absl::StrCat(write.client, late ? " has late " : " has ", write.type, " accepted"));
    }
  }

  void CheckEnd() {
    int leaders = 0;
    for (const auto& replica : replicas_) leaders += replica->process->may_write() ? 1 : 0;
    if (leaders != 1) Fail(absl::StrCat(leaders, " replicas lead after all has been calm"));
    const rapidjson::Value* const lb = load_balancer_.Applied(kScenarioOcid);
    for (const auto& [name, service] : LiveBackends()) {
      const rapidjson::Value* const set = FindBackendSet(*lb, ScenarioSet(service));
      const rapidjson::Value* const backend = set == nullptr ? nullptr : FindBackend(*set, name);
      // Without an ingress controller some are in no set: only drains bring membership.
      if (backend != nullptr && (*backend)["drain"].GetBool()) {
        Fail(absl::StrCat("live Pod's backend ", name, " is drained at the end"));
      }
    }
  }

  void Fail(const std::string& what) {
    if (result_.breach.has_value()) return;
    Say(absl::StrCat("BREACH ", what));
    result_.breach =
        absl::StrFormat("after %.3f s: %s", absl::ToDoubleSeconds(clock_.Now() - start_), what);
  }

  void Say(const std::string& what) {
    if (!options_.trace) return;
    result_.trace.push_back(
        absl::StrFormat("%9.3f %s", absl::ToDoubleSeconds(clock_.Now() - start_), what));
  }

  const ReplicaOptions options_;
  base::Random random_;
  const Scenario scenario_;
  const controller::Settings settings_;
  VirtualClock clock_;
  FakeApiServer api_server_;
  Controllers cluster_;
  FakeLoadBalancer load_balancer_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  ReplicaResult result_;
  absl::Time start_ = absl::Time();
  absl::Time calm_ = absl::InfiniteFuture();
  absl::Time next_act_ = absl::InfiniteFuture();
  std::string last_holder_;
  size_t accepted_ = 0;
  int rolls_ = 0;
};

CallFate Replica::OnCall(const Call& call) { return world_.FateOf(*this, call); }

void Replica::OnAnswer(const Call& call, const absl::Status& status, const oci::LoadBalancerRead*) {
  world_.NoteAnswer(*this, call, status);
}

}  // namespace

ReplicaResult RunReplicas(const ReplicaOptions& options) { return World(options).Go(); }

}  // namespace sim
