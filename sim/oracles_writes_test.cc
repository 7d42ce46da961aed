// Each oracle about writes is seen to fail where its promise is broken, and to be
// silent where it is just kept.
#include "sim/oracles_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "sim/oracle_test_world.h"

namespace sim {
namespace {

constexpr absl::Duration kApplied = absl::Seconds(11);
constexpr auto kUs = OracleTestWorld::kUs;
constexpr auto kConsole = OracleTestWorld::kConsole;

Call Write(const char* if_match) {
  return {.kind = CallKind::kUpdateBackend, .backend_set = "bs_x", .if_match = oci::Etag(if_match)};
}

oci::LoadBalancerRead ReadWith(const char* etag) {
  oci::LoadBalancerRead read;
  read.etag = oci::Etag(etag);
  return read;
}

TEST(GuardOracle, SeesAWriteWithoutTheEtagOfTheLastRead) {
  for (const char* sent : {"", "old"}) {
    OracleTestWorld world(std::make_unique<GuardOracle>());
    world.AnswerRead(ReadWith("old"));
    world.AnswerRead(ReadWith("new"));
    world.oracle().OnCall(Write("new"), world.truth());
    EXPECT_EQ(world.said(), "");
    world.oracle().OnCall(Write(sent), world.truth());
    EXPECT_TRUE(absl::StartsWith(world.said(), "guard: ")) << sent;
  }
}

TEST(GuardOracle, SeesAWriteOfAProcessThatHasReadNothing) {
  OracleTestWorld world(std::make_unique<GuardOracle>());
  world.AnswerRead(ReadWith("new"));
  world.oracle().OnStart(world.truth());
  world.oracle().OnCall(Write("new"), world.truth());
  EXPECT_TRUE(absl::StartsWith(world.said(), "guard: "));
}

TEST(OneWriteOracle, SeesASecondWriteInFlight) {
  OracleTestWorld world(std::make_unique<OneWriteOracle>());
  world.Drain(kUs, world.Backend(0));
  world.Drain(kConsole, world.Backend(1));
  world.RunFor(kApplied);
  world.Drain(kUs, world.Backend(1));
  EXPECT_EQ(world.said(), "") << "the first has ended";
  world.Drain(kUs, world.Backend(0));
  EXPECT_TRUE(absl::StartsWith(world.said(), "one-write: "));
}

TEST(OneWriteOracle, ANewProcessDoesNotKnowTheLastOnesWrite) {
  OracleTestWorld world(std::make_unique<OneWriteOracle>());
  world.Drain(kUs, world.Backend(0));
  world.truth().OnStart();
  world.Drain(kUs, world.Backend(1));
  EXPECT_EQ(world.said(), "");
}

TEST(LimitOracle, SeesAWriteThatALimitRefuses) {
  OracleTestWorld world(std::make_unique<LimitOracle>());
  world.Answer(CallKind::kUpdateBackendSet, absl::AbortedError("412"));
  world.Answer(CallKind::kGetLoadBalancer, absl::ResourceExhaustedError("limit"));
  EXPECT_EQ(world.said(), "");
  world.Answer(CallKind::kUpdateBackendSet, absl::ResourceExhaustedError("limit"));
  EXPECT_TRUE(absl::StartsWith(world.said(), "limit: "));
}

TEST(UntouchedOracle, SeesAnotherFieldChanged) {
  for (const OracleTestWorld::Settings& settings :
       {OracleTestWorld::Settings{.weight = 7}, OracleTestWorld::Settings{.offline = true}}) {
    OracleTestWorld world(std::make_unique<UntouchedOracle>());
    world.Drain(kUs, world.Backend(0));
    world.RunFor(kApplied);
    EXPECT_EQ(world.said(), "") << "a drain is ours to set";
    world.Update(kUs, world.Backend(1), settings);
    world.RunFor(kApplied);
    EXPECT_TRUE(absl::StartsWith(world.said(), "untouched: ")) << settings.weight;
  }
}

TEST(UntouchedOracle, SeesAForeignBackendTouched) {
  {
    OracleTestWorld world(std::make_unique<UntouchedOracle>());
    world.Drain(kUs, kForeignBackend);
    world.RunFor(kApplied);
    EXPECT_TRUE(absl::StartsWith(world.said(), "untouched: ")) << "drained";
  }
  {
    OracleTestWorld world(std::make_unique<UntouchedOracle>());
    world.UpdateSet(kUs, [](auto& backends) { backends.push_back({"192.0.2.9", 80}); });
    world.RunFor(kApplied);
    EXPECT_TRUE(absl::StartsWith(world.said(), "untouched: ")) << "added";
  }
  OracleTestWorld world(std::make_unique<UntouchedOracle>());
  const auto without_foreign = [](std::vector<RivalBackend>& backends) {
    std::erase_if(backends, [](const RivalBackend& b) { return b.port != kScenarioPort; });
  };
  world.UpdateSet(kUs, without_foreign);
  world.RunFor(kApplied);
  EXPECT_TRUE(absl::StartsWith(world.said(), "untouched: ")) << "left out";
}

// After a control plane that stood still for half an hour (seeds 1708 and 1822).
TEST(UntouchedOracle, APodThatHasBeenPublishedForLongMayBeAdded) {
  OracleTestWorld world(std::make_unique<UntouchedOracle>());
  const std::string pod = world.Backend(0);
  world.RunFor(absl::Minutes(30));
  world.UpdateSet(kConsole, [&](std::vector<RivalBackend>& backends) {
    std::erase_if(backends,
                  [&](const RivalBackend& b) { return absl::StrCat(b.ip, ":", b.port) == pod; });
  });
  world.RunFor(kApplied);
  world.UpdateSet(kUs, [&](std::vector<RivalBackend>& backends) {
    const size_t colon = pod.rfind(':');
    backends.push_back({pod.substr(0, colon), kScenarioPort});
  });
  world.RunFor(kApplied);
  EXPECT_EQ(world.world().load_balancer().writes().back().effect.added,
            std::vector<std::string>{pod});
  EXPECT_EQ(world.said(), "");
}

TEST(UntouchedOracle, WhatWasQueuedBehindAForeignWriteCouldNotKnow) {
  OracleTestWorld world(std::make_unique<UntouchedOracle>());
  world.Update(kConsole, world.Backend(0), {.weight = 7});
  world.Update(kUs, world.Backend(0), {.drain = true});
  world.RunFor(2 * kApplied);
  EXPECT_EQ(world.said(), "");
  world.Update(kUs, world.Backend(0), {.drain = true, .weight = 9});
  world.RunFor(kApplied);
  EXPECT_TRUE(absl::StartsWith(world.said(), "untouched: ")) << "it restores nothing";
}

Scenario SecondWithoutOptIn() {
  Scenario scenario = PlainScenario();
  scenario.services[1].opted_in = false;
  return scenario;
}

TEST(OptInOracle, SeesADrainWithoutOptIn) {
  OracleTestWorld world(std::make_unique<OptInOracle>(), SecondWithoutOptIn());
  world.Drain(kUs, world.Backend(0));
  world.Drain(kConsole, world.Backend(0, 1), 1);
  world.RunFor(2 * kApplied);
  EXPECT_EQ(world.said(), "");
  world.Drain(kUs, world.Backend(1, 1), 1);
  world.RunFor(kApplied);
  EXPECT_TRUE(absl::StartsWith(world.said(), "opt-in: "));
}

TEST(OptInOracle, SeesMembershipWithoutCarryAll) {
  for (const bool carry_all : {false, true}) {
    Scenario scenario = SecondWithoutOptIn();
    scenario.carry_all = carry_all;
    OracleTestWorld world(std::make_unique<OptInOracle>(), scenario);
    world.UpdateSet(
        kUs, [](auto& backends) { backends.pop_back(); }, 1);
    world.RunFor(kApplied);
    EXPECT_EQ(absl::StartsWith(world.said(), "opt-in: "), !carry_all);
  }
}

TEST(OperatorOracle, SeesAnOperatorsDrainUndoneByUs) {
  OracleTestWorld world(std::make_unique<OperatorOracle>());
  world.Drain(kConsole, world.Backend(0));
  world.Drain(kConsole, world.Backend(1));
  world.RunFor(2 * kApplied);
  world.Undrain(kConsole, world.Backend(1));
  world.RunFor(kApplied);
  EXPECT_EQ(world.said(), "") << "the operator's own";
  world.Undrain(kUs, world.Backend(0));
  world.RunFor(kApplied);
  EXPECT_TRUE(absl::StartsWith(world.said(), "operator: "));
}

TEST(OperatorOracle, ADrainOfOursIsOursToUndo) {
  OracleTestWorld world(std::make_unique<OperatorOracle>());
  world.Drain(kUs, world.Backend(0));
  world.RunFor(kApplied);
  world.Undrain(kUs, world.Backend(0));
  world.RunFor(kApplied);
  EXPECT_EQ(world.said(), "");
}

}  // namespace
}  // namespace sim
