#include "base/token_bucket.h"

#include "gtest/gtest.h"

namespace base {
namespace {

TEST(TokenBucket, LetsABurstThroughAndThenOnePerInterval) {
  TokenBucket bucket(10, 3);
  const absl::Time now = absl::FromUnixSeconds(1000);
  EXPECT_EQ(bucket.Reserve(now), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(now), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(now), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(now), absl::Milliseconds(100));
  EXPECT_EQ(bucket.Reserve(now), absl::Milliseconds(200));
}

TEST(TokenBucket, FillsUpAgainButNotBeyondItsBurst) {
  TokenBucket bucket(10, 2);
  const absl::Time start = absl::FromUnixSeconds(1000);
  bucket.Reserve(start);
  bucket.Reserve(start);
  const absl::Time later = start + absl::Hours(1);
  EXPECT_EQ(bucket.Reserve(later), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(later), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(later), absl::Milliseconds(100));
}

}  // namespace
}  // namespace base
