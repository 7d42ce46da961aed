#include "annotations/docs.h"

#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace annotations {
namespace {

TEST(Docs, AreWhatTheTableSays) {
  std::ifstream file("docs/annotations.md");
  ASSERT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), MakeDocs())
      << "run: bazel run //annotations:print_docs > docs/annotations.md";
}

}  // namespace
}  // namespace annotations
