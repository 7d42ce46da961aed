#include "cmd/plan_command.h"

#include <fstream>
#include <string>

#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cmd {
namespace {

using ::testing::HasSubstr;

constexpr char kCase[] = "testdata/drain/single_terminating_pod.in.json";

TEST(PlanCommand, PrintsThePlanInWords) {
  const auto plan = PlanFromSnapshot(kCase, PlanOutput::kText);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(*plan, HasSubstr("10.0.0.1:8080 shop/web-a [routable]: its Pod is terminating"));
  EXPECT_THAT(*plan, HasSubstr("write bs_web: UpdateBackend, drain, if-match etag\n"));
}

TEST(PlanCommand, PrintsOneLineOfJson) {
  const auto plan = PlanFromSnapshot(kCase, PlanOutput::kJson);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->find('\n'), plan->size() - 1);
  const auto document = base::ParseJson(*plan, "plan");
  ASSERT_TRUE(document.ok()) << document.status();
  for (const char* member : {"write", "flips", "decisions", "notices", "next_look"}) {
    EXPECT_NE(base::FindMember(*document, member), nullptr) << member;
  }
}

TEST(PlanCommand, ItsSnapshotGivesTheSamePlan) {
  const auto snapshot = PlanFromSnapshot(kCase, PlanOutput::kSnapshot);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  const std::string path = testing::TempDir() + "/again.in.json";
  std::ofstream(path) << *snapshot;
  EXPECT_EQ(*PlanFromSnapshot(path, PlanOutput::kText),
            *PlanFromSnapshot(kCase, PlanOutput::kText));
}

TEST(PlanCommand, NamesTheFileThatCannotBeRead) {
  const auto plan = PlanFromSnapshot("testdata/drain/none.in.json", PlanOutput::kText);
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("testdata/drain/none.in.json"));
}

TEST(PlanCommand, NamesTheFileAndTheMemberThatIsWrong) {
  const auto plan =
      PlanFromSnapshot("testdata/drain/single_terminating_pod.plan.txt", PlanOutput::kText);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("single_terminating_pod.plan.txt: snapshot: JSON error at byte 0"));
}

TEST(PlanCommand, KnowsItsOutputs) {
  EXPECT_EQ(*ParsePlanOutput("text"), PlanOutput::kText);
  EXPECT_EQ(*ParsePlanOutput("json"), PlanOutput::kJson);
  EXPECT_EQ(ParsePlanOutput("yaml").status().message(),
            "--output=yaml: expected text, json or snapshot");
}

}  // namespace
}  // namespace cmd
