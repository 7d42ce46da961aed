#include "oci/session_credentials.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/manual_clock.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

const absl::Time kStart = absl::FromUnixSeconds(1800000000);

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Sessions "ST$1", "ST$2" and so on, unless the next error of `errors` is due.
class CountingSource final : public SessionSource {
 public:
  explicit CountingSource(sim::ManualClock& clock) : clock_(clock) {}

  std::string name() const override { return "test identity"; }

  absl::StatusOr<Session> Fetch() override {
    std::unique_lock<std::mutex> lock(mutex_);
    fetched_at_.push_back(clock_.Now());
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_ || ended_; });
    if (ended_) return absl::CancelledError("ended");
    if (!errors_.empty()) {
      const absl::Status error = errors_.front();
      errors_.pop_front();
      return error;
    }
    return Session{.credentials = {.key_id = absl::StrCat("ST$", ++sessions_), .key = nullptr},
                   .expires = clock_.Now() + life_};
  }

  void EndCalls() override {
    std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void Fail(const absl::Status& error, int times = 1) {
    std::lock_guard<std::mutex> lock(mutex_);
    errors_.insert(errors_.end(), static_cast<size_t>(times), error);
  }
  void set_life(absl::Duration life) {
    std::lock_guard<std::mutex> lock(mutex_);
    life_ = life;
  }
  // While held, a fetch does not end.
  void Hold(bool held) {
    std::lock_guard<std::mutex> lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void AwaitFetches(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return fetched_at_.size() >= count; });
  }
  std::vector<absl::Time> fetched_at() {
    std::lock_guard<std::mutex> lock(mutex_);
    return fetched_at_;
  }

 private:
  sim::ManualClock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<absl::Status> errors_;
  std::vector<absl::Time> fetched_at_;
  absl::Duration life_ = absl::Hours(1);
  int sessions_ = 0;
  bool held_ = false;
  bool ended_ = false;
};

class SessionTest : public ::testing::Test {
 protected:
  void Make(uint64_t seed = 1, absl::Duration patience = absl::Minutes(1)) {
    auto source = std::make_unique<CountingSource>(clock_);
    source_ = source.get();
    SessionOptions options;
    options.patience = patience;
    options.seed = seed;
    options.on_try = [this](const absl::Status& result, const std::string& text) {
      std::lock_guard<std::mutex> lock(mutex_);
      tried_.push_back(text);
      tries_ok_ += result.ok() ? 1 : 0;
      changed_.notify_all();
    };
    credentials_ = std::make_unique<SessionCredentials>(std::move(source), clock_, options);
  }

  void AwaitTries(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return tried_.size() >= count; });
  }

  std::string KeyId() {
    const auto got = credentials_->Get();
    return got.ok() ? got->key_id : absl::StrCat("error: ", Message(got.status()));
  }

  sim::ManualClock clock_{kStart};
  CountingSource* source_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> tried_;
  int tries_ok_ = 0;
  std::unique_ptr<SessionCredentials> credentials_;
};

TEST_F(SessionTest, IsFetchedOnceAndUsedAgain) {
  Make();
  EXPECT_THAT(source_->fetched_at(), SizeIs(0));
  EXPECT_EQ(KeyId(), "ST$1");
  clock_.Advance(absl::Minutes(40));
  EXPECT_EQ(KeyId(), "ST$1");
  EXPECT_THAT(source_->fetched_at(), SizeIs(1));
  AwaitTries(1);
  EXPECT_EQ(tried_[0], "test identity: new token, valid until 2027-01-15T09:00:00Z");
}

TEST_F(SessionTest, IsRenewedBeforeItsEndAndNobodyWaitsForThat) {
  Make();
  ASSERT_EQ(KeyId(), "ST$1");
  source_->Hold(true);
  clock_.Advance(absl::Minutes(55));
  EXPECT_EQ(KeyId(), "ST$1");
  source_->AwaitFetches(2);
  EXPECT_EQ(KeyId(), "ST$1");
  source_->Hold(false);
  AwaitTries(2);
  EXPECT_EQ(KeyId(), "ST$2");
}

// Many replicas that began at the same time do not renew at the same time.
TEST_F(SessionTest, BeginsItsRenewalAtAMomentOfItsOwn) {
  std::vector<absl::Duration> before_end;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Make(seed);
    EXPECT_EQ(credentials_->RenewalBegins(), absl::InfinitePast());
    ASSERT_EQ(KeyId(), "ST$1");
    before_end.push_back(clock_.Now() + absl::Hours(1) - credentials_->RenewalBegins());
  }
  EXPECT_THAT(before_end, Each(AllOf(Ge(absl::Minutes(5)), Le(absl::Minutes(11)))));
  std::sort(before_end.begin(), before_end.end());
  EXPECT_GT(before_end.back() - before_end.front(), absl::Minutes(3));
}

TEST_F(SessionTest, AShortLivedTokenIsUsedForMostOfItsLife) {
  Make();
  source_->set_life(absl::Minutes(3));
  EXPECT_EQ(KeyId(), "ST$1");
  clock_.Advance(absl::Seconds(100));
  EXPECT_EQ(KeyId(), "ST$1");
  EXPECT_THAT(source_->fetched_at(), SizeIs(1));
  clock_.Advance(absl::Seconds(25));
  EXPECT_EQ(KeyId(), "ST$1");
  AwaitTries(2);
  EXPECT_EQ(KeyId(), "ST$2");
}

TEST_F(SessionTest, ATokenThatHasEndedIsNotGivenAway) {
  Make();
  ASSERT_EQ(KeyId(), "ST$1");
  source_->Fail(absl::NotFoundError("no such instance"));
  clock_.Advance(absl::Minutes(59) + absl::Seconds(31));
  const auto ended = credentials_->Get();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Message(ended.status()),
            "test identity: no new token: no such instance; the next attempt is in 30s");
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(KeyId(), "ST$2");
}

TEST_F(SessionTest, OneThatCannotBeRenewedServesOnUntilItsEnd) {
  Make();
  ASSERT_EQ(KeyId(), "ST$1");
  source_->Fail(absl::UnavailableError("HTTP 500"), 10);
  clock_.Advance(absl::Minutes(58));
  EXPECT_EQ(KeyId(), "ST$1");
  AwaitTries(2);
  EXPECT_EQ(tried_[1],
            "test identity: no new token: HTTP 500; the one in use is valid until "
            "2027-01-15T09:00:00Z");
}

TEST_F(SessionTest, AFailureIsTriedAgainFiveTimesAndLater) {
  Make();
  source_->Fail(absl::UnavailableError("HTTP 429"), 5);
  const auto failed = credentials_->Get();
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Message(failed.status()),
            "test identity: no token: HTTP 429; the next attempt is in 30s");
  const std::vector<absl::Time> at = source_->fetched_at();
  ASSERT_THAT(at, SizeIs(5));
  for (int i = 0; i < 4; ++i) {
    // 1, 2, 4 and 8 s, and up to a second more.
    EXPECT_GE(at[i + 1] - at[i], absl::Seconds(1 << i));
    EXPECT_LE(at[i + 1] - at[i], absl::Seconds((1 << i) + 1));
  }
  // Nothing is sent for whoever asks before its time.
  EXPECT_FALSE(credentials_->Get().ok());
  EXPECT_THAT(source_->fetched_at(), SizeIs(5));
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(KeyId(), "ST$1");
}

TEST_F(SessionTest, WhatAnotherTryWouldNotMendIsTriedOnce) {
  Make();
  source_->Fail(absl::PermissionDeniedError("HTTP 403"), 9);
  EXPECT_EQ(credentials_->Get().status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(source_->fetched_at(), SizeIs(1));
}

TEST_F(SessionTest, AWaitHasABound) {
  Make(1, absl::Milliseconds(10));
  source_->Hold(true);
  const auto waiting = credentials_->Get();
  EXPECT_EQ(waiting.status(), absl::UnavailableError("test identity: a token is being fetched"));
  const auto refresh = credentials_->Refresh({.key_id = "ST$0", .key = nullptr});
  EXPECT_EQ(refresh.code(), absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, ARefusedTokenIsRenewedOnceForAll) {
  Make();
  const Credentials refused = credentials_->Get().value();
  clock_.Advance(absl::Minutes(10));
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] { EXPECT_EQ(credentials_->Refresh(refused), absl::OkStatus()); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(KeyId(), "ST$2");
  EXPECT_THAT(source_->fetched_at(), SizeIs(2));
}

TEST_F(SessionTest, ANewTokenThatIsRefusedIsNotRenewedAgain) {
  Make();
  const Credentials refused = credentials_->Get().value();
  clock_.Advance(absl::Seconds(3));
  const absl::Status status = credentials_->Refresh(refused);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Message(status),
            "test identity: the token is 3s old and refused all the same; is there an IAM policy "
            "for it?");
  EXPECT_THAT(source_->fetched_at(), SizeIs(1));
}

TEST_F(SessionTest, ARefreshThatFailsKeepsTheOldOne) {
  Make();
  const Credentials refused = credentials_->Get().value();
  clock_.Advance(absl::Minutes(10));
  source_->Fail(absl::InvalidArgumentError("damaged"));
  EXPECT_THAT(Message(credentials_->Refresh(refused)), HasSubstr("no new token: damaged"));
  EXPECT_EQ(KeyId(), "ST$1");
}

TEST_F(SessionTest, EndsWhileItFetches) {
  Make();
  source_->Hold(true);
  std::thread waiting(
      [&] { EXPECT_EQ(credentials_->Get().status().code(), absl::StatusCode::kCancelled); });
  source_->AwaitFetches(1);
  credentials_->EndCalls();
  waiting.join();
  EXPECT_EQ(credentials_->Get().status().code(), absl::StatusCode::kCancelled);
}

TEST_F(SessionTest, IsDestroyedWhileItFetches) {
  Make(1, absl::ZeroDuration());
  source_->Hold(true);
  EXPECT_FALSE(credentials_->Get().ok());
  source_->AwaitFetches(1);
  credentials_.reset();
}

}  // namespace
}  // namespace oci
