#include "probe/figures.h"

#include <cerrno>

#include "gtest/gtest.h"
#include "probe/failure.h"

namespace probe {
namespace {

TEST(ClassifyErrno, TellsTheProbesOwnFailuresFromTheServers) {
  for (const Phase phase :
       {Phase::kConnecting, Phase::kHandshake, Phase::kWaiting, Phase::kReceiving}) {
    EXPECT_EQ(ClassifyErrno(EADDRNOTAVAIL, phase), FailureClass::kNoLocalPort);
    EXPECT_EQ(ClassifyErrno(EMFILE, phase), FailureClass::kNoFileDescriptor);
    EXPECT_EQ(ClassifyErrno(ENFILE, phase), FailureClass::kNoFileDescriptor);
    EXPECT_EQ(ClassifyErrno(ENOBUFS, phase), FailureClass::kNoMemory);
    EXPECT_FALSE(IsOwnFailure(ClassifyErrno(ECONNREFUSED, phase)));
    EXPECT_FALSE(IsOwnFailure(ClassifyErrno(ECONNRESET, phase)));
    EXPECT_FALSE(IsOwnFailure(ClassifyErrno(0, phase)));
  }
}

TEST(ClassifyErrno, TellsWhereTheResponseWas) {
  EXPECT_EQ(ClassifyErrno(0, Phase::kWaiting), FailureClass::kClosedBeforeResponse);
  EXPECT_EQ(ClassifyErrno(0, Phase::kReceiving), FailureClass::kClosedMidResponse);
  EXPECT_EQ(ClassifyErrno(0, Phase::kHandshake), FailureClass::kTls);
  EXPECT_EQ(ClassifyErrno(EPIPE, Phase::kWaiting), FailureClass::kReset);
  EXPECT_EQ(ClassifyErrno(EHOSTUNREACH, Phase::kConnecting), FailureClass::kUnreachable);
}

TEST(LatencyHistogram, IsRightWithinASixteenth) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 10'000; ++i) histogram.Add(absl::Microseconds(i * 10));
  for (const double percent : {1., 50., 90., 99.}) {
    const double got = absl::ToDoubleMicroseconds(histogram.Percentile(percent));
    EXPECT_GE(got, percent * 1000);
    EXPECT_LE(got, percent * 1000 * 17 / 16 + 1);
  }
  EXPECT_EQ(histogram.Percentile(100), absl::Milliseconds(100));
  EXPECT_EQ(histogram.max(), absl::Milliseconds(100));
}

TEST(LatencyHistogram, TakesAnyDuration) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Percentile(50), absl::ZeroDuration());
  histogram.Add(-absl::Seconds(1));
  histogram.Add(absl::InfiniteDuration());
  histogram.Add(absl::Hours(10'000));
  EXPECT_EQ(histogram.count(), 3);
}

TEST(RunFigures, CountsOwnFailuresApartAndKeepsABoundedNumber) {
  RunFigures figures;
  figures.start = absl::FromUnixSeconds(1000);
  Failure failure;
  failure.time = figures.start + absl::Seconds(2);
  failure.failure = FailureClass::kNoLocalPort;
  figures.AddFailure(failure);
  failure.failure = FailureClass::kReset;
  for (size_t i = 0; i < RunFigures::kMaxKeptFailures + 5; ++i) figures.AddFailure(failure);
  figures.AddSuccess(figures.start + absl::Seconds(1), 200, absl::Milliseconds(1));
  EXPECT_EQ(figures.own_failures, 1);
  EXPECT_EQ(figures.failed, static_cast<int64_t>(RunFigures::kMaxKeptFailures + 5));
  EXPECT_EQ(figures.requests(), figures.failed + 1);
  EXPECT_EQ(figures.failures.size(), RunFigures::kMaxKeptFailures);
  ASSERT_EQ(figures.seconds.size(), 3u);
  EXPECT_EQ(figures.seconds[1].succeeded, 1);
  EXPECT_EQ(figures.seconds[2].failed, figures.failed);
}

}  // namespace
}  // namespace probe
