// The table of reasons is what the code writes: each reason of a notice, a finding, a
// gate and a drain is in it, with the same type. tools/check_docs.py compares the reasons
// that are literals of controller/.
#include "annotations/reasons.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "annotations/table.h"
#include "capacity/plan.h"
#include "controller/drain_board.h"
#include "drain/explain.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

std::set<std::string> ReasonsOf(absl::string_view condition) {
  std::set<std::string> reasons;
  for (const annotations::ConditionReason& reason : annotations::ConditionReasonTable()) {
    if (reason.condition == condition) reasons.insert(std::string(reason.reason));
  }
  return reasons;
}

TEST(Reasons, AreEachThereOnceAndSayWhatToDo) {
  std::set<absl::string_view> names;
  for (const annotations::EventDefinition& event : annotations::EventTable()) {
    EXPECT_TRUE(names.insert(event.reason).second) << event.reason;
    EXPECT_EQ(annotations::FindEvent(event.reason), &event);
    EXPECT_TRUE(absl::EndsWith(event.when, ".")) << event.reason;
    EXPECT_TRUE(absl::EndsWith(event.cure, ".")) << event.reason;
    EXPECT_FALSE(event.regarding.empty()) << event.reason;
  }
  EXPECT_EQ(annotations::FindEvent("NoSuchReason"), nullptr);
}

TEST(Reasons, OfNoticesAreInTheTableWithTheirType) {
  int known = 0;
  for (int i = 0; drain::ReasonOf(static_cast<drain::NoticeKind>(i)) != "Unknown"; ++i) {
    const auto kind = static_cast<drain::NoticeKind>(i);
    const auto* const event = annotations::FindEvent(drain::ReasonOf(kind));
    ASSERT_NE(event, nullptr) << drain::ReasonOf(kind);
    EXPECT_EQ(event->warning, drain::IsWarning(kind)) << event->reason;
    ++known;
  }
  EXPECT_GT(known, static_cast<int>(drain::NoticeKind::kBackendDrained));
}

TEST(Reasons, OfFindingsAreInTheTableAsWarningsThatEnd) {
  for (int i = 0; i <= static_cast<int>(capacity::FindingKind::kWithdrawalRefused); ++i) {
    const std::string name = capacity::Name(static_cast<capacity::FindingKind>(i));
    const auto* const event = annotations::FindEvent(name);
    ASSERT_NE(event, nullptr) << name;
    EXPECT_TRUE(event->warning && event->ends) << name;
  }
}

TEST(Reasons, OfConditionsAreThoseThatAreWritten) {
  std::set<std::string> gates;
  for (int i = 0; drain::ReasonOf(static_cast<drain::GateProgress>(i)) != "Unknown"; ++i) {
    gates.insert(std::string(drain::ReasonOf(static_cast<drain::GateProgress>(i))));
  }
  EXPECT_EQ(ReasonsOf(annotations::kReadyCondition), gates);
  std::set<std::string> drains;
  for (const DrainOutcome outcome : {DrainOutcome::kDrained, DrainOutcome::kNotRegistered,
                                     DrainOutcome::kLastBackend, DrainOutcome::kDeadlineMissed}) {
    drains.insert(std::string(Name(outcome)));
  }
  EXPECT_EQ(ReasonsOf(annotations::kDrainedCondition), drains);
}

}  // namespace
}  // namespace controller
