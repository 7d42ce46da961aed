#include "cmd/status_command.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/status_for_test.h"
#include "health/status_json.h"

namespace cmd {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Format(const health::Status& status, const health::VitalsReport& vitals,
                   StatusStyle style = StatusStyle::kPlain) {
  const auto text = FormatStatus(health::StatusToJson(status, vitals), style);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

TEST(FormatStatus, SaysAllThatThePageSays) {
  const std::string text = Format(health::OrdinaryStatus(), health::OrdinaryVitals());
  for (const char* part :
       {"oci-backend-drain 0.1.0", "leads, leader oci-backend-drain-7c9d8f6b5-x2kqp_1a2b3c4d\n",
        "331 of 512 backends in use", "  16 tick, the oldest tick is 1.2s old (worker-7)\n",
        "  and 1312 more older ones\n", "failed: BAD_INPUT"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, ContainsRegex("shop/web-6d5f7-lq2vd +10.0.3.17:8080 +bs_f151df96ee98ff0 "
                                  "+written +2s ago +-2.0s +its Pod is terminating\n"));
  EXPECT_THAT(text, ContainsRegex("bs_f151df96ee98ff0 +shop/web +512 +120 +14 +0 +0 +60 +378 "
                                  "\\[#####~/// +\\]\n"));
  EXPECT_THAT(text, ContainsRegex("BackendDrained +shop/web-6d5f7-t5wpn +10.0.4.9:8080 "));
}

TEST(FormatStatus, HasColoursOnlyIfAsked) {
  const health::Status status = health::OrdinaryStatus();
  EXPECT_THAT(Format(status, health::OrdinaryVitals()), Not(HasSubstr("\033")));
  EXPECT_THAT(Format(status, health::OrdinaryVitals(), StatusStyle::kColors),
              HasSubstr("\033[31m  shop/web-6d5f7-lq2vd"));
  EXPECT_EQ(*ParseStatusStyle("text", true, false), StatusStyle::kColors);
  EXPECT_EQ(*ParseStatusStyle("text", true, true), StatusStyle::kPlain);
  EXPECT_EQ(*ParseStatusStyle("text", false, false), StatusStyle::kPlain);
  EXPECT_EQ(*ParseStatusStyle("json", true, false), StatusStyle::kJson);
  EXPECT_THAT(std::string(ParseStatusStyle("yaml", true, false).status().message()),
              HasSubstr("--output=yaml: expected text or json"));
}

TEST(FormatStatus, GivesTheTerminalNothingToObey) {
  const std::string hostile = "\033[2Jgone\r\n\x07";
  const std::string text = Format(health::HostileStatus(hostile), health::HostileVitals(hostile));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, HasSubstr("?[2Jgone???"));
}

TEST(FormatStatus, SaysWhatIsStuckAndWhatIsMissing) {
  health::VitalsReport vitals = health::OrdinaryVitals();
  vitals.ready = false;
  vitals.parts[0] = {"caches", false, "pods in namespace shop not listed yet"};
  EXPECT_THAT(Format({}, vitals), HasSubstr("not ready: caches: pods in namespace shop not"));
  vitals.wedge = "worker-1 is stuck, for 10.2 s";
  vitals.loops[1].stuck = true;
  const std::string text = Format({}, vitals);
  EXPECT_THAT(text, HasSubstr("stuck: worker-1 is stuck, for 10.2 s\n"));
  EXPECT_THAT(text, HasSubstr("\nloops\n  stuck: worker-1\n"));
}

TEST(FormatStatus, RefusesWhatIsNoStatus) {
  for (const char* wrong : {"", "[]", "{}", "{\"schema\":2}", "<html>"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(FormatStatus(wrong, StatusStyle::kPlain).status()))
        << wrong;
  }
}

TEST(IsStatusGood, NeedsReadinessAndNoDrainThatIsLate) {
  const auto good = [](const health::Status& status, const health::VitalsReport& vitals) {
    return *IsStatusGood(health::StatusToJson(status, vitals));
  };
  health::Status status = health::OrdinaryStatus();
  health::VitalsReport vitals = health::OrdinaryVitals();
  EXPECT_FALSE(good(status, vitals)) << "a drain is 2 s late";
  status.drains.items.erase(status.drains.items.begin());
  EXPECT_TRUE(good(status, vitals));
  vitals.ready = false;
  EXPECT_FALSE(good(status, vitals));
}

TEST(AskController, SaysWhereNobodyAnswers) {
  const auto nobody = AskController("127.0.0.1:1", "/statusz.json", absl::Seconds(5));
  EXPECT_TRUE(absl::IsUnavailable(nobody.status())) << nobody.status();
  EXPECT_THAT(std::string(nobody.status().message()),
              HasSubstr("no controller answers at 127.0.0.1:1"));
  EXPECT_THAT(std::string(nobody.status().message()), HasSubstr("--health_port"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      AskController("not an address", "/statusz.json", absl::Seconds(5)).status()));
}

}  // namespace
}  // namespace cmd
