// Where a session comes from: a key pair made here, and a token that OCI gave for it.
#ifndef OCI_BACKEND_DRAIN_OCI_SESSION_SOURCE_H_
#define OCI_BACKEND_DRAIN_OCI_SESSION_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "oci/credentials.h"

namespace oci {

// Key and token belong together and are handed on together.
struct Session {
  Credentials credentials;
  absl::Time expires;
};

// An implementation is one kind of identity.
class SessionSource {
 public:
  virtual ~SessionSource() = default;

  // For messages: "instance principal".
  virtual std::string name() const = 0;

  // Asks for a new session, with a new key, once: nothing is repeated, and each request
  // on the way has a timeout. Of one thread at a time. Errors name what was asked, the
  // cause and the cure, and show no secret; Unavailable, DeadlineExceeded and Aborted
  // are worth another try.
  virtual absl::StatusOr<Session> Fetch() = 0;

  // Ends a Fetch of another thread with Cancelled, and every later one.
  virtual void EndCalls() = 0;
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_SESSION_SOURCE_H_
