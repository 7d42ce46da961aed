#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/demo_meter.h"
#include "sim/demo_report.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr absl::Duration kNever = absl::InfiniteDuration();
const absl::Time kStart = absl::FromUnixSeconds(1796000000);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

// A Pod that was there long before.
PodTimes OldPod(const std::string& name) {
  return {.name = name,
          .uid = "uid-" + name,
          .backend = name + ":80",
          .created = At(-100),
          .running = At(-99)};
}

PodTimes NewPod(const std::string& name, double created) {
  PodTimes pod = OldPod(name);
  pod.created = At(created);
  pod.running = At(created + 1);
  return pod;
}

AppliedState State(double seconds, std::map<std::string, bool> backends) {
  return {.time = At(seconds), .drained_by_backend = std::move(backends)};
}

// "old" is deleted at 5 and ends at 45; "new" takes its place from 20 on.
ServiceHistory OnePodReplaced() {
  ServiceHistory history{.trigger = kStart, .end = At(60)};
  history.pods = {OldPod("old"), NewPod("new", 0)};
  history.pods[0].deleted = At(5);
  history.pods[0].ended = At(45);
  history.pods[0].removed = At(46);
  history.states = {State(-10, {{"old:80", false}}),
                    State(20, {{"old:80", true}, {"new:80", false}})};
  return history;
}

TEST(Measure, CountsADrainThatIsAppliedBeforeTheEnd) {
  const ServiceFigures figures = Measure(OnePodReplaced());
  EXPECT_EQ(figures.terminated, 1);
  EXPECT_EQ(figures.drained_before_exit, 1);
  EXPECT_THAT(figures.drain_latency, ElementsAre(absl::Seconds(15)));
  EXPECT_THAT(figures.replacement_latency, ElementsAre(absl::Seconds(20)));
  EXPECT_EQ(figures.replaced_after, absl::Seconds(20));
  EXPECT_EQ(figures.min_good_backends, 1);
  EXPECT_EQ(figures.dead, absl::ZeroDuration());
  EXPECT_THAT(figures.dead_times, IsEmpty());
}

TEST(Measure, CountsABackendThatIsGoneAsDrained) {
  ServiceHistory history = OnePodReplaced();
  history.states[1] = State(20, {{"new:80", false}});
  EXPECT_EQ(Measure(history).drained_before_exit, 1);
  EXPECT_THAT(Measure(history).drain_latency, ElementsAre(absl::Seconds(15)));
}

TEST(Measure, TellsWhenABackendOutlivesItsProcess) {
  ServiceHistory history = OnePodReplaced();
  history.states[1] = State(50, {{"old:80", true}, {"new:80", false}});
  const ServiceFigures figures = Measure(history);
  EXPECT_EQ(figures.drained_before_exit, 0);
  EXPECT_EQ(figures.dead, absl::Seconds(5));
  EXPECT_EQ(figures.dead_foreign, absl::ZeroDuration());
  EXPECT_EQ(figures.min_good_backends, 0);
  EXPECT_EQ(figures.min_good_at, absl::Seconds(45));
  EXPECT_EQ(figures.without_good, absl::Seconds(5));
  ASSERT_THAT(figures.dead_times, SizeIs(1));
  EXPECT_EQ(figures.dead_times[0].from, At(45));
  EXPECT_EQ(figures.dead_times[0].to, At(50));
}

// The rival's write is accepted at `accepted` and un-drains at 44.
ServiceHistory Undrained(double accepted) {
  ServiceHistory history = OnePodReplaced();
  history.states.push_back(State(44, {{"old:80", false}, {"new:80", false}}));
  history.states.back().by_rival = true;
  history.states.back().accepted = At(accepted);
  history.states.push_back(State(52, {{"old:80", true}, {"new:80", false}}));
  history.confirmed["uid-old"] = At(22);
  return history;
}

TEST(Measure, ExplainsByAForeignWriteOnlyWhatWasConfirmedBeforeItWasAccepted) {
  const ServiceFigures after = Measure(Undrained(30));
  EXPECT_EQ(after.drained_before_exit, 0);
  EXPECT_EQ(after.undrained_by_foreign, 1);
  EXPECT_EQ(after.dead, absl::ZeroDuration());
  EXPECT_EQ(after.dead_foreign, absl::Seconds(7));
  const ServiceFigures before = Measure(Undrained(21));
  EXPECT_EQ(before.undrained_by_foreign, 0);
  EXPECT_EQ(before.dead, absl::Seconds(7));
  EXPECT_EQ(before.dead_foreign, absl::ZeroDuration());
}

TEST(Measure, DoesNotExplainByAWriteOfOurs) {
  ServiceHistory history = Undrained(30);
  history.states[2].by_rival = false;
  EXPECT_EQ(Measure(history).dead, absl::Seconds(7));
}

TEST(Measure, LooksPastStatesThatLeaveABackendAsItIs) {
  ServiceHistory history = Undrained(30);
  history.states.insert(history.states.begin() + 3,
                        State(47, {{"old:80", false}, {"new:80", false}, {"x:80", false}}));
  const ServiceFigures figures = Measure(history);
  EXPECT_EQ(figures.dead_foreign, absl::Seconds(7));
  EXPECT_THAT(figures.dead_times, SizeIs(1)) << "one time, though a write fell into it";
}

TEST(Measure, DoesNotCallAReusedAddressDead) {
  ServiceHistory history = OnePodReplaced();
  history.pods[1].backend = "old:80";
  history.pods[1].running = At(45);
  history.states = {State(-10, {{"old:80", false}})};
  EXPECT_EQ(Measure(history).dead, absl::ZeroDuration());
}

TEST(Measure, SaysNeverForWhatWasNotSeen) {
  ServiceHistory history = OnePodReplaced();
  history.states.pop_back();
  const ServiceFigures figures = Measure(history);
  EXPECT_THAT(figures.drain_latency, ElementsAre(kNever));
  EXPECT_THAT(figures.replacement_latency, ElementsAre(kNever));
  EXPECT_EQ(figures.replaced_after, kNever);
}

TEST(RolloutIsOver, WhenTheOldAreGoneAndTheNewAreRouted) {
  ServiceHistory history = OnePodReplaced();
  EXPECT_TRUE(RolloutIsOver(history, 1));
  EXPECT_FALSE(RolloutIsOver(history, 2)) << "another one is still to come";
  EXPECT_TRUE(DeletedPodsHaveEnded(history));
  history.pods[0].removed = absl::InfiniteFuture();
  EXPECT_FALSE(RolloutIsOver(history, 1));
  EXPECT_TRUE(ReplacementsRouted(history, 1));
  history.states.pop_back();
  EXPECT_FALSE(ReplacementsRouted(history, 1));
}

TEST(Percentile, IsTheNearestRank) {
  std::vector<absl::Duration> values;
  for (int i = 1; i <= 10; ++i) values.push_back(absl::Seconds(i));
  EXPECT_EQ(Percentile(values, 50), absl::Seconds(5));
  EXPECT_EQ(Percentile(values, 99), absl::Seconds(10));
  EXPECT_EQ(Percentile(values, 1), absl::Seconds(1));
  EXPECT_EQ(Percentile({}, 50), kNever);
}

RunResult MakeRun(const std::string& name, bool with_controller) {
  RunResult run;
  run.name = name;
  run.trigger = kStart;
  run.with_controller = with_controller;
  run.web = Measure(OnePodReplaced());
  run.writes = {.waves = with_controller ? 1 : 0,
                .writes_accepted = with_controller ? 1 : 0,
                .work_requests = 2,
                .mean_work_request = absl::Seconds(10),
                .longest_work_request = absl::Seconds(12)};
  run.controller_peak_mb = with_controller ? 19.5 : 0;
  return run;
}

DemoResult GoodResult() {
  DemoResult result;
  result.replicas = 1;
  result.good_floor = 1;
  result.alone = MakeRun("NIC alone", false);
  result.helped = MakeRun("with controller", true);
  result.shared_alone = result.alone;
  result.shared = result.helped;
  result.shared_carry_all = MakeRun("carry all", true);
  for (RunResult* run : {&result.shared_alone, &result.shared, &result.shared_carry_all}) {
    run->neighbour = run->web;
  }
  return result;
}

std::vector<std::string> Broken(const DemoResult& result) {
  std::vector<std::string> broken;
  for (const Promise& promise : JudgePromises(result)) {
    if (!promise.kept) broken.push_back(absl::StrCat(promise.text, ": ", promise.figure));
  }
  return broken;
}

TEST(JudgePromises, KeepsThemAllInAGoodRun) { EXPECT_THAT(Broken(GoodResult()), IsEmpty()); }

TEST(JudgePromises, NamesEachThatIsBroken) {
  DemoResult result = GoodResult();
  result.helped.web.drained_before_exit = 0;
  result.helped.web.min_good_backends = 0;
  result.helped.web.min_good_at = absl::Seconds(3);
  result.helped.web.dead = absl::Seconds(2);
  result.helped.web.replacement_latency = {absl::Seconds(25)};
  result.helped.writes.writes_accepted = 2;
  result.helped.controller_peak_mb = 41;
  EXPECT_THAT(
      Broken(result),
      ElementsAre("every terminated Pod is drained before its process ends: 0 of 1",
                  "never fewer than 1 good backends: 0 at 3.0 s",
                  "no dead backend is routable but for what a foreign write explains: 2.0 s",
                  "replacements are routed within two work requests: 25.0 s of 24.0 s",
                  "a wave of drains costs one accepted write: 2 for 1",
                  "the controller needs less than 40 MB: 41.0 MB"));
}

TEST(JudgePromises, GivesANeighbour70SecondsABurstOrTenInAll) {
  DemoResult result = GoodResult();
  result.shared.writes.writes_accepted = 2;
  result.shared.neighbour->replaced_after = absl::Seconds(160);
  result.shared_carry_all.neighbour->replaced_after = absl::Seconds(30);
  EXPECT_THAT(Broken(result), IsEmpty());
  result.shared.neighbour->replaced_after = absl::Seconds(161);
  result.shared_carry_all.neighbour->replaced_after = absl::Seconds(31);
  EXPECT_THAT(Broken(result), SizeIs(2));
}

TEST(JudgePromises, TrustsNoRunThatHasAFault) {
  DemoResult result = GoodResult();
  result.shared_alone.faults = {"it was not over"};
  EXPECT_THAT(Broken(result), ElementsAre(HasSubstr("it was not over")));
}

TEST(DescribeResult, HasATableForEachQuestionAndTheVerdicts) {
  const std::string text = DescribeResult(GoodResult());
  EXPECT_THAT(text, HasSubstr("Pods terminated"));
  EXPECT_THAT(text, HasSubstr("15.0 / 15.0 / 15.0 s"));
  EXPECT_THAT(text, HasSubstr("2.0 / 2.0")) << "work requests until a replacement is routed";
  EXPECT_THAT(text, HasSubstr("19.5 MB"));
  EXPECT_THAT(text, HasSubstr("90.0 s")) << "the neighbour's bound";
  EXPECT_THAT(text, HasSubstr("  kept    never fewer than 1 good backends: 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("BROKEN")));
}

TEST(DescribeDeadTimes, SaysWhoMadeItRoutable) {
  RunResult run = MakeRun("with controller", true);
  run.web = Measure(Undrained(30));
  EXPECT_EQ(DescribeDeadTimes(run),
            "with controller: old was routable but dead from 45.0 s to 52.0 s, by a write of the "
            "ingress controller accepted at 30.0 s; its drain was confirmed at 22.0 s\n");
}

TEST(ResultJson, IsOneLineWithThePromisedKeys) {
  const std::string text = ResultJson(GoodResult()).Dump();
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const auto json = JsonTree::Parse(text, "result");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["terminated"].AsInt(), 1);
  EXPECT_EQ((*json)["drained_before_exit"].AsInt(), 1);
  for (const char* key : {"p50", "p99", "max"}) {
    EXPECT_EQ((*json)["drain_latency_s"][key].AsDouble(), 15.0) << key;
  }
  for (const char* key : {"waves", "writes_accepted", "writes_corrective", "min_good_backends",
                          "seconds_with_dead_backend", "seconds_with_dead_backend_foreign",
                          "work_requests", "conflicts_412", "controller_peak_mb"}) {
    EXPECT_TRUE((*json)[key].is_number()) << key;
  }
  EXPECT_EQ((*json)["replacement_routed_work_requests"]["max"].AsDouble(), 2.0);
  EXPECT_EQ((*json)["neighbours"].items().size(), 3U);
  EXPECT_TRUE((*json)["nic_alone"].is_object());
  EXPECT_TRUE((*json)["all_kept"].AsBool());
}

TEST(ResultJson, HasNullForNever) {
  DemoResult result = GoodResult();
  result.helped.web.drain_latency = {kNever};
  EXPECT_TRUE(ResultJson(result)["drain_latency_s"]["max"].is_null());
}

}  // namespace
}  // namespace sim
