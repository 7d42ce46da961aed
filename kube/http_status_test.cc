#include "kube/http_status.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Status StatusOfRecorded(const std::string& name, bool is_write = false) {
  const Recorded recorded = ReadRecorded(name);
  http::Response response;
  response.status = recorded.status;
  response.body = recorded.body;
  return StatusOfResponse(response, "list pods in namespace fx", is_write);
}

absl::Status StatusOfCode(int code, bool is_write = false) {
  http::Response response;
  response.status = code;
  return StatusOfResponse(response, "get x", is_write);
}

TEST(StatusOfResponse, ReadsRecordedRefusals) {
  EXPECT_TRUE(absl::IsPermissionDenied(StatusOfRecorded("forbidden")));
  EXPECT_THAT(StatusOfRecorded("forbidden").message(),
              HasSubstr("list pods in namespace fx: HTTP 403 Forbidden: pods is forbidden: User "
                        "\"alice\" cannot list resource \"pods\""));
  EXPECT_TRUE(absl::IsUnauthenticated(StatusOfRecorded("unauthorized")));
  EXPECT_TRUE(absl::IsNotFound(StatusOfRecorded("get-not-found")));
  EXPECT_TRUE(absl::IsAlreadyExists(StatusOfRecorded("event-create-exists", true)));
  EXPECT_TRUE(absl::IsAborted(StatusOfRecorded("lease-update-conflict", true)));
  EXPECT_TRUE(absl::IsInvalidArgument(StatusOfRecorded("event-create-note-too-long", true)));
  EXPECT_TRUE(absl::IsInvalidArgument(StatusOfRecorded("list-continue-bad")));
  EXPECT_TRUE(StatusOfRecorded("event-create", true).ok());
}

TEST(StatusOfResponse, MapsCodesWithoutABody) {
  EXPECT_TRUE(StatusOfCode(200).ok());
  EXPECT_TRUE(absl::IsOutOfRange(StatusOfCode(410)));
  EXPECT_TRUE(absl::IsUnavailable(StatusOfCode(429)));
  EXPECT_TRUE(absl::IsUnavailable(StatusOfCode(500)));
  EXPECT_TRUE(absl::IsUnavailable(StatusOfCode(302)));
  EXPECT_TRUE(absl::IsUnavailable(StatusOfCode(504, /*is_write=*/false)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(StatusOfCode(504, /*is_write=*/true)));
}

TEST(StatusOfResponse, QuotesOnlyTheBeginningOfAHugeBody) {
  http::Response response;
  response.status = 502;
  response.body = "<html>\n" + std::string(200 << 10, 'x');
  const absl::Status status = StatusOfResponse(response, "get x", false);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_LT(status.message().size(), 300u);
  EXPECT_THAT(status.message(), HasSubstr("answer of 204807 bytes"));
  EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
}

TEST(StatusOfResponse, IsOneShortLineWhateverReasonAndMessageAre) {
  http::Response response;
  response.status = 403;
  for (const std::string field : {"reason", "message"}) {
    response.body = absl::StrCat(R"({"kind":"Status",")", field, R"(":"first\nsecond)",
                                 std::string(10'000, 'x'), "\"}");
    const absl::Status status = StatusOfResponse(response, "get x", false);
    EXPECT_TRUE(absl::IsPermissionDenied(status));
    EXPECT_LT(status.message().size(), 2 * kMaxStatusMessageBytes) << field;
    EXPECT_THAT(status.message(), HasSubstr("first second")) << field;
  }
}

TEST(StatusOfResponse, ReadsRetryAfterFromHeaderAndBody) {
  http::Response response;
  response.status = 429;
  EXPECT_EQ(RetryAfter(StatusOfResponse(response, "get x", false)), std::nullopt);
  response.body = R"({"kind":"Status","details":{"retryAfterSeconds":3}})";
  EXPECT_EQ(RetryAfter(StatusOfResponse(response, "get x", false)), absl::Seconds(3));
  response.headers = {{"retry-after", "7"}};
  EXPECT_EQ(RetryAfter(StatusOfResponse(response, "get x", false)), absl::Seconds(7));
  response.headers = {{"Retry-After", "99999999"}};
  EXPECT_EQ(RetryAfter(StatusOfResponse(response, "get x", false)), absl::Minutes(5));
  response.headers = {{"Retry-After", "-5"}};
  EXPECT_EQ(RetryAfter(StatusOfResponse(response, "get x", false)), std::nullopt);
  EXPECT_EQ(RetryAfter(absl::OkStatus()), std::nullopt);
}

TEST(ClipUtf8, CutsBetweenCharacters) {
  EXPECT_EQ(ClipUtf8("abc", 3), "abc");
  EXPECT_EQ(ClipUtf8("abcd", 3), "abc");
  EXPECT_EQ(ClipUtf8("ab\xc3\xa9", 3), "ab");
  EXPECT_EQ(ClipUtf8("a\xf0\x9f\x98\x80", 4), "a");
  EXPECT_EQ(ClipUtf8("\x80\x80\x80", 2), "") << "not UTF-8: nothing rather than half of it";
}

}  // namespace
}  // namespace kube
