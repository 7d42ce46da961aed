#include "controller/election.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "controller/fence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

using Kind = ElectionStep::Kind;

constexpr absl::Duration kStart = absl::Hours(3);

ElectionOptions Options(const std::string& identity) {
  ElectionOptions options;
  options.lease = {"drain", "oci-drain"};
  options.identity = identity;
  return options;
}

// The API server's Lease, which refuses what it refuses.
class Server {
 public:
  absl::StatusOr<kube::Lease> Get() const {
    if (!lease.has_value()) return absl::NotFoundError("no lease");
    return *lease;
  }
  absl::StatusOr<kube::Lease> Put(const kube::Lease& written) {
    const std::string version = lease.has_value() ? lease->resource_version : "";
    if (written.resource_version != version) return absl::AbortedError("somebody else wrote");
    lease = written;
    lease->resource_version = absl::StrCat(++last_version_);
    return *lease;
  }
  void Delete() { lease.reset(); }

  std::optional<kube::Lease> lease;

 private:
  int last_version_ = 100;
};

// One replica whose wall clock is wrong by `skew`.
struct Replica {
  Replica(const std::string& name, absl::Duration its_skew = absl::ZeroDuration())
      : election(Options(name)), skew(its_skew) {}

  // Does what is due now; answers the last step.
  ElectionStep Go(Server& server, absl::Duration now, bool reachable = true) {
    for (;;) {
      const ElectionStep step = election.Next(own, now, absl::UnixEpoch() + now + skew);
      const absl::Status gone = absl::UnavailableError("no route");
      if (step.kind == Kind::kRead) {
        election.OnRead(reachable ? server.Get() : gone, now);
      } else if (step.kind == Kind::kWrite) {
        election.OnWritten(step, reachable ? server.Put(step.lease) : gone, now, now);
      } else {
        return step;
      }
    }
  }

  Election election;
  OwnState own;
  absl::Duration skew;
};

class ElectionTest : public ::testing::Test {
 protected:
  // Lets the replica act whenever it wants to, until `end`.
  void GoUntil(Replica& replica, absl::Duration end) {
    while (now_ < end) {
      const ElectionStep step = replica.Go(server_, now_);
      now_ = step.kind == Kind::kEnd ? end : std::min(end, std::max(step.until, now_));
    }
    replica.Go(server_, now_);
  }

  Server server_;
  absl::Duration now_ = kStart;
  Replica a_{"a"};
  Replica b_{"b"};
};

TEST_F(ElectionTest, TheFirstCreatesTheLeaseAndLeads) {
  const ElectionStep step = a_.Go(server_, now_);
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.election.terms(), 1);
  EXPECT_EQ(a_.election.write_until(), now_ + absl::Seconds(10));
  EXPECT_EQ(step.kind, Kind::kWait);
  EXPECT_EQ(step.until, now_ + absl::Seconds(2));
  EXPECT_EQ(server_.lease->holder, "a");
  EXPECT_EQ(server_.lease->duration, absl::Seconds(15));
  EXPECT_EQ(server_.lease->transitions, 0);
  EXPECT_EQ(server_.lease->key, (kube::ObjectKey{"drain", "oci-drain"}));
}

TEST_F(ElectionTest, TheLeaderRenewsEveryRetryPeriod) {
  GoUntil(a_, kStart + absl::Seconds(100));
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.election.terms(), 1);
  EXPECT_EQ(server_.lease->renewed, absl::UnixEpoch() + kStart + absl::Seconds(100));
  EXPECT_EQ(server_.lease->acquired, absl::UnixEpoch() + kStart);
}

TEST_F(ElectionTest, AnotherOneStandsByWhileRenewalsAreSeen) {
  for (; now_ < kStart + absl::Seconds(100); now_ += absl::Seconds(1)) {
    a_.Go(server_, now_);
    b_.election.Observe(server_.lease, now_);
    b_.Go(server_, now_);
    ASSERT_FALSE(b_.election.leads());
  }
  EXPECT_EQ(b_.election.holder(), "a");
  EXPECT_EQ(b_.election.write_until(), absl::ZeroDuration());
}

TEST_F(ElectionTest, TheLeaseIsTakenWhenItsRecordHasNotChangedForItsDuration) {
  a_.Go(server_, now_);
  const ElectionStep step = b_.Go(server_, now_);
  EXPECT_EQ(step.kind, Kind::kWait);
  GoUntil(b_, kStart + absl::Milliseconds(14'999));
  EXPECT_FALSE(b_.election.leads());
  GoUntil(b_, kStart + absl::Seconds(15));
  EXPECT_TRUE(b_.election.leads());
  EXPECT_EQ(server_.lease->holder, "b");
  EXPECT_EQ(server_.lease->transitions, 1);
}

TEST_F(ElectionTest, TheDurationIsTheHoldersOwn) {
  kube::Lease lease;
  lease.key = {"drain", "oci-drain"};
  lease.holder = "another";
  lease.duration = absl::Minutes(2);
  server_.Put(lease).IgnoreError();
  GoUntil(b_, kStart + absl::Milliseconds(119'999));
  EXPECT_FALSE(b_.election.leads());
  GoUntil(b_, kStart + absl::Minutes(2));
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(ElectionTest, AWallClockThatIsWrongByHoursChangesNothing) {
  Replica wrong("wrong", -absl::Hours(5));
  a_.skew = absl::Hours(7);
  for (; now_ < kStart + absl::Minutes(5); now_ += absl::Seconds(1)) {
    a_.Go(server_, now_);
    wrong.Go(server_, now_);
    ASSERT_FALSE(wrong.election.leads());
  }
  EXPECT_TRUE(a_.election.leads());
}

TEST_F(ElectionTest, AChangeOfMetadataAloneIsNoRenewal) {
  a_.Go(server_, now_);
  b_.Go(server_, now_);
  now_ += absl::Seconds(14);
  kube::Lease labelled = *server_.lease;
  server_.Put(labelled).IgnoreError();
  b_.election.Observe(server_.lease, now_);
  GoUntil(b_, kStart + absl::Seconds(15));
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(ElectionTest, WhoCannotRenewMayWriteUntilTheDeadlineAndNoLonger) {
  a_.Go(server_, now_);
  for (; now_ < kStart + absl::Seconds(10); now_ += absl::Seconds(1)) {
    a_.Go(server_, now_, /*reachable=*/false);
    EXPECT_TRUE(a_.election.leads());
    EXPECT_EQ(a_.election.write_until(), kStart + absl::Seconds(10));
  }
  a_.Go(server_, now_, /*reachable=*/false);
  EXPECT_FALSE(a_.election.leads());
  EXPECT_EQ(a_.election.write_until(), absl::ZeroDuration());
}

TEST_F(ElectionTest, TheDeadlineCountsFromBeforeTheRenewalWasSent) {
  const ElectionStep read = a_.election.Next({}, now_, absl::UnixEpoch());
  a_.election.OnRead(server_.Get(), now_);
  const ElectionStep write = a_.election.Next({}, now_, absl::UnixEpoch());
  ASSERT_EQ(write.kind, Kind::kWrite);
  a_.election.OnWritten(write, server_.Put(write.lease), now_, now_ + absl::Seconds(4));
  EXPECT_EQ(a_.election.write_until(), now_ + absl::Seconds(10));
  EXPECT_EQ(read.kind, Kind::kRead);
}

TEST_F(ElectionTest, ItsOwnLeaseIsTakenAgainAsANewTermOnceAllIsAtRest) {
  a_.Go(server_, now_);
  now_ += absl::Seconds(11);
  a_.own.at_rest = false;
  a_.Go(server_, now_);
  EXPECT_FALSE(a_.election.leads());
  GoUntil(a_, now_ + absl::Minutes(1));
  EXPECT_FALSE(a_.election.leads());
  a_.own.at_rest = true;
  a_.Go(server_, now_);
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.election.terms(), 2);
}

TEST_F(ElectionTest, WhoSeesAnotherHolderLeadsNoMore) {
  a_.Go(server_, now_);
  kube::Lease taken = *server_.lease;
  taken.holder = "b";
  server_.Put(taken).IgnoreError();
  a_.election.Observe(server_.lease, now_ + absl::Milliseconds(10));
  EXPECT_FALSE(a_.election.leads());
}

TEST_F(ElectionTest, AConflictIsReadAndLost) {
  a_.Go(server_, now_);
  kube::Lease taken = *server_.lease;
  taken.holder = "b";
  server_.Put(taken).IgnoreError();
  now_ += absl::Seconds(2);
  a_.Go(server_, now_);
  EXPECT_FALSE(a_.election.leads());
  EXPECT_EQ(a_.election.holder(), "b");
}

TEST_F(ElectionTest, ARenewalWhoseAnswerWasLostIsNoRenewalButIsReadAndRepeated) {
  a_.Go(server_, now_);
  now_ += absl::Seconds(2);
  const ElectionStep write = a_.election.Next({}, now_, absl::UnixEpoch() + now_);
  ASSERT_EQ(write.kind, Kind::kWrite);
  server_.Put(write.lease).IgnoreError();
  a_.election.OnWritten(write, absl::DeadlineExceededError("no answer"), now_, now_);
  EXPECT_EQ(a_.election.write_until(), kStart + absl::Seconds(10));
  now_ += absl::Seconds(2);
  a_.Go(server_, now_);
  EXPECT_EQ(a_.election.write_until(), now_ + absl::Seconds(10));
  EXPECT_EQ(a_.election.terms(), 1);
}

TEST_F(ElectionTest, WhoResignsReleasesAndTheNextTakesItAtOnce) {
  a_.Go(server_, now_);
  b_.Go(server_, now_);
  now_ += absl::Seconds(1);
  a_.own.resign = true;
  EXPECT_EQ(a_.Go(server_, now_).kind, Kind::kEnd);
  EXPECT_FALSE(a_.election.leads());
  EXPECT_EQ(server_.lease->holder, "");
  EXPECT_EQ(server_.lease->duration, absl::Seconds(1));
  b_.election.Observe(server_.lease, now_);
  b_.Go(server_, now_);
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(ElectionTest, WhoResignsWithoutTheLeaseLeavesItAlone) {
  a_.Go(server_, now_);
  b_.Go(server_, now_);
  b_.own.resign = true;
  EXPECT_EQ(b_.Go(server_, now_).kind, Kind::kEnd);
  EXPECT_EQ(server_.lease->holder, "a");
}

TEST_F(ElectionTest, WhoHasResignedNeverLeadsAgain) {
  a_.own.resign = true;
  for (; now_ < kStart + absl::Minutes(2); now_ += absl::Seconds(1)) {
    a_.Go(server_, now_);
    ASSERT_FALSE(a_.election.leads());
  }
  EXPECT_FALSE(server_.lease.has_value());
}

TEST_F(ElectionTest, AReleaseThatFailsIsTriedAgain) {
  a_.Go(server_, now_);
  a_.own.resign = true;
  EXPECT_EQ(a_.Go(server_, now_ + absl::Seconds(2), /*reachable=*/false).kind, Kind::kWait);
  EXPECT_EQ(a_.Go(server_, now_ + absl::Seconds(4)).kind, Kind::kEnd);
  EXPECT_EQ(server_.lease->holder, "");
}

TEST_F(ElectionTest, ADeletedLeaseIsWaitedOutByThoseWhoDidNotHoldIt) {
  a_.Go(server_, now_);
  b_.Go(server_, now_);
  now_ += absl::Seconds(1);
  server_.Delete();
  b_.election.Observe(std::nullopt, now_);
  GoUntil(b_, kStart + absl::Milliseconds(14'999));
  EXPECT_FALSE(b_.election.leads());
  GoUntil(b_, kStart + absl::Seconds(15));
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(ElectionTest, TheHolderOfADeletedLeaseMakesItAgain) {
  a_.Go(server_, now_);
  server_.Delete();
  a_.election.Observe(std::nullopt, now_);
  now_ += absl::Seconds(2);
  a_.Go(server_, now_);
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.election.terms(), 1);
  EXPECT_EQ(server_.lease->holder, "a");
}

TEST_F(ElectionTest, AnOlderEventOfTheWatchSaysNothing) {
  a_.Go(server_, now_);
  const std::optional<kube::Lease> first = server_.lease;
  now_ += absl::Seconds(2);
  a_.Go(server_, now_);
  kube::Lease others = *first;
  others.holder = "b";
  a_.election.Observe(others, now_);
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.election.holder(), "a");
}

TEST_F(ElectionTest, WithoutAWatchTheLeaseIsReadEveryTwoRetryPeriods) {
  a_.Go(server_, now_);
  b_.Go(server_, now_);
  EXPECT_EQ(b_.Go(server_, now_).until, now_ + absl::Seconds(4));
}

TEST_F(ElectionTest, AnApiServerThatIsAwayIsAskedOnceARetryPeriod) {
  const ElectionStep step = b_.Go(server_, now_, /*reachable=*/false);
  EXPECT_EQ(step.kind, Kind::kWait);
  EXPECT_EQ(step.until, now_ + absl::Seconds(2));
}

TEST(CheckElectionOptions, DemandsAnOrder) {
  EXPECT_TRUE(CheckElectionOptions({}).ok());
  ElectionOptions options;
  options.renew_deadline = options.lease_duration;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckElectionOptions(options)));
  options = {};
  options.retry_period = options.renew_deadline;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckElectionOptions(options)));
  options = {};
  options.retry_period = absl::ZeroDuration();
  EXPECT_TRUE(absl::IsInvalidArgument(CheckElectionOptions(options)));
  options = {};
  options.lease_duration = absl::Milliseconds(15'500);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckElectionOptions(options)));
}

// Random worlds: an API server that is away, answers that are lost or late, watches
// that stand still, clocks that are wrong, processes that pause. Whatever happens, no
// two may write at once, and while all is well somebody does.
TEST(Election, NeverLetsTwoWrite) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    base::Random random(seed);
    Server server;
    std::vector<std::unique_ptr<Replica>> replicas;
    for (int i = 0; i < 3; ++i) {
      const absl::Duration skew = absl::Hours(random.Between(-9, 9));
      replicas.push_back(std::make_unique<Replica>(absl::StrCat("replica-", i), skew));
    }
    std::map<int, absl::Duration> paused_until;
    absl::Duration away_until = absl::ZeroDuration();
    int led_calmly = 0;
    const absl::Duration calm = kStart + absl::Minutes(9);
    for (absl::Duration now = kStart; now < kStart + absl::Minutes(10);
         now += absl::Milliseconds(200)) {
      const bool is_calm = now >= calm;
      if (!is_calm && random.Between(0, 499) == 0) {
        away_until = now + absl::Seconds(random.Between(1, 40));
      }
      for (int i = 0; i < 3; ++i) {
        Replica& replica = *replicas[static_cast<size_t>(i)];
        if (!is_calm && random.Between(0, 999) == 0) {
          paused_until[i] = now + absl::Seconds(random.Between(1, 60));
        }
        replica.own.at_rest = is_calm || random.Between(0, 9) != 0;
        if (now < paused_until[i] && !is_calm) continue;
        if (is_calm || random.Between(0, 2) == 0) replica.election.Observe(server.lease, now);
        const absl::Time wall = absl::UnixEpoch() + now + replica.skew;
        const ElectionStep step = replica.election.Next(replica.own, now, wall);
        const bool away = now < away_until && !is_calm;
        const absl::Status gone = absl::UnavailableError("away");
        if (step.kind == Kind::kRead) {
          replica.election.OnRead(away ? gone : server.Get(), now);
        } else if (step.kind == Kind::kWrite) {
          absl::StatusOr<kube::Lease> stored = away ? gone : server.Put(step.lease);
          if (!is_calm && random.Between(0, 9) == 0) {
            stored = absl::DeadlineExceededError("lost");
          }
          replica.election.OnWritten(step, stored, now, now);
        }
      }
      int writers = 0;
      for (const auto& replica : replicas) {
        // A paused process checks the moment when it goes on.
        if (now < replica->election.write_until()) ++writers;
      }
      ASSERT_LE(writers, 1) << "seed " << seed << " after " << now - kStart;
      if (is_calm) led_calmly += writers;
    }
    EXPECT_GT(led_calmly, 200) << "seed " << seed;
  }
}

TEST(Fence, OpensUntilAMomentAndClosesForGood) {
  Fence fence;
  EXPECT_TRUE(absl::IsFailedPrecondition(fence.Check(kStart)));
  fence.OpenUntil(kStart + absl::Seconds(10));
  EXPECT_TRUE(fence.Check(kStart + absl::Milliseconds(9'999)).ok());
  EXPECT_FALSE(fence.Check(kStart + absl::Seconds(10)).ok());
  fence.OpenUntil(absl::InfiniteDuration());
  EXPECT_TRUE(fence.Check(kStart + absl::Hours(10'000)).ok());
  fence.CloseForever();
  fence.OpenUntil(absl::InfiniteDuration());
  EXPECT_FALSE(fence.Check(kStart).ok());
}

}  // namespace
}  // namespace controller
