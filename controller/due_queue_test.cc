#include "controller/due_queue.h"

#include "gtest/gtest.h"

namespace controller {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
const oci::Ocid kA("a");
const oci::Ocid kB("b");

TEST(DueQueue, GivesTheKeyThatWasDueFirst) {
  DueQueue queue;
  queue.Add(kA, kStart + absl::Seconds(2));
  queue.Add(kB, kStart + absl::Seconds(1));
  EXPECT_EQ(queue.NextDue(), kStart + absl::Seconds(1));
  EXPECT_FALSE(queue.Take(kStart).has_value());
  EXPECT_EQ(queue.Take(kStart + absl::Seconds(5)), kB);
  EXPECT_EQ(queue.Take(kStart + absl::Seconds(5)), kA);
}

TEST(DueQueue, KeepsTheEarlierOfTwoTimes) {
  DueQueue queue;
  queue.Add(kA, kStart + absl::Seconds(1));
  queue.Add(kA, kStart + absl::Seconds(9));
  EXPECT_EQ(queue.NextDue(), kStart + absl::Seconds(1));
  queue.Add(kA, kStart);
  EXPECT_EQ(queue.NextDue(), kStart);
  EXPECT_EQ(queue.waiting(), 1u);
}

TEST(DueQueue, NeverGivesAKeyTwiceAtATime) {
  DueQueue queue;
  queue.Add(kA, kStart);
  EXPECT_EQ(queue.Take(kStart), kA);
  queue.Add(kA, kStart);
  EXPECT_FALSE(queue.Take(kStart).has_value());
  queue.Done(kA, kStart + absl::Minutes(1));
  EXPECT_EQ(queue.Take(kStart), kA) << "what was added meanwhile is not lost";
  queue.Done(kA, kStart + absl::Minutes(1));
  EXPECT_EQ(queue.NextDue(), kStart + absl::Minutes(1));
}

TEST(DueQueue, ForgetsAKeyAlsoWhileItIsWorkedOn) {
  DueQueue queue;
  queue.Add(kA, kStart);
  queue.Add(kB, kStart);
  queue.Forget(kB);
  EXPECT_EQ(queue.Take(kStart), kA);
  queue.Forget(kA);
  queue.Done(kA, kStart);
  EXPECT_EQ(queue.NextDue(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace controller
