// Each oracle about Pods, and about other writers, is seen to fail where its promise
// is broken, and to be silent where it is just kept.
#include "sim/oracles_pods.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/match.h"
#include "sim/oracle_test_world.h"
#include "sim/oracles_foreign.h"

namespace sim {
namespace {

constexpr absl::Duration kApplied = absl::Seconds(11);
constexpr auto kUs = OracleTestWorld::kUs;
constexpr auto kConsole = OracleTestWorld::kConsole;

TEST(LivePodOracle, SeesALivePodDrainedByUs) {
  OracleTestWorld world(std::make_unique<LivePodOracle>());
  world.Drain(kConsole, world.Backend(1));
  world.RunFor(kApplied);
  EXPECT_EQ(world.said(), "");
  world.Drain(kUs, world.Backend(0));
  world.RunFor(kApplied);
  EXPECT_TRUE(absl::StartsWith(world.said(), "live-pod: "));
}

TEST(LivePodOracle, SeesADrainThatIsNotTakenBack) {
  OracleTestWorld world(std::make_unique<LivePodOracle>());
  world.truth().ExcuseUntil(world.world().now() + kApplied);
  world.Drain(kUs, world.Backend(0));
  world.RunFor(kApplied + absl::Seconds(9));
  EXPECT_EQ(world.said(), "");
  world.RunFor(absl::Seconds(3));
  EXPECT_TRUE(absl::StartsWith(world.said(), "live-pod: "));
}

TEST(TerminatingPodOracle, SeesATerminatingPodThatStaysRoutable) {
  OracleTestWorld world(std::make_unique<TerminatingPodOracle>());
  const std::string backend = world.Backend(0);
  world.RunFor(absl::Seconds(20));  // the other one is proven
  world.DeletePod(backend);
  world.RunFor(absl::Seconds(13));
  EXPECT_EQ(world.said(), "");
  world.RunFor(absl::Seconds(3));
  EXPECT_TRUE(absl::StartsWith(world.said(), "terminating-pod: "));
}

TEST(TerminatingPodOracle, IsContentWithADrainAndWithTheLastOneServing) {
  OracleTestWorld world(std::make_unique<TerminatingPodOracle>());
  const std::string first = world.Backend(0);
  const std::string second = world.Backend(1);
  world.RunFor(absl::Seconds(20));
  world.DeletePod(first);
  world.Drain(kUs, first);
  world.RunFor(kApplied);
  world.DeletePod(second);  // nobody else serves
  world.RunFor(absl::Seconds(20));
  EXPECT_EQ(world.said(), "");
}

Scenario Short() {
  Scenario scenario = PlainScenario();
  scenario.length = absl::Minutes(3);
  return scenario;
}

TEST(QuietOracle, SeesAWriteLongAfterTheLastThingThatHappened) {
  OracleTestWorld world(std::make_unique<QuietOracle>(), Short());
  world.Drain(kUs, world.Backend(0));
  world.RunFor(absl::Seconds(90));
  world.Undrain(kConsole, world.Backend(0));
  EXPECT_EQ(world.said(), "");
  world.Drain(kUs, world.Backend(0));
  EXPECT_TRUE(absl::StartsWith(world.said(), "quiet: "));
}

drain::Ledger LedgerWith(const std::string& backend, bool confirmed) {
  drain::LedgerEntry entry;
  entry.pod = "web";
  entry.pod_uid = "uid";
  entry.since = absl::FromUnixSeconds(1'796'000'000);
  entry.confirmed = confirmed;
  return {{{oci::BackendSetName(ScenarioSet(0)), oci::BackendName(backend)}, entry}};
}

TEST(QuietOracle, SeesADeadLedgerEntryAtTheEnd) {
  OracleTestWorld world(std::make_unique<QuietOracle>());
  world.StoreLedger(LedgerWith(world.Backend(0), true));
  world.oracle().OnEnd(world.truth());
  EXPECT_EQ(world.said(), "") << "it is in the set";
  world.StoreLedger(LedgerWith("10.9.9.9:8080", true));
  world.oracle().OnEnd(world.truth());
  EXPECT_TRUE(absl::StartsWith(world.said(), "quiet: "));
}

TEST(QuietOracle, SeesALivePodDrainedByUsAtTheEnd) {
  OracleTestWorld world(std::make_unique<QuietOracle>());
  world.Drain(kConsole, world.Backend(0));
  world.RunFor(kApplied);
  world.oracle().OnEnd(world.truth());
  EXPECT_EQ(world.said(), "") << "the operator's";
  world.Drain(kUs, world.Backend(1));
  world.RunFor(kApplied);
  world.oracle().OnEnd(world.truth());
  EXPECT_TRUE(absl::StartsWith(world.said(), "quiet: "));
}

oci::LoadBalancerRead ReadOf(const std::string& name, bool drain) {
  oci::LoadBalancerRead read;
  const oci::BackendSetName set(ScenarioSet(0));
  oci::Backend backend;
  backend.name = oci::BackendName(name);
  backend.drain = drain;
  read.load_balancer.backend_sets[set].backends = {backend};
  return read;
}

// The ledger is stored with the backend confirmed, after a read.
void Confirm(OracleTestWorld& world, bool drained_as_read) {
  world.AnswerRead(ReadOf(world.Backend(0), drained_as_read));
  world.StoreLedger(LedgerWith(world.Backend(0), true));
  world.Answer(CallKind::kPutConfigMap);
}

TEST(ConfirmationOracle, SeesAConfirmationThatNoReadShows) {
  for (const bool drained : {true, false}) {
    OracleTestWorld world(std::make_unique<ConfirmationOracle>());
    Confirm(world, drained);
    EXPECT_EQ(absl::StartsWith(world.said(), "confirmation: "), !drained);
  }
}

TEST(ConfirmationOracle, SeesAConfirmationWithoutARead) {
  OracleTestWorld world(std::make_unique<ConfirmationOracle>());
  world.StoreLedger(LedgerWith(world.Backend(0), true));
  world.Answer(CallKind::kPutConfigMap);
  EXPECT_TRUE(absl::StartsWith(world.said(), "confirmation: "));
}

// A write was accepted before the last pass, and is not done.
void QueueForLong(OracleTestWorld& world) {
  world.world().load_balancer().Freeze(world.world().now() + absl::Hours(1), world.world().now());
  world.RunFor(absl::Seconds(70));
}

TEST(ConfirmationOracle, SeesAConfirmationAtOur204) {
  OracleTestWorld world(std::make_unique<ConfirmationOracle>());
  world.Drain(kUs, world.Backend(0));
  QueueForLong(world);
  Confirm(world, true);
  EXPECT_TRUE(absl::StrContains(world.said(), "our write")) << world.said();
}

TEST(ConfirmationOracle, SeesAConfirmationWhileAForeignWriteIsUnfinished) {
  for (const char* type : {"UpdateListener", "UpdateBackendSet", "UpdateShape"}) {
    OracleTestWorld world(std::make_unique<ConfirmationOracle>());
    EXPECT_TRUE(world.world()
                    .load_balancer()
                    .QueueWrite(
                        kScenarioOcid, type, kConsole,
                        [](rapidjson::Document&) { return ApiError(); }, world.world().now())
                    .ok());
    QueueForLong(world);
    Confirm(world, true);
    EXPECT_EQ(absl::StrContains(world.said(), "a foreign"), TouchesBackends(type)) << type;
  }
}

TEST(RestorationOracle, SeesTheNextWriteThatRestoresNothing) {
  for (const bool restores : {true, false}) {
    OracleTestWorld world(std::make_unique<RestorationOracle>());
    world.Update(kConsole, world.Backend(0), {.weight = 7});
    world.Drain(kUs, world.Backend(0));
    world.RunFor(2 * kApplied);
    EXPECT_EQ(world.said(), "");
    world.Update(kUs, world.Backend(0), {.drain = true, .weight = restores ? 7 : 1});
    world.RunFor(kApplied);
    EXPECT_EQ(absl::StartsWith(world.said(), "restoration: "), !restores) << world.said();
  }
}

TEST(RestorationOracle, SeesThatNoWriteRestores) {
  OracleTestWorld world(std::make_unique<RestorationOracle>());
  world.Update(kConsole, world.Backend(0), {.weight = 7});
  world.Drain(kUs, world.Backend(0));
  world.RunFor(2 * kApplied + absl::Seconds(37));
  EXPECT_EQ(world.said(), "");
  world.RunFor(absl::Seconds(6));
  EXPECT_TRUE(absl::StartsWith(world.said(), "restoration: "));
}

// web-1 is not opted in and lacks a backend.
Scenario Neighbours(absl::Duration grace) {
  Scenario scenario = PlainScenario();
  scenario.services[0].grace = grace;
  scenario.services[0].pre_stop = grace - absl::Seconds(20);
  scenario.services[0].replicas = 4;
  scenario.services[1].opted_in = false;
  return scenario;
}

// Two bursts `apart`, the second for a Pod that has just been deleted.
std::string SecondBurst(absl::Duration grace, absl::Duration apart, bool pending) {
  OracleTestWorld world(std::make_unique<NeighbourOracle>(), Neighbours(grace));
  const std::string first = world.Backend(0);
  const std::string second = world.Backend(1);
  if (pending) {
    world.UpdateSet(
        kConsole, [](auto& backends) { backends.erase(backends.begin()); }, 1);
    world.RunFor(kApplied + absl::Seconds(10));
  }
  world.DeletePod(first);
  world.Drain(kUs, first);
  world.RunFor(apart - absl::Seconds(1));
  world.DeletePod(second);
  world.Drain(kUs, second);
  world.RunFor(2 * kApplied);
  return world.said();
}

TEST(NeighbourOracle, SeesBurstsThatFollowEachOtherTooSoon) {
  EXPECT_TRUE(
      absl::StartsWith(SecondBurst(absl::Seconds(75), absl::Seconds(50), true), "neighbour: "));
  EXPECT_TRUE(
      absl::StartsWith(SecondBurst(absl::Seconds(180), absl::Seconds(15), true), "neighbour: "));
}

TEST(NeighbourOracle, IsContentWhereNobodyWaitsOrADeadlineWouldBeMissed) {
  EXPECT_EQ(SecondBurst(absl::Seconds(180), absl::Seconds(15), false), "") << "nobody waits";
  EXPECT_EQ(SecondBurst(absl::Seconds(180), absl::Seconds(75), true), "") << "late enough";
  EXPECT_EQ(SecondBurst(absl::Seconds(75), absl::Seconds(15), true), "") << "a near deadline";
}

}  // namespace
}  // namespace sim
