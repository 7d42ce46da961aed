#include "oci/security_token.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/date.h"
#include "sim/web_token.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1800000000);

TEST(ParseSecurityToken, ReadsTheEndAndKeepsTheText) {
  const std::string text = sim::MakeWebToken("somebody", kNow);
  const auto token = ParseSecurityToken(absl::StrCat(" ", text, "\n"), "token file");
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->text, text);
  EXPECT_EQ(token->expires, kNow);
}

TEST(ParseSecurityToken, RefusesWhatIsNoTokenAndShowsNothingOfIt) {
  const std::string payload = absl::WebSafeBase64Escape(R"({"exp":1})");
  const std::pair<std::string, const char*> kCases[] = {
      {"", "it is empty"},
      {" \n", "it is empty"},
      {"secret", "expected three parts"},
      {"secret.secret", "expected three parts"},
      {"secret..secret", "expected three parts"},
      {absl::StrCat("secret.", payload, ".a.b"), "expected three parts"},
      {absl::StrCat("sec ret.", payload, ".a"), "expected three parts"},
      {absl::StrCat("sec\"ret.", payload, ".a"), "expected three parts"},
      {"secret.secret.secret", "its claims are no JSON object"},
      {"secret.a.secret", "its claims are no base64url"},
      {sim::MakeWebToken("[]"), "its claims are no JSON object"},
      {sim::MakeWebToken("{}"), "its claim exp is not a time"},
      {sim::MakeWebToken(R"({"exp":"secret"})"), "its claim exp is not a time"},
      {sim::MakeWebToken(R"({"exp":-5})"), "its claim exp is not a time"},
      {sim::MakeWebToken(R"({"exp":9999999999999})"), "its claim exp is not a time"},
      {std::string(40000, 'a'), "larger than"},
  };
  for (const auto& [text, why] : kCases) {
    const auto token = ParseSecurityToken(text, "token file");
    EXPECT_EQ(token.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(
        std::string(token.status().message()),
        AllOf(HasSubstr(absl::StrCat("token file: not a token: ", why)), Not(HasSubstr("secret"))));
  }
}

TEST(CheckNewToken, SaysHowFarTheClockIsOff) {
  const SecurityToken token = {.text = "t", .expires = kNow + absl::Minutes(20)};
  http::Response answer = {.status = 200, .headers = {{"date", http::FormatDate(kNow)}}};
  EXPECT_EQ(CheckNewToken(token, answer, kNow, "federation"), absl::OkStatus());
  const absl::Status ahead = CheckNewToken(token, answer, kNow + absl::Hours(2), "federation");
  EXPECT_EQ(ahead,
            absl::UnauthenticatedError(
                "federation: the token that came has ended already, at 2027-01-15T08:20:00Z; this "
                "machine's clock is 2h ahead of the server's, which allows 5m: set the clock"));
  answer.headers = {{"date", http::FormatDate(kNow + absl::Hours(2))}};
  EXPECT_THAT(
      std::string(CheckNewToken(token, answer, kNow + absl::Hours(2), "federation").message()),
      HasSubstr("though this machine's clock agrees"));
}

}  // namespace
}  // namespace oci
