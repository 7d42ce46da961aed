#include "base/json.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace base {
namespace {

// As ParseJson reads `text` and WriteJson writes it, or the error.
std::string Again(const std::string& text) {
  const absl::StatusOr<rapidjson::Document> read = ParseJson(text, "body");
  return read.ok() ? WriteJson(*read) : std::string(read.status().message());
}

TEST(ParseJson, KeepsWholeNumbersOf64Bits) {
  for (const char* text : {"[0]", "[-1]", "[9223372036854775807]", "[-9223372036854775808]",
                           "[18446744073709551615]", "[123456123456789000]"}) {
    EXPECT_EQ(Again(text), text);
  }
}

TEST(ParseJson, TakesTheNearestDoubleOfAnyOtherNumber) {
  const std::pair<const char*, double> cases[] = {
      {"0.1", 0.1},
      {"0e60", 0.0},
      {"1e3", 1000.0},
      {"1e-324", 0.0},
      {"5e-324", std::numeric_limits<double>::denorm_min()},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {"18446744073709551616", 18446744073709551616.0},
      {"-9223372036854775809", -9223372036854775808.0},
      {"18446.44073709551615", 18446.44073709551615}};
  for (const auto& [text, value] : cases) {
    const absl::StatusOr<rapidjson::Document> read = ParseJson(text, "body");
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_EQ(read->GetDouble(), value) << text;
    EXPECT_EQ(Again(Again(text)), Again(text)) << text;
  }
}

TEST(ParseJson, RefusesANumberThatNoDoubleHolds) {
  for (const char* text : {"1.7976931348623159e308", "-1e309", "1e99999999999"}) {
    EXPECT_NE(Again(text).find("Number too big to be stored in double"), std::string::npos) << text;
  }
}

TEST(ParseJson, NamesTheByteAndTheCause) {
  EXPECT_EQ(Again("{\"a\": 01}"),
            "body: JSON error at byte 7 of 9: Missing a comma or '}' after an object member.");
  EXPECT_EQ(Again(""), "body: JSON error at byte 0 of 0: The document is empty.");
  EXPECT_EQ(Again("[\"\xff\"]"), "body: JSON error at byte 2 of 5: Invalid encoding in string.");
}

TEST(ParseJson, RefusesHalfACharacter) {
  for (const char* text : {R"(["\udc49"])", R"(["a\uDFFFb"])", R"({"\udc00": 1})",
                           R"(["\ud83d\ude00\ude00"])", "[\"\xc3\xa4\\udc49\"]"}) {
    EXPECT_EQ(Again(text), "body: a text has the second half of a surrogate pair without the first")
        << text;
  }
  for (const char* text : {R"(["\ud83d"])", R"(["\ud83d\u0041"])", "[\"\xed\xb1\x89\"]"}) {
    EXPECT_TRUE(absl::StrContains(Again(text), "JSON error at byte")) << Again(text);
  }
}

TEST(ParseJson, TakesWholeCharactersHoweverTheyAreWritten) {
  EXPECT_EQ(Again(R"(["\ud83d\ude00"])"), "[\"\xf0\x9f\x98\x80\"]");
  EXPECT_EQ(Again(R"(["\ud7ff\uD7FF"])"), "[\"\xed\x9f\xbf\xed\x9f\xbf\"]");
}

TEST(ParseJson, BoundsTheDepth) {
  const std::string deepest(kMaxJsonDepth, '[');
  EXPECT_EQ(Again(deepest + std::string(kMaxJsonDepth, ']')),
            deepest + std::string(kMaxJsonDepth, ']'));
  EXPECT_EQ(Again("[" + deepest), "body: JSON is nested deeper than 64 levels");
  EXPECT_EQ(Again(std::string(1'000'000, '[')), "body: JSON is nested deeper than 64 levels");
  EXPECT_EQ(Again("[\"[[[\", {}, []]"), "[\"[[[\",{},[]]") << "a bracket in a string is no level";
}

}  // namespace
}  // namespace base
