#include "http/date.h"

#include "gtest/gtest.h"

namespace http {
namespace {

TEST(Date, FormatsAndParsesTheSameSecond) {
  const absl::Time time = absl::FromUnixSeconds(1388957500);
  EXPECT_EQ(FormatDate(time), "Sun, 05 Jan 2014 21:31:40 GMT");
  EXPECT_EQ(ParseDate("Sun, 05 Jan 2014 21:31:40 GMT"), time);
  EXPECT_EQ(FormatDate(time + absl::Milliseconds(999)), FormatDate(time));
}

TEST(Date, RoundTripsEveryDayOfALeapYear) {
  for (int day = 0; day < 366; ++day) {
    const absl::Time time = absl::FromUnixSeconds(1704067200 + day * 86400 + 3661);
    EXPECT_EQ(ParseDate(FormatDate(time)), time) << FormatDate(time);
  }
}

TEST(Date, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "now", "Sun, 05 Jan 2014 21:31:40 CET", "Sun, 32 Jan 2014 21:31:40 GMT",
        "Sun, 05 Foo 2014 21:31:40 GMT", "Sun, 05 Jan 2014 25:31:40 GMT",
        "Sun, 05 Jan 2014 21:61:40 GMT", "Sun, 05 Jan 99999999999 21:31:40 GMT",
        "Sunday, 05-Jan-14 21:31:40 GMT", "Sun, 05 Jan 2014 21:31 GMT"}) {
    EXPECT_EQ(ParseDate(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace http
