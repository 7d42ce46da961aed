#include "oci/session_credentials.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "oci/security_token.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr absl::Duration kMargin = absl::Minutes(5);
constexpr int kTries = 5;
constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kMaxJitter = absl::Seconds(1);
constexpr absl::Duration kBetweenAttempts = absl::Seconds(30);
// The end is looked for this often within a pause.
constexpr absl::Duration kSlice = absl::Milliseconds(100);

bool WorthAnotherTry(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

std::string SecondsText(absl::Duration duration) {
  return absl::FormatDuration(
      absl::Ceil(std::max(duration, absl::ZeroDuration()), absl::Seconds(1)));
}

}  // namespace

SessionCredentials::SessionCredentials(std::unique_ptr<SessionSource> source, base::Clock& clock,
                                       SessionOptions options)
    : source_(std::move(source)),
      clock_(clock),
      options_(std::move(options)),
      random_(options_.seed),
      thread_([this] { Run(); }) {}

SessionCredentials::~SessionCredentials() {
  EndCalls();
  thread_.join();
}

void SessionCredentials::EndCalls() {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
  }
  source_->EndCalls();
}

absl::StatusOr<Credentials> SessionCredentials::Get() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = clock_.Now();
  if (!session_ || now >= renew_) Want(now);
  if (Usable(now)) return session_->credentials;
  mutex_.AwaitWithTimeout(absl::Condition(this, &SessionCredentials::Settled), options_.patience);
  const absl::Time later = clock_.Now();
  if (Usable(later)) return session_->credentials;
  return Missing(later);
}

absl::Status SessionCredentials::Refresh(const Credentials& refused) {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = clock_.Now();
  const auto renewed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return session_ && session_->credentials.key_id != refused.key_id;
  };
  if (renewed()) return absl::OkStatus();
  if (session_ && now - fetched_ < kBetweenAttempts) {
    return absl::UnauthenticatedError(
        absl::StrCat(source_->name(), ": the token is ", SecondsText(now - fetched_),
                     " old and refused all the same; is there an IAM policy for it?"));
  }
  Want(now);
  mutex_.AwaitWithTimeout(absl::Condition(this, &SessionCredentials::Settled), options_.patience);
  return renewed() ? absl::OkStatus() : Missing(clock_.Now());
}

absl::Time SessionCredentials::RenewalBegins() {
  absl::MutexLock lock(&mutex_);
  return renew_;
}

bool SessionCredentials::Usable(absl::Time now) const {
  return session_ && session_->expires - now > kLeastTokenLife;
}

void SessionCredentials::Want(absl::Time now) {
  if (!ended_ && now >= not_before_) wanted_ = true;
}

absl::Status SessionCredentials::Missing(absl::Time now) const {
  if (ended_) return absl::CancelledError(absl::StrCat(source_->name(), ": ended"));
  const std::string why =
      last_error_.ok() ? "" : absl::StrCat(": ", std::string(last_error_.message()));
  if (wanted_) {
    return absl::UnavailableError(absl::StrCat(source_->name(), ": a token is being fetched", why));
  }
  return absl::Status(WorthAnotherTry(last_error_) ? absl::StatusCode::kUnavailable
                                                   : absl::StatusCode::kUnauthenticated,
                      absl::StrCat(source_->name(), session_ ? ": no new token" : ": no token", why,
                                   "; the next attempt is in ", SecondsText(not_before_ - now)));
}

void SessionCredentials::Run() {
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      const auto called = [this]()
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return wanted_ || ended_; };
      mutex_.Await(absl::Condition(&called));
      if (ended_) return;
    }
    Renew();
    absl::MutexLock lock(&mutex_);
    wanted_ = false;
  }
}

void SessionCredentials::Renew() {
  absl::Duration pause = kFirstPause;
  for (int attempt = 1; attempt <= kTries; ++attempt, pause *= 2) {
    const absl::Status tried = Try();
    if (tried.ok()) return;
    if (attempt == kTries || !WorthAnotherTry(tried)) break;
    absl::Duration jitter;
    {
      absl::MutexLock lock(&mutex_);
      jitter = kMaxJitter * random_.Fraction();
    }
    if (!Pause(pause + jitter)) return;
  }
  absl::MutexLock lock(&mutex_);
  not_before_ = clock_.Now() + kBetweenAttempts;
}

absl::Status SessionCredentials::Try() {
  absl::StatusOr<Session> session = source_->Fetch();
  const absl::Status status = session.status();
  std::string text;
  {
    absl::MutexLock lock(&mutex_);
    if (session.ok()) {
      text = absl::StrCat(source_->name(), ": new token, valid until ", TimeText(session->expires));
      Keep(*std::move(session));
    } else {
      text = absl::StrCat(source_->name(), ": no new token: ", status.message());
      if (session_) {
        absl::StrAppend(&text, "; the one in use is valid until ", TimeText(session_->expires));
      }
    }
    last_error_ = status;
  }
  if (options_.on_try != nullptr) options_.on_try(status, text);
  return status;
}

void SessionCredentials::Keep(Session session) {
  fetched_ = clock_.Now();
  const absl::Duration life = session.expires - fetched_;
  // A token that is short-lived gets most of its life.
  const absl::Duration margin = std::min(kMargin, life / 3);
  renew_ = session.expires - margin - random_.Fraction() * (life / 10);
  session_ = std::make_shared<const Session>(std::move(session));
}

bool SessionCredentials::Pause(absl::Duration duration) {
  const absl::Time end = clock_.Now() + duration;
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      if (ended_) return false;
    }
    const absl::Duration left = end - clock_.Now();
    if (left <= absl::ZeroDuration()) return true;
    clock_.SleepFor(std::min(left, kSlice));
  }
}

}  // namespace oci
