#include "kube/token_source.h"

#include <cstdio>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

class SetClock final : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = absl::FromUnixSeconds(1000000);
};

class FileTokenSourceTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_ = testing::TempDir() + "/token";
  SetClock clock_;
  FileTokenSource source_{path_, clock_};
};

TEST_F(FileTokenSourceTest, ReadsTheFileAgainAfterTenSecondsAndAfterARefusal) {
  Write("first\n");
  EXPECT_EQ(*source_.Token(), "first");
  Write("second");
  EXPECT_EQ(*source_.Token(), "first");
  clock_.now += absl::Seconds(10);
  EXPECT_EQ(*source_.Token(), "second");
  Write("third");
  source_.Refused();
  EXPECT_EQ(*source_.Token(), "third");
}

TEST_F(FileTokenSourceTest, ServesTheTokenBeforeWhileTheFileCannotBeRead) {
  Write("first");
  EXPECT_EQ(*source_.Token(), "first");
  clock_.now += absl::Minutes(1);
  Write("");
  EXPECT_EQ(*source_.Token(), "first");
  std::remove(path_.c_str());
  EXPECT_EQ(*source_.Token(), "first");
  Write("second");
  EXPECT_EQ(*source_.Token(), "second") << "and looks each time until it can";
}

TEST_F(FileTokenSourceTest, NamesTheFileThatIsMissing) {
  std::remove(path_.c_str());
  const absl::Status status = source_.Token().status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(status.message(), HasSubstr(path_));
}

TEST(CheckToken, RefusesWhatNoHeaderCanCarry) {
  EXPECT_EQ(*CheckToken(" ab.c-_=\n", "x"), "ab.c-_=");
  for (const std::string& text :
       {std::string(), std::string(" \n"), std::string("a b"), std::string("a\r\nb"),
        std::string("a\0b", 3), std::string("\xc3\xa9"), std::string(100000, 'x')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckToken(text, "x").status()));
  }
}

}  // namespace
}  // namespace kube
