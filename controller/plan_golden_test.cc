// Every pair of testdata/drain/ is a test. A new case needs no C++.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "controller/golden_case.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

constexpr char kHint[] = "If this is what is meant: bazel run //controller:update_goldens";

class PlanGolden : public testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, SaysWhatItSaid) {
  const std::string path = absl::StrCat(kGoldenFolder, "/", GetParam());
  const auto snapshot = base::ReadFile(absl::StrCat(path, kSnapshotSuffix));
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  const auto plan = RunCase(*snapshot);
  ASSERT_TRUE(plan.ok()) << path << kSnapshotSuffix << ": " << plan.status().message();
  const auto golden = base::ReadFile(absl::StrCat(path, kPlanSuffix));
  ASSERT_TRUE(golden.ok()) << golden.status().message() << "\n" << kHint;
  EXPECT_TRUE(*plan == *golden) << path << kPlanSuffix << "\n"
                                << UnifiedDiff(*golden, *plan) << kHint;
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
