#include "base/backoff.h"
#include "base/json.h"
#include "base/random.h"
#include "base/shared.h"
#include "gtest/gtest.h"

namespace base {
namespace {

TEST(FullJitter, StaysUnderTheDoublingCeiling) {
  Random random(1);
  const BackoffPolicy policy{absl::Milliseconds(100), absl::Seconds(1)};
  for (int attempt = 1; attempt < 80; ++attempt) {
    const absl::Duration wait = FullJitter(policy, attempt, random);
    EXPECT_GE(wait, absl::ZeroDuration());
    EXPECT_LE(wait, attempt >= 5 ? policy.cap : policy.first * (1 << (attempt - 1)));
  }
  EXPECT_EQ(FullJitter(policy, 0, random), absl::ZeroDuration());
}

TEST(Shared, IsNotCopiedUntilAnotherIsAssigned) {
  Shared<std::string> first = std::string("a");
  const Shared<std::string> second = first;
  EXPECT_EQ(&*first, &*second);
  first = std::string("b");
  EXPECT_EQ(*first, "b");
  EXPECT_EQ(*second, "a");
  EXPECT_TRUE(Shared<std::string>()->empty());
}

TEST(Random, RepeatsItselfForOneSeed) {
  Random a(7);
  Random b(7);
  EXPECT_EQ(a.Token(32), b.Token(32));
  for (int i = 0; i < 1000; ++i) {
    const int64_t n = a.Between(-3, 4);
    EXPECT_GE(n, -3);
    EXPECT_LE(n, 4);
  }
}

TEST(Json, NamesTheMemberOfAnotherType) {
  const auto document = ParseJson(R"({"weight":"1","drain":true,"none":null})", "backend");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(ReadInt(*document, "weight").status().message(),
            "weight: expected an integer, got string");
  EXPECT_TRUE(*ReadBool(*document, "drain"));
  EXPECT_EQ(*ReadString(*document, "none", "absent"), "absent");
  EXPECT_EQ(RequireString(*document, "name").status().message(), "name: missing");
}

TEST(Json, RefusesDeepNestingAndBrokenText) {
  const std::string deep(100, '[');
  EXPECT_EQ(ParseJson(deep, "body").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(ParseJson("{\"a\":", "body").status().message().find("body: JSON error at byte"),
            std::string::npos);
  // A bracket in a string is text.
  EXPECT_TRUE(ParseJson("\"" + std::string(100, '[') + "\"", "body").ok());
}

TEST(Json, RefusesWhatIsNotUtf8) {
  EXPECT_TRUE(ParseJson("\"\xc3\xa9\"", "body").ok());
  for (const char* text : {"\"\xc3\"", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\""}) {
    EXPECT_EQ(ParseJson(text, "body").status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Json, QuotesWhatNeedsIt) {
  EXPECT_EQ(QuoteJson("web-0"), R"("web-0")");
  EXPECT_EQ(QuoteJson("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(QuoteJson(absl::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(QuoteJson("\xc3\xa9"), "\"\xc3\xa9\"");
}

TEST(Json, ReadsTimesAndAbsence) {
  const auto document = ParseJson(R"({"at":"2026-11-30T03:05:49Z","bad":"soon"})", "pod");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(*ReadTime(*document, "at"), absl::FromUnixSeconds(1796007949));
  EXPECT_EQ(*ReadTime(*document, "absent"), absl::InfiniteFuture());
  EXPECT_FALSE(ReadTime(*document, "bad").ok());
}

}  // namespace
}  // namespace base
