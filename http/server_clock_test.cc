#include "http/server_clock.h"

#include <gtest/gtest.h>

#include "http/date.h"

namespace http {
namespace {

const absl::Time kSent = absl::FromUnixSeconds(1'700'000'000);

ClockReading Read(absl::Duration server_ahead, absl::Duration under_way) {
  const auto reading =
      ReadServerClock({{"Date", FormatDate(kSent + server_ahead)}}, kSent, kSent + under_way);
  EXPECT_TRUE(reading.has_value());
  return reading.value_or(ClockReading{});
}

TEST(ServerClock, ClocksThatMayAgreeAreNotSaidToDiffer) {
  EXPECT_EQ(Read(absl::ZeroDuration(), absl::ZeroDuration()).Certain(), absl::ZeroDuration());
  EXPECT_EQ(Read(absl::Seconds(-1), absl::ZeroDuration()).Certain(), absl::ZeroDuration());
  // A slow answer hides a difference; it never makes one up.
  EXPECT_EQ(Read(absl::Seconds(30), absl::Seconds(31)).Certain(), absl::ZeroDuration());
  EXPECT_EQ(Read(absl::ZeroDuration(), absl::Minutes(10)).Certain(), absl::ZeroDuration());
}

TEST(ServerClock, WhatIsCertainHasTheSignOfThisMachinesLead) {
  EXPECT_EQ(Read(absl::Seconds(-61), absl::ZeroDuration()).Certain(), absl::Seconds(60));
  EXPECT_EQ(Read(absl::Seconds(60), absl::Seconds(2)).Certain(), absl::Seconds(-58));
}

TEST(ServerClock, WithoutADateThereIsNoReading) {
  EXPECT_FALSE(ReadServerClock({}, kSent, kSent).has_value());
  EXPECT_FALSE(ReadServerClock({{"Date", "yesterday"}}, kSent, kSent).has_value());
}

}  // namespace
}  // namespace http
