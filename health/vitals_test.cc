#include "health/vitals.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/this_loop.h"

namespace health {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kWedgeAfter = absl::Seconds(10);
constexpr absl::Duration kStep = absl::Milliseconds(250);

class VitalsTest : public ::testing::Test {
 protected:
  // Looks every kStep, as the health thread does.
  VitalsReport LookFor(absl::Duration time) {
    const absl::Duration end = now_ + time;
    VitalsReport report = vitals_.Look(now_);
    while (now_ < end) {
      now_ += kStep;
      report = vitals_.Look(now_);
    }
    return report;
  }

  Vitals vitals_{kWedgeAfter};
  absl::Duration now_ = absl::Hours(5);
};

TEST_F(VitalsTest, AreReadyWithoutLoopsAndParts) {
  const VitalsReport report = LookFor(absl::Hours(1));
  EXPECT_TRUE(report.ready);
  EXPECT_FALSE(report.wedged);
}

TEST_F(VitalsTest, ALoopThatTicksIsWell) {
  const Vitals::LoopId loop = vitals_.AddLoop("worker-0");
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(LookFor(absl::Seconds(9)).ready);
    vitals_.Tick(loop);
  }
  EXPECT_EQ(vitals_.Look(now_).loops[0].age, absl::ZeroDuration());
}

TEST_F(VitalsTest, ALoopThatDoesNotTickIsStuckAndNamed) {
  const Vitals::LoopId well = vitals_.AddLoop("worker-0");
  vitals_.AddLoop("worker-1");
  EXPECT_TRUE(LookFor(absl::Seconds(9)).ready);
  vitals_.Tick(well);
  const VitalsReport report = LookFor(absl::Milliseconds(1250));
  EXPECT_FALSE(report.ready);
  EXPECT_TRUE(report.wedged);
  EXPECT_THAT(report.wedge, HasSubstr("worker-1 is stuck"));
  ASSERT_EQ(report.loops.size(), 2u);
  EXPECT_FALSE(report.loops[0].stuck);
  EXPECT_TRUE(report.loops[1].stuck);
  EXPECT_GT(report.loops[1].age, kWedgeAfter);
}

TEST_F(VitalsTest, AWedgeIsNotTakenBack) {
  const Vitals::LoopId loop = vitals_.AddLoop("worker-0");
  ASSERT_TRUE(LookFor(absl::Seconds(11)).wedged);
  vitals_.Tick(loop);
  const VitalsReport report = LookFor(absl::Seconds(1));
  EXPECT_TRUE(report.wedged);
  EXPECT_FALSE(report.ready);
  EXPECT_FALSE(report.loops[0].stuck);
}

TEST_F(VitalsTest, ADeclaredWaitCountsFromItsEnd) {
  const Vitals::LoopId loop = vitals_.AddLoop("watch pods");
  vitals_.Wait(loop, now_ + absl::Seconds(90));
  VitalsReport report = LookFor(absl::Seconds(99));
  EXPECT_TRUE(report.ready);
  EXPECT_GT(report.loops[0].age, absl::Seconds(8));
  report = LookFor(absl::Seconds(2));
  EXPECT_TRUE(report.wedged);
}

TEST_F(VitalsTest, ATickEndsADeclaredWait) {
  const Vitals::LoopId loop = vitals_.AddLoop("watch pods");
  vitals_.Wait(loop, now_ + absl::Seconds(90));
  LookFor(absl::Seconds(5));
  vitals_.Tick(loop);
  EXPECT_TRUE(LookFor(absl::Seconds(11)).wedged);
}

TEST_F(VitalsTest, ALoopThatHasEndedIsNotMissed) {
  const Vitals::LoopId loop = vitals_.AddLoop("watch pods/shop");
  vitals_.RemoveLoop(loop);
  vitals_.Tick(loop);
  const VitalsReport report = LookFor(absl::Minutes(1));
  EXPECT_TRUE(report.ready);
  EXPECT_THAT(report.loops, IsEmpty());
}

TEST_F(VitalsTest, APausedProcessIsNotStuckWhenItGoesOn) {
  vitals_.AddLoop("worker-0");
  LookFor(absl::Seconds(5));
  now_ += absl::Hours(1);
  EXPECT_FALSE(vitals_.Look(now_).wedged);
  EXPECT_TRUE(LookFor(absl::Seconds(5)).wedged);
}

TEST_F(VitalsTest, NeedEachPart) {
  vitals_.SetPart("listeners", true, "");
  vitals_.SetPart("caches", false, "pods are not listed");
  VitalsReport report = vitals_.Look(now_);
  EXPECT_FALSE(report.ready);
  EXPECT_FALSE(report.wedged);
  ASSERT_EQ(report.parts.size(), 2u);
  EXPECT_EQ(report.parts[0].name, "caches");
  EXPECT_EQ(report.parts[0].note, "pods are not listed");
  vitals_.SetPart("caches", true, "");
  EXPECT_TRUE(vitals_.Look(now_).ready);
}

TEST_F(VitalsTest, TheThreadsLoopIsFoundWithoutBeingHandedOn) {
  std::vector<std::string> ticks;
  vitals_.OnTick([&](const std::string& loop) { ticks.push_back(loop); });
  Tick();
  {
    const ThisLoop loop(vitals_, "mapping");
    Tick();
    {
      DeclaredWait wait(now_ + absl::Seconds(20));
      EXPECT_TRUE(LookFor(absl::Seconds(19)).ready);
      wait.Extend(now_ + absl::Seconds(20));
      EXPECT_TRUE(LookFor(absl::Seconds(19)).ready);
    }
    EXPECT_TRUE(LookFor(absl::Seconds(11)).wedged);
  }
  Tick();
  EXPECT_THAT(ticks, ElementsAre("mapping", "mapping"));
  EXPECT_THAT(vitals_.Look(now_).loops, IsEmpty());
}

}  // namespace
}  // namespace health
