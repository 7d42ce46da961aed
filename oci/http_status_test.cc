#include "oci/http_status.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/date.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

absl::Status Of(int http_status, const std::string& code, http::Headers headers = {}) {
  return StatusOf({.status = http_status,
                   .headers = std::move(headers),
                   .body = absl::StrCat(R"({"code":")", code, R"(","message":"because"})")},
                  "UpdateBackend x", kNow);
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(StatusOf, FollowsTheTable) {
  const struct {
    int http_status;
    const char* code;
    absl::StatusCode expected;
  } table[] = {
      {200, "", absl::StatusCode::kOk},
      {204, "", absl::StatusCode::kOk},
      {302, "", absl::StatusCode::kInvalidArgument},
      {400, "LimitExceeded", absl::StatusCode::kResourceExhausted},
      {400, "QuotaExceeded", absl::StatusCode::kResourceExhausted},
      {400, "InvalidParameter", absl::StatusCode::kInvalidArgument},
      {400, "RelatedResourceNotAuthorizedOrNotFound", absl::StatusCode::kInvalidArgument},
      {401, "NotAuthenticated", absl::StatusCode::kUnauthenticated},
      {403, "NotAllowed", absl::StatusCode::kPermissionDenied},
      {404, "NotAuthorizedOrNotFound", absl::StatusCode::kNotFound},
      {405, "MethodNotAllowed", absl::StatusCode::kInvalidArgument},
      {408, "", absl::StatusCode::kUnavailable},
      {409, "IncorrectState", absl::StatusCode::kAborted},
      {409, "ExternalServerIncorrectState", absl::StatusCode::kAborted},
      {409, "InvalidatedRetryToken", absl::StatusCode::kAborted},
      {409, "Conflict", absl::StatusCode::kFailedPrecondition},
      {409, "", absl::StatusCode::kFailedPrecondition},
      {412, "NoEtagMatch", absl::StatusCode::kAborted},
      {413, "", absl::StatusCode::kInvalidArgument},
      {422, "", absl::StatusCode::kInvalidArgument},
      {429, "TooManyRequests", absl::StatusCode::kUnavailable},
      {500, "InternalServerError", absl::StatusCode::kUnavailable},
      {501, "MethodNotImplemented", absl::StatusCode::kUnimplemented},
      {502, "", absl::StatusCode::kUnavailable},
      {503, "ServiceUnavailable", absl::StatusCode::kUnavailable},
      {504, "", absl::StatusCode::kUnavailable},
      {100, "", absl::StatusCode::kUnavailable},
      {999, "", absl::StatusCode::kUnavailable},
  };
  for (const auto& row : table) {
    EXPECT_EQ(Of(row.http_status, row.code).code(), row.expected)
        << row.http_status << " " << row.code;
  }
}

TEST(StatusOf, CarriesWhatTheCallerActsOn) {
  const absl::Status status =
      Of(429, "TooManyRequests", {{"Opc-Request-Id", "abc/def"}, {"Retry-After", "7"}});
  EXPECT_EQ(HttpStatusOf(status), 429);
  EXPECT_EQ(OciErrorCodeOf(status), "TooManyRequests");
  EXPECT_EQ(OpcRequestIdOf(status), "abc/def");
  EXPECT_EQ(RetryAfterOf(status), absl::Seconds(7));
  EXPECT_EQ(Message(status),
            "UpdateBackend x: HTTP 429 TooManyRequests: because (opc-request-id abc/def)");
  const absl::Status other = absl::UnavailableError("connection refused");
  EXPECT_EQ(HttpStatusOf(other), 0);
  EXPECT_EQ(OciErrorCodeOf(other), "");
  EXPECT_EQ(OpcRequestIdOf(other), "");
  EXPECT_EQ(RetryAfterOf(other), std::nullopt);
}

TEST(StatusOf, ReadsRetryAfterWithinBounds) {
  const auto retry_after = [](const std::string& value) {
    return RetryAfterOf(Of(503, "", {{"retry-after", value}}));
  };
  EXPECT_EQ(retry_after("0"), absl::ZeroDuration());
  EXPECT_EQ(retry_after("-5"), absl::ZeroDuration());
  EXPECT_EQ(retry_after("86400"), absl::Minutes(5));
  EXPECT_EQ(retry_after(http::FormatDate(kNow + absl::Seconds(20))), absl::Seconds(20));
  EXPECT_EQ(retry_after(http::FormatDate(kNow - absl::Seconds(20))), absl::ZeroDuration());
  EXPECT_EQ(retry_after("soon"), std::nullopt);
  EXPECT_EQ(RetryAfterOf(Of(503, "")), std::nullopt);
}

TEST(StatusOf, ReducesAnHtmlPageToItsTitle) {
  const std::string page = "<html><head><title>502 Bad\r\n Gateway</title></head><body>" +
                           std::string(200 << 10, '\xf0') + "</body></html>";
  const absl::Status status = StatusOf({.status = 502, .body = page}, "GetLoadBalancer", kNow);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Message(status), absl::StrCat("GetLoadBalancer: HTTP 502: answer of ", page.size(),
                                          " bytes, not from the API: 502 Bad Gateway"));
}

TEST(StatusOf, BoundsAndCleansWhateverTheBodyIs) {
  const std::string bodies[] = {
      std::string(200 << 10, 'x'),
      std::string("\x00\x1b[31m\xff\n\tred", 12),
      "{\"code\":",
      "[1,2]",
      "<title>",
      "",
      R"({"code":7,"message":{"a":1}})",
      R"({"code":")" + std::string(10'000, 'c') + R"(","message":")" + std::string(4'000, 'm') +
          R"("})",
      R"({"code":"a\nb","message":"line\nbreak\u001b[0m"})",
  };
  for (const std::string& body : bodies) {
    const absl::Status status = StatusOf({.status = 400, .body = body}, "x", kNow);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_LT(status.message().size(), 700u);
    for (const char c : status.message()) EXPECT_TRUE(c >= ' ' && c <= '~') << status.message();
  }
}

TEST(StatusOf, TellsClockSkewOfA401) {
  const auto refused = [](absl::Duration server_ahead) {
    return Message(Of(401, "NotAuthenticated", {{"date", http::FormatDate(kNow + server_ahead)}}));
  };
  EXPECT_THAT(refused(absl::Minutes(7)),
              EndsWith("; this machine's clock is 7m behind the server's, which allows 5m: set "
                       "the clock"));
  EXPECT_THAT(refused(-absl::Seconds(412)), HasSubstr("clock is 6m52s ahead of the server's"));
  EXPECT_THAT(refused(absl::Seconds(10)), Not(HasSubstr("clock")));
  EXPECT_THAT(Message(Of(401, "NotAuthenticated")), Not(HasSubstr("clock")));
  EXPECT_THAT(Message(Of(401, "x", {{"date", "nonsense"}})), Not(HasSubstr("clock")));
  EXPECT_THAT(Message(Of(404, "x", {{"date", http::FormatDate(kNow + absl::Hours(1))}})),
              Not(HasSubstr("clock")));
}

// A server may send back what it was sent.
TEST(StatusOf, ShowsNoSecretThatTheServerEchoes) {
  const std::string token = "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl";
  const std::pair<std::string, const char*> kCases[] = {
      {"key ST$" + token + " is not known", "key ST$[redacted] is not known"},
      {"Bearer " + token, "Bearer [redacted]"},
      {"-----BEGIN PRIVATE KEY-----\\nTUlJ\\n-----END PRIVATE KEY-----\\n is bad",
       "[redacted] is bad"},
      {"-----BEGIN RSA PRIVATE KEY-----TUlJ", "[redacted]"},
      {"Signature version=\\\"1\\\",signature=\\\"c2lnbmF0dXJl\\\" is wrong",
       "Signature version=\"1\",[redacted] is wrong"},
      {"keyJobs", "keyJobs"}};
  for (const auto& [echo, shown] : kCases) {
    const std::string json = absl::StrCat(R"({"code":"c","message":")", echo, "\"}");
    EXPECT_EQ(Message(StatusOf({.status = 400, .body = json}, "x", kNow)),
              absl::StrCat("x: HTTP 400 c: ", shown));
    EXPECT_THAT(Message(StatusOf({.status = 502, .body = echo}, "x", kNow)),
                AllOf(Not(HasSubstr("c2lnbm")), Not(HasSubstr("TUlJ"))));
  }
}

TEST(StatusOf, NamesTheTargetOfARedirect) {
  EXPECT_THAT(Message(Of(307, "", {{"location", "https://elsewhere/"}})),
              AllOf(HasSubstr("https://elsewhere/"), HasSubstr("is the endpoint right?")));
}

}  // namespace
}  // namespace oci
