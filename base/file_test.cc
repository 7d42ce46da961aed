#include "base/file.h"

#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace base {
namespace {

using ::testing::EndsWith;

std::string WriteTemporary(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ReadFile, GivesEveryByte) {
  const std::string text("a\0b\n", 4);
  EXPECT_EQ(ReadFile(WriteTemporary("bytes", text)).value(), text);
  EXPECT_EQ(ReadFile(WriteTemporary("none", "")).value(), "");
}

TEST(ReadFile, NamesTheFileAndTheReason) {
  const auto missing = ReadFile("/nowhere/x");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.status().message(), "cannot read /nowhere/x: No such file or directory");
  const auto directory = ReadFile(::testing::TempDir());
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(directory.status().message()), EndsWith("it is a directory"));
}

TEST(ReadFile, RefusesMoreThanTheBound) {
  const std::string path = WriteTemporary("large", std::string(100, 'x'));
  EXPECT_TRUE(ReadFile(path, 100).ok());
  EXPECT_EQ(ReadFile(path, 99).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace base
