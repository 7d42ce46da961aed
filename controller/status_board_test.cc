#include "controller/status_board.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json.h"
#include "controller/golden_case.h"
#include "controller/packed_pass.h"
#include "controller/snapshot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const kube::ObjectKey kPod = {"shop", "web-a"};

Preview PassOf(const std::string& golden_case) {
  const auto text = base::ReadFile(absl::StrCat(kGoldenFolder, "/", golden_case, kSnapshotSuffix));
  EXPECT_TRUE(text.ok()) << text.status();
  auto snapshot = DecodeSnapshot(*text);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  Preview pass;
  pass.input = std::move(snapshot->input);
  pass.plan = drain::MakePlan(pass.input);
  return pass;
}

class StatusBoardTest : public ::testing::Test {
 protected:
  // What the pass would report; the write's outcome, if it has one.
  void Report(Preview pass, const absl::Status& outcome = absl::OkStatus()) {
    now_ = pass.input.now;
    drain::Memory memory = pass.plan.memory;
    std::optional<absl::Status> written;
    if (pass.plan.write.has_value()) {
      written = outcome;
      if (outcome.ok()) {
        memory = drain::Accepted(pass.plan, oci::WorkRequestId("ours"), now_);
      }
    }
    PassReport report{.preview = std::move(pass),
                      .memory = memory,
                      .written = written,
                      .read = absl::OkStatus(),
                      .slots = slots_,
                      .confirmed_at = confirmed_at_,
                      .next_look = now_ + absl::Seconds(2)};
    board_.Report(std::move(report));
  }
  health::Status Show() { return board_.Show(now_); }
  std::string Explain(const kube::ObjectKey& pod = kPod) {
    const auto explanation = board_.Explain(pod, now_);
    return explanation.ok() ? FormatExplanation(*explanation)
                            : std::string(explanation.status().message());
  }

  StatusBoard board_;
  health::LoadBalancerSlots slots_;
  std::map<drain::BackendKey, absl::Time> confirmed_at_;
  absl::Time now_;
};

TEST_F(StatusBoardTest, ADrainIsWrittenThenConfirmed) {
  Report(PassOf("single_terminating_pod"));
  health::Status status = Show();
  ASSERT_THAT(status.drains.items, SizeIs(1));
  EXPECT_EQ(status.drains.items[0].pod, "shop/web-a");
  EXPECT_EQ(status.drains.items[0].state, health::DrainState::kWritten);
  EXPECT_GT(status.drains.items[0].Slack(now_), absl::ZeroDuration());
  ASSERT_THAT(status.work_requests.items, SizeIs(1));
  EXPECT_EQ(status.work_requests.items[0].id, "ours");
  EXPECT_TRUE(status.work_requests.items[0].ours);
  ASSERT_THAT(status.decisions.items, SizeIs(1));
  EXPECT_EQ(status.decisions.items[0].action, "drain");
  EXPECT_EQ(status.decisions.items[0].pod, "shop/web-a");
  EXPECT_THAT(status.decisions.items[0].reason,
              AllOf(HasSubstr("UpdateBackend, drain"), HasSubstr("accepted as work request ours")));
  Report(PassOf("confirmed"));
  status = Show();
  ASSERT_THAT(status.drains.items, SizeIs(1));
  EXPECT_EQ(status.drains.items[0].state, health::DrainState::kConfirmed);
  EXPECT_EQ(status.decisions.items[0].action, "BackendDrained") << "the newest first";
}

TEST_F(StatusBoardTest, AWaitIsToldWithItsReasonAndOnce) {
  for (int i = 0; i < 3; ++i) Report(PassOf("last_serving_backend"));
  const health::Status status = Show();
  ASSERT_THAT(status.decisions.items, SizeIs(1));
  EXPECT_EQ(status.decisions.items[0].action, "wait");
  EXPECT_THAT(status.decisions.items[0].reason, HasSubstr("last serving backend of its workload"));
  ASSERT_THAT(status.drains.items, SizeIs(1));
  EXPECT_EQ(status.drains.items[0].state, health::DrainState::kWaits);
  EXPECT_EQ(status.drains.items[0].until, now_ + absl::Seconds(40));
}

TEST_F(StatusBoardTest, ARefusedWriteIsAWarning) {
  Report(PassOf("single_terminating_pod"), absl::AbortedError("412 PreconditionFailed"));
  const health::Status status = Show();
  EXPECT_EQ(status.drains.items[0].state, health::DrainState::kWaits);
  EXPECT_TRUE(status.decisions.items[0].warning);
  EXPECT_THAT(status.decisions.items[0].reason, HasSubstr("refused: 412 PreconditionFailed"));
}

TEST_F(StatusBoardTest, WorkRequestsOfOthersAndThoseThatEndedAreShown) {
  Report(PassOf("foreign_update_backend"));
  bool foreign = false;
  for (const health::WorkRequestStatus& request : Show().work_requests.items) {
    foreign = foreign || (!request.ours && request.what == "UpdateBackend");
  }
  EXPECT_TRUE(foreign);
  Report(PassOf("work_request_failed"));
  bool failed = false;
  for (const health::WorkRequestStatus& request : Show().work_requests.items) {
    failed = failed || (request.state == "failed" && !request.error.empty());
  }
  EXPECT_TRUE(failed);
}

TEST_F(StatusBoardTest, EveryListHasABound) {
  for (int i = 0; i < 20; ++i) {
    health::SetSlots& set = slots_.sets.emplace_back();
    set.backend_set = absl::StrCat("bs_", i);
    set.draining = i == 19 ? 1 : 0;
  }
  for (int i = 0; i < 150; ++i) {
    Preview pass = PassOf("two_terminating_pods");
    pass.input.load_balancer = oci::Ocid(absl::StrCat("ocid1.loadbalancer.", i));
    Report(std::move(pass));
  }
  const health::Status status = Show();
  EXPECT_THAT(status.load_balancers.items, SizeIs(health::kMaxShownLoadBalancers));
  EXPECT_EQ(status.load_balancers.more, 150 - health::kMaxShownLoadBalancers);
  size_t sets = 0;
  for (const auto& item : status.load_balancers.items) sets += item.sets.items.size();
  EXPECT_EQ(sets, health::kMaxShownSets);
  EXPECT_THAT(status.drains.items, SizeIs(health::kMaxShownDrains));
  EXPECT_EQ(status.drains.more, 300 - health::kMaxShownDrains);
  EXPECT_THAT(status.decisions.items, SizeIs(health::kMaxShownDecisions));
  EXPECT_EQ(status.decisions.more, 300 - health::kMaxShownDecisions);
  EXPECT_THAT(status.work_requests.items, SizeIs(health::kMaxShownWorkRequests));
}

TEST_F(StatusBoardTest, ALoadBalancerThatIsKnownAndNotLookedAtIsShown) {
  auto view = std::make_shared<TopologyView>();
  view->mapping.load_balancers[oci::Ocid("ocid1.other")].classes.emplace_back().name = "public";
  board_.SetTopology(view);
  const health::Status status = Show();
  ASSERT_THAT(status.load_balancers.items, SizeIs(1));
  EXPECT_EQ(status.load_balancers.items[0].id, "ocid1.other");
  EXPECT_THAT(status.load_balancers.items[0].classes, testing::ElementsAre("public"));
  EXPECT_EQ(status.load_balancers.items[0].read_at, absl::InfinitePast());
}

TEST_F(StatusBoardTest, WhatIsForgottenIsShownNoMore) {
  Preview pass = PassOf("single_terminating_pod");
  const oci::Ocid load_balancer = pass.input.load_balancer;
  Report(std::move(pass));
  board_.Forget(load_balancer);
  EXPECT_THAT(Show().load_balancers.items, IsEmpty());
  EXPECT_THAT(Show().drains.items, IsEmpty());
  EXPECT_THAT(Show().decisions.items, SizeIs(1)) << "what was done is still known";
}

TEST_F(StatusBoardTest, APodIsExplainedByItsRuleAndFacts) {
  Report(PassOf("single_terminating_pod"));
  const std::string text = Explain();
  for (const char* line : {"Pod shop/web-a\n", "backend set bs_web of Service shop/web\n",
                           "  rule          2, its Pod is terminating\n", "  decision      drain\n",
                           "in the set, routable (read ", "  watch         UID ua, SIGKILL ",
                           "  ledger        drained by this project",
                           "drain 10.0.0.1:8080 in bs_web: UpdateBackend"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  const auto explanation = board_.Explain(kPod, now_);
  ASSERT_TRUE(explanation.ok());
  const auto json = base::ParseJson(ExplanationToJson(*explanation), "explanation");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(base::ReadString((*json)["sets"][0]["decision"], "rule_number").value(), "2");
  EXPECT_EQ((*json)["history"].Size(), 1u);
}

TEST_F(StatusBoardTest, EachRuleIsNamedWithWhatDecidedIt) {
  const std::map<std::string, std::string> rules = {
      {"steady_state", "rule          1, its Pod is live"},
      {"slice_terminating_without_cached_pod", "rule          2, "},
      {"pod_is_gone", "live GET      404, no such Pod"},
      {"one_lookup_fails_four_drain", "live GET      no answer"},
      {"node_shutdown", "rule          4, "},
      {"last_serving_backend", "waits         last serving backend of its workload"},
      {"paused", "untouched     an IngressClass of this load balancer says"},
      {"contested_set", "untouched     several Services map"},
  };
  for (const auto& [golden_case, line] : rules) {
    PodExplanation explanation;
    explanation.pod = kPod;
    ExplainPod(PassOf(golden_case), explanation);
    EXPECT_THAT(FormatExplanation(explanation), HasSubstr(line)) << golden_case;
    EXPECT_THAT(FormatExplanation(explanation), Not(HasSubstr("what was decided"))) << golden_case;
  }
}

TEST_F(StatusBoardTest, AnUnknownPodIsAnErrorThatNamesWhatIsKnown) {
  Report(PassOf("single_terminating_pod"));
  EXPECT_EQ(board_.Explain({"shop", "nobody"}, now_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      Explain({"shop", "nobody"}),
      AllOf(HasSubstr("Pod shop/nobody: no backend set knows it"), HasSubstr("to one: web")));
  EXPECT_THAT(Explain({"other", "x"}), HasSubstr("no Service of namespace other"));
}

// What is read of a pass when somebody asks about its Pods.
std::string AllOfIt(const Preview& pass) {
  Snapshot known{.about = "what is kept", .input = {}};
  known.input.now = pass.input.now;
  known.input.load_balancer = pass.input.load_balancer;
  known.input.paused = pass.input.paused;
  known.input.read = pass.input.read;
  known.input.sets = pass.input.sets;
  known.input.ledger = pass.plan.ledger;
  std::string text = EncodeSnapshot(known);
  std::set<kube::ObjectKey> pods;
  for (const drain::SetInput& set : pass.input.sets) {
    for (const drain::Endpoint& endpoint : set.endpoints) pods.insert(endpoint.pod);
  }
  for (const drain::Decision& decision : pass.plan.decisions) {
    pods.insert(decision.pod);
    absl::StrAppend(&text, decision.key.backend.value(), decision.pod_uid, " ",
                    static_cast<int>(decision.rule), static_cast<int>(decision.hold),
                    decision.want_drained, decision.want_offline, absl::FormatTime(decision.until),
                    absl::FormatTime(decision.deadline), "\n");
  }
  for (const kube::ObjectKey& pod : pods) {
    PodExplanation explanation;
    explanation.pod = pod;
    ExplainPod(pass, explanation);
    absl::StrAppend(&text, ExplanationToJson(explanation), "\n");
  }
  return text;
}

TEST(PackedPass, HoldsWhatIsReadOfEachGoldenCase) {
  const std::vector<std::string> cases = ListCases(kGoldenFolder, kSnapshotSuffix);
  ASSERT_GT(cases.size(), 50u);
  for (const std::string& golden_case : cases) {
    Preview pass = PassOf(golden_case);
    for (drain::SetInput& set : pass.input.sets) set.membership.reset();
    const std::string whole = AllOfIt(pass);
    EXPECT_EQ(AllOfIt(PackedPass(std::move(pass)).Unpack()), whole) << golden_case;
  }
}

TEST(PackedPass, IsSmallAndKeepsTimesThatAreNotWholeSeconds) {
  Preview pass;
  pass.input.sets.resize(2);
  const absl::Time times[] = {absl::InfinitePast(), absl::InfiniteFuture(), absl::UnixEpoch(),
                              absl::UnixEpoch() - absl::Nanoseconds(1),
                              absl::FromUnixNanos(1'796'000'000'123'456'789)};
  for (int i = 0; i < 512; ++i) {
    drain::Endpoint& endpoint = pass.input.sets[i % 2].endpoints.emplace_back();
    endpoint.ip = absl::StrCat("10.1.", i / 256, ".", i % 256);
    endpoint.port = 8080;
    endpoint.backend = oci::MakeBackendName(endpoint.ip, endpoint.port);
    endpoint.pod = {"shop", absl::StrCat("web-5b774487c9-", 10'000 + i)};
    endpoint.uid = endpoint.cached_uid =
        absl::StrCat("0f3c8a52-91d4-4b8e-a7c1-", 100'000'000'000 + i);
    endpoint.deletion_timestamp = times[i % 5];
    endpoint.lookup.state = drain::LookupState::kNotAsked;
    endpoint.workload = i - 1;
    drain::Decision& decision = pass.plan.decisions.emplace_back();
    decision.key = {oci::BackendSetName("bs_f151df96ee98ff0"), endpoint.backend};
    decision.pod = endpoint.pod;
    decision.pod_uid = endpoint.uid;
    decision.until = times[(i + 1) % 5];
    decision.deadline = times[(i + 2) % 5];
    decision.hold = drain::Hold::kNotActive;
  }
  const PackedPass packed(pass);
  EXPECT_LT(packed.bytes(), 512 * 130u);
  const Preview again = packed.Unpack();
  for (int i = 0; i < 512; ++i) {
    const drain::Endpoint& before = pass.input.sets[i % 2].endpoints[i / 2];
    const drain::Endpoint& after = again.input.sets[i % 2].endpoints[i / 2];
    ASSERT_EQ(after.backend, before.backend);
    ASSERT_EQ(after.deletion_timestamp, before.deletion_timestamp);
    ASSERT_EQ(after.workload, before.workload);
    ASSERT_EQ(again.plan.decisions[i].until, pass.plan.decisions[i].until);
    ASSERT_EQ(again.plan.decisions[i].deadline, pass.plan.decisions[i].deadline);
    ASSERT_EQ(again.plan.decisions[i].pod_uid, pass.plan.decisions[i].pod_uid);
    ASSERT_EQ(again.plan.decisions[i].hold, pass.plan.decisions[i].hold);
  }
}

TEST(ParsePodName, TakesNamespaceAndName) {
  EXPECT_EQ(*ParsePodName("shop/web-a"), kPod);
  for (const char* wrong : {"", "web-a", "/web-a", "shop/", "a/b/c"}) {
    EXPECT_EQ(ParsePodName(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace controller
