#include "kube/yaml_view.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

YamlView Parse(const std::string& text) {
  const absl::StatusOr<YamlView> view = ParseYaml(text);
  EXPECT_TRUE(view.ok()) << view.status();
  return view.value_or(YamlView());
}

TEST(ParseYaml, ReadsMapsSequencesAndText) {
  const YamlView view = Parse("a:\n  - b: x\n  - b: 7\nc: null\n");
  ASSERT_THAT(view["a"].Elements(), SizeIs(2));
  EXPECT_EQ(view["a"].Elements()[0]["b"].Text(), "x");
  EXPECT_EQ(view["a"].Elements()[1]["b"].Text(), "7");
  EXPECT_EQ(view["a"].Elements()[1]["b"].line(), 3);
  EXPECT_FALSE(view["c"].exists());
}

TEST(ParseYaml, ReadsJson) {
  EXPECT_EQ(Parse(R"({"a": {"b": ["c"]}})")["a"]["b"].Elements()[0].Text(), "c");
}

TEST(YamlView, IsNothingWhereSomethingElseIsThanWasAskedFor) {
  const YamlView view = Parse("a: text\nb: [1]\n");
  EXPECT_FALSE(view["missing"]["below"].exists());
  EXPECT_FALSE(view["a"]["below"].exists());
  EXPECT_FALSE(view["b"]["below"].exists());
  EXPECT_THAT(view["a"].Elements(), IsEmpty());
  EXPECT_EQ(view["b"].Text(), std::nullopt);
  EXPECT_EQ(view.Text(), std::nullopt);
  EXPECT_EQ(YamlView().line(), 0);
  EXPECT_FALSE(Parse("")["a"].exists());
  EXPECT_FALSE(Parse("just text")["a"].exists());
}

TEST(ParseYaml, NamesTheLineOfAnError) {
  EXPECT_THAT(ParseYaml("a: b\nc: [").status().message(), HasSubstr("line "));
  EXPECT_FALSE(ParseYaml("\tx: 1").ok());
  EXPECT_FALSE(ParseYaml("a: *unknown").ok());
}

TEST(ParseYaml, RefusesWhatIsTooLargeTooDeepOrTooMuch) {
  EXPECT_THAT(ParseYaml(std::string((1 << 20) + 1, ' ')).status().message(),
              HasSubstr("larger than"));
  EXPECT_THAT(ParseYaml(std::string(33, '[') + std::string(33, ']')).status().message(),
              HasSubstr("nested too deeply"));
  EXPECT_FALSE(ParseYaml(std::string(100000, '[')).ok());
  std::string many = "[";
  for (int i = 0; i < 100001; ++i) many += "1,";
  EXPECT_THAT(ParseYaml(many + "]").status().message(), HasSubstr("too many values"));
}

TEST(ParseYaml, RefusesAliasBombsAndSurvivesCycles) {
  std::string bomb = "a0: &a0 [x,x]\n";
  for (int i = 1; i < 60; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [*a", i - 1, ",*a", i - 1, "]\n");
  }
  EXPECT_THAT(ParseYaml(bomb).status().message(), HasSubstr("too many aliases"));
  const absl::StatusOr<YamlView> cycle = ParseYaml("a: &a [*a]");
  if (cycle.ok()) {
    EXPECT_EQ((*cycle)["a"].Text(), std::nullopt);
  }
}

TEST(ParseYamlDocuments, GivesAllThatHoldSomething) {
  const auto documents = ParseYamlDocuments("a: 1\n---\n---\n# nothing\n---\nb: 2\n");
  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 2);
  EXPECT_EQ((*documents)[1]["b"].Text(), "2");
  EXPECT_EQ((*documents)[1].line(), 6);
  EXPECT_THAT(ParseYamlDocuments("a: 1\n---\nb: [").status().message(), HasSubstr("line "));
  EXPECT_THAT(ParseYamlDocuments("a: 1\n---\n" + std::string(33, '[') + std::string(33, ']'))
                  .status()
                  .message(),
              HasSubstr("nested too deeply"));
}

TEST(YamlView, AsJsonHasTheTypesOfKubectl) {
  const auto json = [](const std::string& text) { return ParseYaml(text)->ToJson().value_or("-"); };
  EXPECT_EQ(json(R"({a: [1, "1", yes, 'no', ~, 1.5, 25%, 0x, x"y], b: {c: null}})"),
            R"({"a":[1,"1",true,"no",null,1.5,"25%","0x","x\"y"],"b":{"c":null}})");
  EXPECT_EQ(json("[{}, []]"), "[{},[]]");
  EXPECT_EQ(YamlView().ToJson().value_or("-"), "null");
  EXPECT_EQ(json("{[1]: 2}"), "-") << "a key is no scalar";
}

TEST(YamlView, AsJsonIsBoundedWhateverAliasesMakeOfIt) {
  std::string bomb = "a0: &a0 [xxxxxxxx,x,x,x,x,x,x,x]\n";
  for (int i = 1; i <= 10; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [*a", i - 1);
    for (int j = 1; j < 9; ++j) absl::StrAppend(&bomb, ",*a", i - 1);
    absl::StrAppend(&bomb, "]\n");
  }
  const absl::StatusOr<YamlView> view = ParseYaml(bomb);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(view->ToJson().status().message(), HasSubstr("larger than"));
  const absl::StatusOr<YamlView> cycle = ParseYaml("a: &a [*a]");
  if (cycle.ok()) {
    EXPECT_FALSE(cycle->ToJson().ok());
  }
}

}  // namespace
}  // namespace kube
