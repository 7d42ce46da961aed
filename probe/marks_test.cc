#include "probe/marks.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace probe {
namespace {

using ::testing::HasSubstr;

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'800'000'000) + absl::Seconds(seconds);
}

TEST(ParseMarks, TakesWhatFormatMarkWrites) {
  std::string text = "\n";
  for (int kind = kMarkKinds - 1; kind >= 0; --kind) {
    text += FormatMark({At(kind), static_cast<MarkKind>(kind), "web-\"1\""});
  }
  const auto marks = ParseMarks(text);
  ASSERT_TRUE(marks.ok()) << marks.status();
  ASSERT_EQ(marks->size(), static_cast<size_t>(kMarkKinds));
  for (int kind = 0; kind < kMarkKinds; ++kind) {
    EXPECT_EQ((*marks)[kind].kind, static_cast<MarkKind>(kind));
    EXPECT_EQ((*marks)[kind].time, At(kind));
    EXPECT_EQ((*marks)[kind].pod, "web-\"1\"");
  }
}

TEST(ParseMarks, NamesTheLineAndWhatIsWrong) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"\nnot json", "line 2: "},
      {R"({"time":"2026-11-30T17:00:00Z"})", "line 1: event: missing"},
      {R"({"event":"sigterm"})", "line 1: time: missing"},
      {R"({"event":"sigterm","time":"noon"})", "line 1: time"},
      {R"({"event":"sigkill","time":"2026-11-30T17:00:00Z"})", "\"sigkill\": expected rollout"},
      {R"({"event":"sigterm","time":"2026-11-30T17:00:00Z","pod":1})", "line 1: pod"},
      {"[]", "line 1: "},
  };
  for (const auto& one : cases) {
    const auto marks = ParseMarks(one.text);
    ASSERT_FALSE(marks.ok()) << one.text;
    EXPECT_THAT(marks.status().message(), HasSubstr(one.error));
  }
}

TEST(ParseMarks, BoundsTheirNumber) {
  const std::string line = FormatMark({At(0), MarkKind::kExit, ""});
  std::string text;
  for (size_t i = 0; i <= kMaxMarks; ++i) text += line;
  EXPECT_THAT(ParseMarks(text).status().message(), HasSubstr("more than 100000"));
}

Failure FailureAt(double seconds, FailureClass failure) {
  Failure made;
  made.time = At(seconds);
  made.failure = failure;
  return made;
}

TEST(GroupFailures, LinesEachUpWithWhatCameLast) {
  const std::vector<Mark> marks = {{At(0), MarkKind::kRollout, ""},
                                   {At(10), MarkKind::kSigterm, "a"},
                                   {At(10.5), MarkKind::kEndpointWithdrawn, "a"},
                                   {At(11), MarkKind::kReady, "b"},
                                   {At(13), MarkKind::kExit, "a"}};
  RunFigures figures;
  figures.AddFailure(FailureAt(-1, FailureClass::kReset));
  figures.AddFailure(FailureAt(5, FailureClass::kReset));
  // A new Pod explains nothing.
  figures.AddFailure(FailureAt(12, FailureClass::kRefused));
  figures.AddFailure(FailureAt(12, FailureClass::kNoLocalPort));
  figures.AddFailure(FailureAt(13, FailureClass::kClosedBeforeResponse));
  figures.AddFailure(FailureAt(13.25, FailureClass::kClosedBeforeResponse));
  const std::vector<FailureGroup> groups = GroupFailures(figures, marks);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].failure, FailureClass::kClosedBeforeResponse);
  EXPECT_EQ(groups[0].after, MarkKind::kExit);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[0].least, absl::ZeroDuration());
  EXPECT_EQ(groups[0].most, absl::Milliseconds(250));
  EXPECT_EQ(groups[1].after, MarkKind::kEndpointWithdrawn);
  EXPECT_EQ(groups[1].least, absl::Milliseconds(1500));
  EXPECT_EQ(groups[2].after, std::nullopt);
  EXPECT_EQ(groups[3].after, MarkKind::kRollout);
  const MarksBefore before = FindMarksBefore(marks, At(13.25));
  EXPECT_EQ(before[static_cast<size_t>(MarkKind::kSigterm)]->pod, "a");
  EXPECT_FALSE(before[static_cast<size_t>(MarkKind::kDrained)].has_value());
}

}  // namespace
}  // namespace probe
