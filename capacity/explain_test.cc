#include "capacity/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "annotations/annotations.h"

namespace capacity {
namespace {

using annotations::Reserve;
using testing::HasSubstr;
using testing::Not;

Input OneSet(const Demand& demand, int limit) {
  Input input;
  input.now = absl::FromUnixSeconds(1'800'000'000);
  input.limits.backends_per_set = limit;
  SetInput set;
  set.name = oci::BackendSetName("bs_web");
  set.service = {"v1", "Service", {"shop", "web"}, "s"};
  set.demand = demand;
  set.workloads = {0};
  input.workloads.push_back({{"apps/v1", "Deployment", {"shop", "web"}, "u"}, demand.live, 0});
  input.sets.push_back(set);
  return input;
}

std::shared_ptr<const Forecast> ForecastOf(const kube::Workload& workload) {
  return std::make_shared<const Forecast>(
      Simulate(RolloutOf(workload, workload.replicas, Times())));
}

std::shared_ptr<const Forecast> ForecastOf(int steady, int peak) {
  Forecast forecast;
  forecast.steady = steady;
  forecast.peak = peak;
  return std::make_shared<const Forecast>(forecast);
}

std::string TextOf(const Input& input, FindingKind kind, const Advice& advice = {}) {
  for (const Finding& finding : MakePlan(input).findings) {
    if (finding.kind == kind) return Describe(input, finding, advice);
  }
  return "not found";
}

TEST(Describe, NamesTheLimitTheNumbersAndWhatToChange) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.replicas = 9;
  workload.written_max_surge = kube::IntOrPercent::Count(4);
  Input input = OneSet({.live = 9, .foreign = 1}, 14);
  input.sets[0].forecast = ForecastOf(workload);
  const Advice advice = Advise(workload, 9, Times(), 13);
  EXPECT_EQ(TextOf(input, FindingKind::kRolloutWillExceedBackendLimit, advice),
            "A rollout of Deployment shop/web would need 18 of at most 14 backends of backend set "
            "bs_web: 17 at its peak, with terminating Pods, where 13 are left for it. Replacements "
            "would wait without traffic. It fits with maxSurge 2, or "
            "terminationGracePeriodSeconds 8, or 6 replicas.");

  EXPECT_EQ(TextOf(OneSet({.live = 9, .pending = 2, .foreign = 1}, 10),
                   FindingKind::kRolloutBlockedByBackendLimit),
            "2 Pod(s) of Deployment shop/web wait for a slot: 10 of at most 10 backends of backend "
            "set bs_web are in use, draining and foreign ones included, and none drains, so that "
            "none becomes free by itself. Lower the replicas of it or of what shares the limit, or "
            "take out foreign backends (1 in this set).");

  input = OneSet({.live = 9}, 10);
  input.sets[0].autoscaled = ForecastOf(12, 12);
  EXPECT_THAT(TextOf(input, FindingKind::kBackendSetLimitNear),
              HasSubstr("Its autoscaler may ask for 12 Pods: lower maxReplicas to 10."));

  input = OneSet({.live = 9}, 10);
  input.limits.backends_per_load_balancer = 10;
  EXPECT_THAT(TextOf(input, FindingKind::kBackendCapacityLow),
              HasSubstr("9 of at most 10 backends of the load balancer"));
  input.limits.backends_per_load_balancer = 100;
  input.other_sets = 15;
  EXPECT_THAT(TextOf(input, FindingKind::kBackendCapacityLow),
              HasSubstr("16 of at most 16 backend sets"));
}

// Bad input of Services: what it comes to, and what is said where a person must act.
TEST(Reserve, BadValuesAreTheDefaultAndTooMuchIsTold) {
  const struct {
    const char* value;
    bool bad;
    int need;
    const char* finding;
  } kCases[] = {
      {"auto", false, 0, "not found"},
      {"120%", true, 0, "not found"},
      {"-1", true, 0, "not found"},
      {"many", true, 0, "not found"},
      {"", true, 0, "not found"},
      {"100%", false, 50, "not found"},
      {"512", false, 512, "Of 512 slots to be kept for rollouts of Deployment shop/web, 462 are"},
      {"513", true, 0, "not found"},
  };
  for (const auto& each : kCases) {
    const auto parsed = annotations::ParseServiceAnnotations(
        {{"oci-native-ingress.oraclecloud.com/backend-drain-reserve", each.value}});
    EXPECT_EQ(!parsed.bad.empty(), each.bad) << each.value;
    Input input = OneSet({.live = 50}, 512);
    input.sets[0].reserve = parsed.values.reserve;
    EXPECT_EQ(MakePlan(input).sets[0].need, each.need) << each.value;
    const std::string text = TextOf(input, FindingKind::kReserveUnsatisfiable);
    EXPECT_THAT(text, HasSubstr(each.finding)) << each.value;
    if (each.need == 512) {
      EXPECT_THAT(text, HasSubstr("not bound by this reserve"));
    }
  }
}

TEST(Describe, SaysWhatToDoAboutAnObstacle) {
  const struct {
    Obstacle obstacle;
    const char* cure;
  } kCases[] = {
      {Obstacle::kOnlyWarn, "--capacity_action=withdraw"},
      {Obstacle::kNoLabelInSelector, "published: \"true\" to the Pod template"},
      {Obstacle::kOwnerUnknown, "its selector is not known"},
      {Obstacle::kLabelInReplicaSet, "out of the selector of the workload"},
      {Obstacle::kLabelInDisruptionBudget, "out of the selector of the PodDisruptionBudget"},
  };
  for (const auto& each : kCases) {
    Input input = OneSet({.live = 9, .pending = 1, .draining = 1}, 10);
    input.sets[0].obstacle = each.obstacle;
    input.sets[0].drained.push_back({oci::BackendName("10.0.0.1:80"), {}, "u", input.now});
    input.sets[0].drained[0].since -= absl::Minutes(1);
    EXPECT_THAT(TextOf(input, FindingKind::kWithdrawalRefused), HasSubstr(each.cure));
  }
}

TEST(DescribeEnd, NamesTheConditionAndTheSet) {
  EXPECT_EQ(DescribeEnd({FindingKind::kBackendSetLimitNear, oci::BackendSetName("bs_web")}),
            "Ended: BackendSetLimitNear of backend set bs_web.");
  EXPECT_EQ(DescribeEnd({FindingKind::kBackendCapacityLow, oci::BackendSetName()}),
            "Ended: BackendCapacityLow.");
}

// Every note fits into an Event.
TEST(Describe, StaysWithinAnEventsNote) {
  Input input = OneSet({.live = 500, .pending = 100, .draining = 5, .foreign = 7}, 512);
  input.sets[0].name = oci::BackendSetName(std::string(32, 'b'));
  input.workloads[0].reference.key = {std::string(63, 'n'), std::string(253, 'w')};
  input.sets[0].forecast = ForecastOf(600, 1200);
  input.sets[0].autoscaled = input.sets[0].forecast;
  Advice advice;
  advice.max_surge = 1;
  advice.grace = absl::Hours(24);
  advice.replicas = 10000;
  const Plan plan = MakePlan(input);
  EXPECT_THAT(plan.findings, Not(testing::IsEmpty()));
  for (const Finding& finding : plan.findings) {
    EXPECT_LE(Describe(input, finding, advice).size(), 1024U);
  }
}

}  // namespace
}  // namespace capacity
