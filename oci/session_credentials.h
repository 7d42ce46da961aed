// Credentials that end, and are renewed in time.
//
//   token comes          renewal begins          ends
//   |---------------------------|------------|-----|
//                               jitter, 5 min      30 s: not used any more
//
// Renewal is the work of a thread of its own, so that no call waits for it while there
// is a token that can be used. It is asked for by Get: who does not speak to OCI needs
// no token. One attempt is up to five tries, 1, 2, 4 and 8 s apart with up to a second
// of jitter; after one that failed the next begins 30 s later at the earliest.
#ifndef OCI_BACKEND_DRAIN_OCI_SESSION_CREDENTIALS_H_
#define OCI_BACKEND_DRAIN_OCI_SESSION_CREDENTIALS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "oci/credentials.h"
#include "oci/session_source.h"

namespace oci {

struct SessionOptions {
  // How long, in real time, Get and Refresh wait for a renewal that they need. Short
  // beside the patience of who supervises a call.
  absl::Duration patience = absl::Seconds(2);
  uint64_t seed = 0;  // of the jitter
  // Told of each try, without a lock held, on the thread that renews: "instance
  // principal: new token, valid until 2026-11-30T12:00:00Z", or why there is none. Never
  // a secret. May be empty.
  std::function<void(const absl::Status& result, const std::string& text)> on_try = nullptr;
};

class SessionCredentials final : public CredentialsProvider {
 public:
  // Asks for nothing before the first Get. `clock` must outlive it.
  SessionCredentials(std::unique_ptr<SessionSource> source, base::Clock& clock,
                     SessionOptions options = {});
  // Ends what is under way.
  ~SessionCredentials() override;

  // The session in hand if it lasts for another 30 s. Else waits for a new one:
  // Unavailable while it is being fetched or will be tried again, Unauthenticated where
  // another try is of no use; both say why, and when the next one will be.
  absl::StatusOr<Credentials> Get() override;

  // Fetches a new session if `refused` is the one in hand; of several callers with the
  // same one, one fetch. A session that was fetched within the last 30 s is not fetched
  // again: what is refused then is not its age.
  absl::Status Refresh(const Credentials& refused) override;

  void EndCalls() override;

  // From when on Get asks for a new session, in the past if there is none.
  absl::Time RenewalBegins();

 private:
  bool Usable(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Settled() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !wanted_ || ended_; }
  // Asks for a renewal, unless the last one failed a moment ago.
  void Want(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why there is no session.
  absl::Status Missing(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  void Renew();
  absl::Status Try();
  void Keep(Session session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False if the end came first.
  bool Pause(absl::Duration duration);

  const std::unique_ptr<SessionSource> source_;
  base::Clock& clock_;
  const SessionOptions options_;
  absl::Mutex mutex_;
  base::Random random_ ABSL_GUARDED_BY(mutex_);
  // Never changed in parts.
  std::shared_ptr<const Session> session_ ABSL_GUARDED_BY(mutex_);
  absl::Time fetched_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time renew_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time not_before_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_SESSION_CREDENTIALS_H_
