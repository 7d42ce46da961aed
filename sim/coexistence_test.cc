// The rival against what was measured with the real ingress controller: a rolling
// update of 10 (maxSurge 3, maxUnavailable 0, Ready after 3 s, process gone 25 s
// after deletion, work requests of 6 to 14 s, one load balancer), alone and beside
// add-ons that only set drain flags.
//
//   measured        drained before exit   fewest good   s with none   s with a dead one
//   alone                 0 of 10              9              0             20
//   + one per Pod         2 of 10              0             29             39
//   + one per pass       10 of 10              0             30              0

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "gtest/gtest.h"
#include "sim/fake_load_balancer.h"
#include "sim/fake_load_balancer_http.h"
#include "sim/rival.h"
#include "sim/rival_body.h"

namespace sim {
namespace {

constexpr char kOcid[] = "ocid1.lb";
constexpr int kReplicas = 10;
constexpr int kSurge = 3;
constexpr absl::Duration kStep = absl::Milliseconds(500);
constexpr absl::Duration kReadyAfter = absl::Seconds(3);
constexpr absl::Duration kGoneAfter = absl::Seconds(25);
const absl::Time kStart = absl::FromUnixSeconds(1800000000);

struct Pod {
  std::string ip;
  bool old = false;
  absl::Time created;
  absl::Time deleted = absl::InfiniteFuture();
};

class VirtualClock : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = kStart;
};

// A Deployment whose Pods stay published until their process has gone.
class Rollout : public RivalWorld {
 public:
  explicit Rollout(VirtualClock& clock) : clock_(clock) {
    for (int i = 0; i < kReplicas; ++i) Create(/*old=*/true);
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Pod& pod : pods_) names.push_back(pod.ip + ":80");
    return names;
  }

  // What the Deployment's controller does in one sync.
  void Sync() {
    int live = 0;
    int fresh = 0;
    int available = 0;
    for (const Pod& pod : pods_) {
      if (pod.deleted <= clock_.now) continue;
      ++live;
      fresh += !pod.old;
      available += pod.old || pod.created + kReadyAfter <= clock_.now;
    }
    for (; live < kReplicas + kSurge && fresh < kReplicas; ++live, ++fresh) Create(false);
    for (Pod& pod : pods_) {
      if (available <= kReplicas || !pod.old || pod.deleted <= clock_.now) continue;
      pod.deleted = clock_.now;
      --available;
    }
  }

  const std::vector<Pod>& pods() const { return pods_; }
  bool Running(const Pod& pod) const { return clock_.now < pod.deleted + kGoneAfter; }

  absl::StatusOr<std::vector<RivalClass>> Classes() override {
    return std::vector<RivalClass>{{"oci", kOcid, {{.backend_set = "bs_1"}}}};
  }
  absl::StatusOr<std::vector<RivalEndpoint>> Endpoints(const RivalClass&,
                                                       const RivalPath&) override {
    std::vector<RivalEndpoint> published;
    for (const Pod& pod : pods_) {
      if (Running(pod)) published.push_back({pod.ip, 80, pod.deleted <= clock_.now});
    }
    return published;
  }

 private:
  void Create(bool old) {
    pods_.push_back({absl::StrCat("10.0.0.", pods_.size() + 1), old, clock_.now});
  }

  VirtualClock& clock_;
  std::vector<Pod> pods_;
};

// Sets drain flags and nothing else, waiting for each of its work requests.
class DrainOnly {
 public:
  DrainOnly(FakeLoadBalancer& core, Rollout& rollout, bool one_per_pod)
      : core_(core), rollout_(rollout), one_per_pod_(one_per_pod) {}

  void Pass(absl::Time now) {
    if (!core_.writes().empty() && !mine_.empty()) {
      const std::string state = core_.GetWorkRequest(mine_, now).body;
      if (state.find("timeFinished") == std::string::npos) return;
    }
    std::set<std::string> leaving;
    for (const Pod& pod : rollout_.pods()) {
      if (pod.deleted <= now && rollout_.Running(pod)) leaving.insert(pod.ip);
    }
    core_.Advance(now);
    const rapidjson::Value& set = *FindBackendSet(*core_.Applied(kOcid), "bs_1");
    const WriteHeaders guard{.if_match = core_.Etag(kOcid), .client = "us"};
    std::vector<RivalBackend> backends;
    std::string first;
    for (const auto& backend : set["backends"].GetArray()) {
      const std::string ip(base::StringOf(backend["ipAddress"]));
      const bool drain = backend["drain"].IsTrue() || leaving.contains(ip);
      backends.push_back({ip, 80, drain});
      if (drain && backend["drain"].IsFalse() && first.empty()) first = ip;
    }
    if (first.empty()) return;
    const ApiReply reply =
        one_per_pod_
            ? core_.UpdateBackend({kOcid, "bs_1", first + ":80"},
                                  R"({"weight":1,"backup":false,"drain":true,"offline":false})",
                                  guard, now)
            : core_.UpdateBackendSet({kOcid, "bs_1"}, RivalBackendSetBody(set, backends), guard,
                                     now);
    mine_ = reply.work_request_id;
  }

 private:
  FakeLoadBalancer& core_;
  Rollout& rollout_;
  const bool one_per_pod_;
  std::string mine_;
};

enum class AddOn { kNone, kOnePerPod, kOnePerPass };

struct Outcome {
  int drained_before_exit = 0;  // or out of the set
  int fewest_good = kReplicas;
  double seconds_with_none = 0;
  double seconds_with_dead = 0;
  double replacements_routed_after = 0;  // all of them, counted from the start
  int64_t conflicts_412 = 0;
};

// One look at the load balancer as its clients see it.
void Observe(const FakeLoadBalancer& core, const Rollout& rollout, absl::Duration since_begin,
             absl::Time now, Outcome& outcome) {
  std::set<std::string> routable;
  const rapidjson::Value& set = *FindBackendSet(*core.Applied(kOcid), "bs_1");
  for (const auto& backend : set["backends"].GetArray()) {
    if (backend["drain"].IsFalse()) routable.emplace(base::StringOf(backend["ipAddress"]));
  }
  int good = 0;
  bool dead = false;
  bool all_new = true;
  for (const Pod& pod : rollout.pods()) {
    const bool routed = routable.contains(pod.ip);
    good += routed && rollout.Running(pod);
    dead |= routed && !rollout.Running(pod);
    all_new &= pod.old || routed;
    const bool just_gone = pod.deleted + kGoneAfter == now;
    outcome.drained_before_exit += just_gone && !routed;
  }
  const double step = absl::ToDoubleSeconds(kStep);
  outcome.fewest_good = std::min(outcome.fewest_good, good);
  outcome.seconds_with_none += good == 0 ? step : 0;
  outcome.seconds_with_dead += dead ? step : 0;
  if (!all_new) outcome.replacements_routed_after = absl::ToDoubleSeconds(since_begin);
}

Outcome RollOut(AddOn add_on, uint64_t seed) {
  VirtualClock clock;
  FakeLoadBalancerOptions options;
  options.min_service_time = absl::Seconds(6);
  options.max_service_time = absl::Seconds(14);
  options.seed = seed;
  FakeLoadBalancer core(options);
  FakeLoadBalancerHttp http(core);
  InMemoryTransport transport(http, clock, "rival");
  Rollout rollout(clock);
  EXPECT_TRUE(
      core.AddLoadBalancer(MakeLoadBalancerJson(kOcid, {{"bs_1", rollout.Names()}}), kStart).ok());
  Rival rival({}, rollout, transport, kStart);
  DrainOnly drain_only(core, rollout, add_on == AddOn::kOnePerPod);

  // The rollout begins anywhere between two ticks, and at any age of its cache.
  const absl::Time begin = kStart + absl::Minutes(1) + seed * absl::Milliseconds(3500);
  Outcome outcome;
  for (; clock.now < begin + absl::Minutes(3); clock.now += kStep) {
    if (clock.now >= begin) rollout.Sync();
    core.Advance(clock.now);
    Observe(core, rollout, clock.now - begin, clock.now, outcome);
    rival.Step(clock.now);
    if (add_on != AddOn::kNone) drain_only.Pass(clock.now);
  }
  outcome.conflicts_412 = rival.counts().conflicts_412;
  return outcome;
}

// One outcome for each phase that the rival's tick and cache can be in when the
// rollout begins; the measured runs were one phase each.
std::vector<Outcome> RollOutInAllPhases(AddOn add_on) {
  std::vector<Outcome> outcomes;
  for (uint64_t seed = 1; seed <= 20; ++seed) outcomes.push_back(RollOut(add_on, seed));
  return outcomes;
}

// In how many of the outcomes `holds` does.
template <typename Predicate>
int Count(const std::vector<Outcome>& outcomes, Predicate holds) {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(), holds));
}

TEST(Coexistence, AloneTheRivalDrainsNothingAndKeepsServing) {
  for (const Outcome& outcome : RollOutInAllPhases(AddOn::kNone)) {
    EXPECT_EQ(outcome.drained_before_exit, 0);
    EXPECT_GE(outcome.fewest_good, 6);
    EXPECT_GE(outcome.seconds_with_dead, 15);
    EXPECT_LE(outcome.replacements_routed_after, 45);
    EXPECT_EQ(outcome.conflicts_412, 0);
  }
}

TEST(Coexistence, DrainFlagsPerPassShutTheRivalOutUntilNothingServes) {
  const std::vector<Outcome> outcomes = RollOutInAllPhases(AddOn::kOnePerPass);
  EXPECT_EQ(Count(outcomes, [](const Outcome& o) { return o.fewest_good == 0; }), 20);
  // As measured: all drained, none dead, but half a minute without a good backend.
  EXPECT_GE(Count(outcomes,
                  [](const Outcome& o) {
                    return o.drained_before_exit == kReplicas && o.seconds_with_dead == 0 &&
                           o.seconds_with_none >= 18 && o.replacements_routed_after >= 49 &&
                           o.conflicts_412 >= 3;
                  }),
            5);
}

TEST(Coexistence, OneCallPerPodDrainsTooLateAndShutsTheRivalOutToo) {
  const std::vector<Outcome> outcomes = RollOutInAllPhases(AddOn::kOnePerPod);
  for (const Outcome& outcome : outcomes) {
    EXPECT_LE(outcome.drained_before_exit, 3);
    EXPECT_GE(outcome.seconds_with_dead, 20);
  }
  EXPECT_GE(Count(outcomes,
                  [](const Outcome& o) {
                    return o.fewest_good == 0 && o.seconds_with_none >= 12 &&
                           o.replacements_routed_after >= 50 && o.conflicts_412 >= 3;
                  }),
            5);
}

}  // namespace
}  // namespace sim
