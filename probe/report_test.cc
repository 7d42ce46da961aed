#include "probe/report.h"

#include <string>

#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "probe/timeline.h"

namespace probe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'800'000'000) + absl::Seconds(seconds);
}

Report OneFailure() {
  Report report;
  report.control.emplace();
  report.control->start = At(0);
  report.control->end = At(10);
  report.control->AddSuccess(At(1), 200, absl::Milliseconds(2));
  report.run.emplace();
  report.run->start = At(20);
  report.run->end = At(30);
  report.run->AddSuccess(At(21), 200, absl::Milliseconds(2));
  Failure failure;
  failure.time = At(25);
  failure.failure = FailureClass::kClosedBeforeResponse;
  failure.connection_age = absl::Milliseconds(3250);
  failure.request_number = 12;
  report.run->AddFailure(failure);
  report.marks = {{At(22), MarkKind::kSigterm, "web-<1>"}};
  return report;
}

TEST(FormatReport, SaysWhatCameHowLongBeforeAFailure) {
  const std::string text = FormatReport(OneFailure());
  EXPECT_THAT(text, HasSubstr("control  requests=1 ok=1 failed=0"));
  EXPECT_THAT(text, HasSubstr("run      requests=2 ok=1 failed=1"));
  EXPECT_THAT(text, HasSubstr("closed before response, client 0, request 12 on a connection of "
                              "3.25 s"));
  EXPECT_THAT(text, HasSubstr("3.00 s after sigterm of web-<1>"));
  EXPECT_THAT(text, HasSubstr("1 closed before response, 3.00 s to 3.00 s after sigterm"));
}

TEST(FormatReport, SaysNothingOfFailuresWhereThereAreNone) {
  Report report = OneFailure();
  report.run = report.control;
  EXPECT_THAT(FormatReport(report), Not(HasSubstr("Failures")));
}

TEST(ReportJson, IsOneObjectOnOneLine) {
  const std::string text = ReportJson(OneFailure());
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const auto json = base::ParseJson(text, "report");
  ASSERT_TRUE(json.ok()) << json.status() << text;
  const auto& run = *base::FindMember(*json, "run");
  EXPECT_EQ(base::ReadInt(run, "requests").value(), 2);
  EXPECT_EQ(base::ReadInt(run, "failed").value(), 1);
  const auto& failure = (*base::FindMember(run, "failures"))[0];
  EXPECT_EQ(base::ReadString(failure, "class").value(), "closed before response");
  EXPECT_EQ(base::ReadInt(failure, "request_number").value(), 12);
  const auto* sigterm = base::FindPath(failure, {"seconds_after", "sigterm"});
  ASSERT_NE(sigterm, nullptr);
  EXPECT_EQ(base::ReadString(*sigterm, "pod").value(), "web-<1>");
  EXPECT_DOUBLE_EQ((*base::FindMember(*sigterm, "seconds")).GetDouble(), 3);
}

TEST(ReportJson, SaysNullForARunThatWasNotMade) {
  Report report = OneFailure();
  report.run.reset();
  EXPECT_THAT(ReportJson(report), HasSubstr("\"run\":null"));
}

TEST(TimelineSvg, ShowsFailuresAndMarksAndEscapesTheirText) {
  const Report report = OneFailure();
  const std::string svg = TimelineSvg("a & b", *report.run, report.marks);
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("closed before response: 1"));
  EXPECT_THAT(svg, HasSubstr("<title>web-&lt;1&gt;</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("web-<1>")));
  EXPECT_THAT(TimelineSvg("empty", RunFigures(), {}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace probe
