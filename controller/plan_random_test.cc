// Small random worlds: whatever the input, the plan keeps its promises. Checked
// without the planner's own judgement where that can be done.
#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "controller/golden_case.h"
#include "controller/snapshot.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "drain/plan.h"
#include "gtest/gtest.h"
#include "oci/codec.h"

namespace controller {
namespace {

constexpr int kWorlds = 2000;
constexpr int kAddresses = 7;
constexpr int kPort = 8080;
constexpr int kMaxRounds = 8;

class WorldMaker {
 public:
  explicit WorldMaker(uint64_t seed) : random_(seed) {}

  drain::Input Make() {
    drain::Input input;
    input.now = absl::FromUnixSeconds(1767225600);
    now_ = input.now;
    input.load_balancer = oci::Ocid("ocid1.loadbalancer.oc1.iad.random");
    input.options.coalesce_window = Chance(2) ? absl::ZeroDuration() : absl::Milliseconds(200);
    input.options.carry_membership = !Chance(6);
    input.options.membership_behind_foreign = !Chance(6);
    input.options.write_mode = static_cast<drain::WriteMode>(Chance(3) ? random_.Between(0, 2) : 0);
    input.options.release = Chance(12);
    input.options.max_backends_per_set = Chance(4) ? kAddresses - 1 : 512;
    input.paused = Chance(20);
    input.carry_all = Chance(4);
    input.last_ingress_change = Chance(4) ? now_ - absl::Seconds(30) : absl::InfinitePast();
    input.workloads = {{{"apps/v1", "Deployment", {"shop", "web"}, "w"},
                        static_cast<int>(random_.Between(0, 4)),
                        static_cast<int>(random_.Between(0, 1)),
                        Chance(10)}};
    input.read.emplace();
    input.read->etag = oci::Etag("e1");
    input.read->at = now_ - absl::Milliseconds(random_.Between(0, 90000));
    oci::LoadBalancer load_balancer;
    load_balancer.id = input.load_balancer;
    load_balancer.lifecycle_state = Chance(20) ? "CREATING" : "ACTIVE";
    input.read->load_balancer = std::move(load_balancer);
    if (Chance(8)) input.write_not_before = now_ + absl::Milliseconds(300);
    for (int64_t i = random_.Between(1, 3); i > 0; --i) AddSet(absl::StrCat("bs_", i), input);
    AddMemory(input);
    return input;
  }

  // Plausible answers to everything that is asked.
  void Answer(const drain::Questions& questions, drain::Input& input) {
    if (Chance(5)) return AnswerNothing(questions, input);
    if (questions.read) {
      input.read->at = now_;
      input.read->this_pass = true;
      input.read->etag = oci::Etag("e2");
    }
    if (questions.work_requests) {
      input.work_requests = drain::WorkRequests{ForeignRequests(), now_, true};
    }
    if (questions.own_work_request) {
      input.own_work_request = oci::WorkRequest();
      input.own_work_request->id = input.memory.own_write->work_request;
      input.own_work_request->state = static_cast<oci::WorkRequestState>(random_.Between(0, 3));
      input.own_work_request->time_finished = now_;
      input.own_work_request_polled_at = now_;
    }
    for (const drain::BackendKey& key : questions.health) {
      input.health[key] = {true,
                           {static_cast<oci::HealthStatus>(random_.Between(0, 3)),
                            now_ - absl::Seconds(random_.Between(0, 20))}};
    }
    for (drain::SetInput& set : input.sets) {
      if (questions.memberships.count(set.service.key) != 0) AnswerMembership(set);
      for (drain::Endpoint& endpoint : set.endpoints) {
        if (questions.pods.count(endpoint.pod) != 0) AnswerPod(endpoint);
      }
    }
  }

 private:
  bool Chance(int one_in) { return random_.Between(1, one_in) == 1; }
  std::string Ip(int64_t n) { return absl::StrCat("10.0.0.", n); }

  void AddSet(const std::string& name, drain::Input& input) {
    drain::SetInput set;
    set.name = oci::BackendSetName(name);
    set.service = {"v1", "Service", {"shop", name}, name};
    set.opted_in = !Chance(3);
    set.publishes_terminating = !Chance(6);
    set.contested = Chance(12);
    set.has_membership = !Chance(6);
    set.serving = Chance(3) ? absl::Seconds(20) : absl::ZeroDuration();
    set.target_port = Chance(8) ? 0 : kPort;
    for (int64_t i = random_.Between(0, 6); i > 0; --i) AddEndpoint(set);
    if (!Chance(15)) AddBackends(set, input);
    input.sets.push_back(std::move(set));
  }

  void AddEndpoint(drain::SetInput& set) {
    drain::Endpoint endpoint;
    endpoint.ip = Ip(random_.Between(1, kAddresses));
    endpoint.port = Chance(10) ? 9090 : kPort;
    endpoint.backend = oci::MakeBackendName(endpoint.ip, endpoint.port);
    const std::string uid = absl::StrCat("u", random_.Between(1, 9));
    for (const drain::Endpoint& other : set.endpoints) {
      if (other.backend == endpoint.backend && other.uid == uid) return;  // folded
    }
    if (!Chance(15)) endpoint.pod = {"shop", "pod-" + uid};
    endpoint.uid = uid;
    endpoint.serving = !Chance(4);
    endpoint.cached_uid = Chance(5) ? "" : Chance(8) ? "other" : uid;
    endpoint.workload = Chance(5) ? -1 : 0;
    if (Chance(2)) {
      endpoint.terminating = !Chance(4);
      endpoint.deletion_grace = absl::Seconds(45);
      if (!endpoint.cached_uid.empty()) {
        endpoint.deletion_timestamp = now_ + absl::Seconds(random_.Between(-400, 45));
      }
    }
    set.endpoints.push_back(std::move(endpoint));
  }

  void AddBackends(const drain::SetInput& set, drain::Input& input) {
    oci::BackendSet read;
    read.name = set.name;
    read.health_checker_protocol = Chance(4) ? "TCP" : "HTTP";
    for (int n = 1; n <= kAddresses; ++n) {
      if (Chance(3)) continue;
      oci::Backend backend;
      backend.ip_address = Ip(n);
      backend.port = Chance(12) ? 9090 : kPort;
      backend.name = oci::MakeBackendName(backend.ip_address, backend.port);
      backend.drain = Chance(3);
      backend.document =
          absl::StrCat("{\"name\":\"", backend.name.value(),
                       "\",\"drain\":", backend.drain ? "true" : "false", ",\"offline\":false}");
      backend.settings = absl::StrCat("{\"weight\":", n, "}");
      read.backends.push_back(backend);
      if (Chance(3)) AddEntry({set.name, backend.name}, input);
    }
    std::string documents;
    for (const oci::Backend& backend : read.backends) {
      absl::StrAppend(&documents, documents.empty() ? "" : ",", backend.document);
    }
    read.document = absl::StrCat("{\"name\":\"", set.name.value(), "\",\"backends\":[", documents,
                                 "],\"policy\":\"ROUND_ROBIN\",\"unknown\":{\"kept\":1}}");
    oci::LoadBalancer load_balancer = *input.read->load_balancer;
    load_balancer.backend_sets[set.name] = std::move(read);
    input.read->load_balancer = std::move(load_balancer);
  }

  void AddEntry(const drain::BackendKey& key, drain::Input& input) {
    drain::LedgerEntry entry;
    entry.pod_uid = absl::StrCat("u", random_.Between(1, 9));
    entry.pod = "pod-" + entry.pod_uid;
    entry.since = now_ - absl::Seconds(20);
    entry.deadline = now_ + absl::Seconds(random_.Between(-400, 45));
    entry.confirmed = Chance(2);
    entry.by_operator = Chance(5);
    input.ledger[key] = entry;
    if (Chance(2)) input.memory.carried[key] = entry.pod_uid;
  }

  void AddMemory(drain::Input& input) {
    drain::Memory& memory = input.memory;
    memory.first_read_done = !Chance(4);
    if (Chance(2)) memory.last_write = now_ - absl::Seconds(random_.Between(0, 90));
    memory.last_burst = memory.last_write;
    for (const auto& [name, set] : input.read->load_balancer->backend_sets) {
      for (const oci::Backend& backend : set.backends) {
        const drain::BackendKey key{name, backend.name};
        if (!Chance(4)) memory.registered_at.Put(key, now_ - absl::Seconds(random_.Between(0, 60)));
        if (backend.drain && Chance(2)) memory.last_drained.insert(key);
        if (!Chance(4)) continue;
        memory.known.Put(key, {.pod_uid = "u1", .pod = "", .seen_deleted = Chance(2)});
      }
    }
    if (Chance(5)) {
      memory.own_write.emplace();
      memory.own_write->work_request = oci::WorkRequestId("own");
      memory.own_write->set = input.sets[0].name;
      memory.own_write->accepted_at = now_ - absl::Seconds(5);
    }
    for (int64_t i = Chance(8) ? 2 : 0; i > 0; --i) {
      memory.drained_by_others.insert(absl::StrCat("u", i));
    }
  }

  std::vector<oci::WorkRequest> ForeignRequests() {
    std::vector<oci::WorkRequest> all;
    if (!Chance(3)) return all;
    oci::WorkRequest foreign;
    foreign.id = oci::WorkRequestId("foreign");
    foreign.type = Chance(2) ? "UpdateBackendSet" : Chance(2) ? "UpdateListener" : "UpdateShape";
    foreign.state = static_cast<oci::WorkRequestState>(random_.Between(0, 3));
    all.push_back(foreign);
    return all;
  }

  void AnswerMembership(drain::SetInput& set) {
    set.membership.emplace();
    set.membership->answered = !Chance(6);
    for (int n = 1; n <= kAddresses; ++n) {
      const bool published =
          std::any_of(set.endpoints.begin(), set.endpoints.end(),
                      [&](const drain::Endpoint& endpoint) { return endpoint.ip == Ip(n); });
      if (published ? Chance(10) : !Chance(10)) continue;
      set.membership->members.push_back({oci::MakeBackendName(Ip(n), kPort), Ip(n), kPort});
    }
  }

  void AnswerPod(drain::Endpoint& endpoint) {
    drain::PodLookup& lookup = endpoint.lookup;
    lookup.state = static_cast<drain::LookupState>(random_.Between(1, 3));
    if (lookup.state != drain::LookupState::kFound) return;
    lookup.uid = Chance(3) ? "other" : endpoint.uid;
    lookup.pod_ips = {Chance(2) ? endpoint.ip : "10.0.0.99"};
    lookup.phase = Chance(4) ? "Failed" : "Running";
    lookup.disruption_target = Chance(6);
    if (Chance(3)) lookup.deletion_timestamp = now_ + absl::Seconds(20);
  }

  base::Random random_;
  absl::Time now_;
};

bool LivesAt(const drain::SetInput& set, const oci::BackendName& backend) {
  return std::any_of(set.endpoints.begin(), set.endpoints.end(), [&](const drain::Endpoint& e) {
    return e.backend == backend && !e.pod.name.empty() && e.cached_uid == e.uid && e.serving &&
           e.deletion_timestamp == absl::InfiniteFuture();
  });
}

void ExpectPromisesKept(const drain::Input& input, const drain::Plan& plan) {
  EXPECT_TRUE(drain::CheckPlan(input, plan).ok()) << drain::CheckPlan(input, plan);
  EXPECT_LT(plan.next_look, absl::InfiniteFuture());
  if (!plan.write.has_value()) {
    EXPECT_GT(plan.next_look, input.now) << "a pass that writes nothing looks again at once";
    return;
  }
  const drain::Write& write = *plan.write;
  EXPECT_FALSE(input.paused);
  EXPECT_EQ(input.read->load_balancer->lifecycle_state, "ACTIVE");
  EXPECT_GE(input.now, input.write_not_before);
  const auto set = std::find_if(input.sets.begin(), input.sets.end(),
                                [&](const auto& s) { return s.name == write.set; });
  ASSERT_NE(set, input.sets.end());
  for (const auto& [name, flags] : write.change.flips) {
    EXPECT_FALSE(flags.drain && LivesAt(*set, name)) << name.value() << " lives";
  }
  for (const oci::Backend& added : write.change.additions) {
    EXPECT_FALSE(added.drain && LivesAt(*set, added.name)) << added.name.value() << " lives";
    EXPECT_TRUE(set->has_membership);
  }
  for (const oci::BackendName& name : write.change.removals) {
    EXPECT_TRUE(set->has_membership);
    for (const drain::Member& member : set->membership->members) EXPECT_NE(member.backend, name);
  }
  if (!write.whole_set) return;
  const auto body = oci::EncodeBackendSetUpdate(*write.base, write.change);
  ASSERT_TRUE(body.ok()) << body.status();
  const absl::Status lossless = oci::CheckLossless(*write.base, write.change, *body);
  EXPECT_TRUE(lossless.ok()) << lossless;
}

std::string ExplainReversed(drain::Input input) {
  for (drain::SetInput& set : input.sets) std::reverse(set.endpoints.begin(), set.endpoints.end());
  return drain::Explain(input, drain::MakePlan(input));
}

TEST(RandomWorlds, PlansKeepTheirPromises) {
  for (int seed = 1; seed <= kWorlds && !testing::Test::HasFailure(); ++seed) {
    WorldMaker maker(static_cast<uint64_t>(seed));
    drain::Input input = maker.Make();
    drain::Plan plan = drain::MakePlan(input);
    int rounds = 0;
    for (; !plan.questions.empty() && rounds < kMaxRounds; ++rounds) {
      EXPECT_FALSE(plan.write.has_value());
      maker.Answer(plan.questions, input);
      plan = drain::MakePlan(input);
    }
    EXPECT_LT(rounds, kMaxRounds) << "asks for ever";
    ExpectPromisesKept(input, plan);
    EXPECT_EQ(UnifiedDiff(drain::Explain(input, plan), ExplainReversed(input)), "");
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << drain::Explain(input, plan)
                    << EncodeSnapshot({absl::StrCat("seed ", seed), input});
    }
  }
}

TEST(RandomWorlds, SurviveTheSnapshotFormat) {
  for (int seed = 1; seed <= kWorlds / 10 && !testing::Test::HasFailure(); ++seed) {
    WorldMaker maker(static_cast<uint64_t>(seed));
    drain::Input input = maker.Make();
    maker.Answer(drain::MakePlan(input).questions, input);
    const std::string text = EncodeSnapshot({"", input});
    const auto again = DecodeSnapshot(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(EncodeSnapshot(*again), text);
    EXPECT_EQ(drain::Explain(input, drain::MakePlan(input)),
              drain::Explain(again->input, drain::MakePlan(again->input)));
  }
}

TEST(RandomWorlds, NothingIsWrittenWhileAWriteIsInFlight) {
  int accepted = 0;
  for (int seed = 1; seed <= kWorlds && !testing::Test::HasFailure(); ++seed) {
    WorldMaker maker(static_cast<uint64_t>(seed));
    drain::Input input = maker.Make();
    drain::Plan plan = drain::MakePlan(input);
    for (int round = 0; !plan.questions.empty() && round < kMaxRounds; ++round) {
      maker.Answer(plan.questions, input);
      plan = drain::MakePlan(input);
    }
    if (!plan.write.has_value()) continue;
    ++accepted;
    input.memory = drain::Accepted(plan, oci::WorkRequestId("own"), input.now);
    input.ledger = plan.ledger;
    input.own_work_request.reset();
    input.own_work_request_failed = true;
    const drain::Plan next = drain::MakePlan(input);
    EXPECT_FALSE(next.write.has_value())
        << "seed " << seed << "\n"
        << drain::Explain(input, plan) << drain::Explain(input, next);
  }
  EXPECT_GT(accepted, kWorlds / 10);
}

}  // namespace
}  // namespace controller
