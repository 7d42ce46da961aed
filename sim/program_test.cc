#include "sim/program.h"

#include <string>

#include "gtest/gtest.h"

namespace sim {
namespace {

TEST(ParseDurationRange, TakesOneDurationOrTwo) {
  EXPECT_EQ(ParseDurationRange("6s-14s")->min, absl::Seconds(6));
  EXPECT_EQ(ParseDurationRange("6s-14s")->max, absl::Seconds(14));
  EXPECT_EQ(ParseDurationRange("1.5s")->max, absl::Milliseconds(1500));
  EXPECT_EQ(ParseDurationRange("0")->max, absl::ZeroDuration());
}

TEST(ParseDurationRange, RefusesEverythingElse) {
  for (const char* text : {"", "6", "14s-6s", "-1s", "6s-", "6s-14s-20s", "inf", "soon"}) {
    EXPECT_EQ(ParseDurationRange(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Files, AreReadAsTheyWereWritten) {
  const std::string path = ::testing::TempDir() + "/file";
  const std::string text("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(path, "longer than what follows").ok());
  ASSERT_TRUE(WriteFile(path, text).ok());
  EXPECT_EQ(*ReadFile(path), text);
  EXPECT_EQ(ReadFile(path + ".missing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(WriteFile("/nonexistent/file", text).ok());
}

}  // namespace
}  // namespace sim
