// Every pair of testdata/drain/ is a test. A new case needs no C++.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "controller/golden_case.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

constexpr char kHint[] = "If this is what is meant: bazel run //controller:update_goldens";

class PlanGolden : public testing::TestWithParam<std::string> {
 protected:
  std::string Path(const char* suffix) const {
    return absl::StrCat(kGoldenFolder, "/", GetParam(), suffix);
  }

  Snapshot Read() const {
    const auto json = base::ReadFile(Path(kSnapshotSuffix));
    EXPECT_TRUE(json.ok()) << json.status();
    if (!json.ok()) return {};
    auto snapshot = DecodeCase(*json);
    EXPECT_TRUE(snapshot.ok()) << Path(kSnapshotSuffix) << ": " << snapshot.status().message();
    return snapshot.ok() ? *std::move(snapshot) : Snapshot();
  }
};

TEST_P(PlanGolden, SaysWhatItSaid) {
  const std::string plan = RunCase(Read());
  const auto golden = base::ReadFile(Path(kPlanSuffix));
  ASSERT_TRUE(golden.ok()) << golden.status().message() << "\n" << kHint;
  EXPECT_TRUE(plan == *golden) << Path(kPlanSuffix) << "\n" << UnifiedDiff(*golden, plan) << kHint;
}

TEST_P(PlanGolden, DoesNotDependOnTheOrderOfEndpoints) {
  Snapshot snapshot = Read();
  const std::string forth = RunCase(snapshot);
  for (drain::SetInput& set : snapshot.input.sets) {
    std::reverse(set.endpoints.begin(), set.endpoints.end());
  }
  EXPECT_EQ(UnifiedDiff(forth, RunCase(snapshot)), "");
}

// So the loop of questions and answers ends, and no answer breaks no invariant.
TEST_P(PlanGolden, AsksNoQuestionTwice) {
  Snapshot snapshot = Read();
  std::set<std::string> asked;
  drain::Plan plan = drain::MakePlan(snapshot.input);
  while (!plan.questions.empty()) {
    drain::Plan questions;
    questions.questions = plan.questions;
    for (absl::string_view line :
         absl::StrSplit(drain::Explain(snapshot.input, questions), '\n', absl::SkipEmpty())) {
      if (!absl::StartsWith(line, "ask: ")) continue;
      ASSERT_TRUE(asked.insert(std::string(line)).second) << line << " was asked before";
    }
    AnswerNothing(plan.questions, snapshot.input);
    plan = drain::MakePlan(snapshot.input);
  }
  const absl::Status check = drain::CheckPlan(snapshot.input, plan);
  EXPECT_TRUE(check.ok()) << check;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, PlanGolden,
                         testing::ValuesIn(ListCases(kGoldenFolder, kSnapshotSuffix)), TestName);

TEST(PlanGoldens, HaveSnapshots) {
  EXPECT_FALSE(ListCases(kGoldenFolder, kSnapshotSuffix).empty());
  const std::vector<std::string> snapshots = ListCases(kGoldenFolder, kSnapshotSuffix);
  for (const std::string& name : ListCases(kGoldenFolder, kPlanSuffix)) {
    EXPECT_TRUE(std::binary_search(snapshots.begin(), snapshots.end(), name))
        << name << kPlanSuffix << " has no snapshot";
  }
}

// Broken invariants are bugs, also where a golden file says so.
TEST(PlanGoldens, BreakNoInvariant) {
  for (const std::string& name : ListCases(kGoldenFolder, kPlanSuffix)) {
    const auto golden = base::ReadFile(absl::StrCat(kGoldenFolder, "/", name, kPlanSuffix));
    ASSERT_TRUE(golden.ok());
    EXPECT_EQ(golden->find("BROKEN"), std::string::npos) << name;
  }
}

TEST(UnifiedDiff, ShowsWhatDiffersAndThreeLinesAround) {
  EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\nsix\n7\n8"),
            "@@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n");
  EXPECT_EQ(UnifiedDiff("a\nb", "b"), "-a\n b\n");
  EXPECT_EQ(UnifiedDiff("a", "a\nb"), " a\n+b\n");
}

}  // namespace
}  // namespace controller
