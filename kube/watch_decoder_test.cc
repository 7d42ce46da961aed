#include "kube/watch_decoder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kMaxLine = 4096;

class WatchDecoderTest : public ::testing::Test {
 protected:
  absl::Status Feed(absl::string_view bytes) {
    return decoder_.Feed(bytes, [&](WatchEvent event) {
      versions_.push_back(event.resource_version);
      return answer_;
    });
  }

  WatchDecoder decoder_{Resource::kPods, kMaxLine};
  std::vector<std::string> versions_;
  absl::Status answer_;
};

std::string Bookmark(int version) {
  return absl::StrCat(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")", version,
                      "\"}}}");
}

TEST_F(WatchDecoderTest, GivesTheSameEventsWhereverTheBytesAreCut) {
  std::string stream;
  for (const std::string& line : ReadRecorded("pods-watch-metadata").lines) {
    absl::StrAppend(&stream, line, "\n");
  }
  for (const size_t step :
       {size_t{1}, size_t{2}, size_t{7}, size_t{97}, size_t{1000}, stream.size()}) {
    versions_.clear();
    for (size_t at = 0; at < stream.size(); at += step) {
      ASSERT_TRUE(Feed(absl::string_view(stream).substr(at, step)).ok());
    }
    EXPECT_THAT(versions_, ElementsAre("883", "890", "891", "892", "915", "918", "919"))
        << "cut every " << step << " bytes";
  }
}

TEST_F(WatchDecoderTest, SkipsEmptyLines) {
  ASSERT_TRUE(Feed(absl::StrCat("\n\r\n", Bookmark(1), "\r\n \n")).ok());
  EXPECT_THAT(versions_, ElementsAre("1"));
}

TEST_F(WatchDecoderTest, HoldsAnIncompleteLineBackUntilReset) {
  const std::string line = Bookmark(1);
  ASSERT_TRUE(Feed(line).ok());
  EXPECT_THAT(versions_, IsEmpty());
  decoder_.Reset();
  ASSERT_TRUE(Feed(absl::StrCat(Bookmark(2), "\n")).ok());
  EXPECT_THAT(versions_, ElementsAre("2"));
}

TEST_F(WatchDecoderTest, RefusesALineThatIsTooLongHoweverItComes) {
  EXPECT_TRUE(Feed(std::string(kMaxLine, 'x')).ok()) << "not yet complete, not yet too long";
  const absl::Status status = Feed("x");
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(status.message(), HasSubstr("watch pods: a line is longer than 4096 bytes"));
  EXPECT_TRUE(absl::IsResourceExhausted(Feed(std::string(2 << 20, 'x'))));
}

TEST_F(WatchDecoderTest, RefusesALineThatIsNoEvent) {
  EXPECT_TRUE(absl::IsInvalidArgument(Feed("{]\n")));
}

TEST_F(WatchDecoderTest, StopsWhenTheTakerSaysSo) {
  answer_ = absl::OutOfRangeError("enough");
  EXPECT_EQ(Feed(absl::StrCat(Bookmark(1), "\n", Bookmark(2), "\n")), answer_);
  EXPECT_THAT(versions_, ElementsAre("1"));
}

}  // namespace
}  // namespace kube
