// Who speaks to OCI. A source of credentials for each kind of identity implements
// CredentialsProvider; the rest of oci/ does not know which.
#ifndef OCI_BACKEND_DRAIN_OCI_CREDENTIALS_H_
#define OCI_BACKEND_DRAIN_OCI_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oci/private_key.h"

namespace oci {

// One consistent pair: a key is never used with the name of another.
struct Credentials {
  // "tenancy/user/fingerprint" of an API key, "ST$<token>" of a session. Never log it:
  // a token is a secret.
  std::string key_id;
  std::shared_ptr<const PrivateKey> key;
};

// Thread-safe.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;

  // What to sign the next request with. May fetch it, within a timeout, if it has
  // none or it is about to expire. An error says what is wrong and how to mend it.
  virtual absl::StatusOr<Credentials> Get() = 0;

  // OCI has answered 401 to `refused`, which came from Get and may be out of date. OK
  // if Get gives others by now, after reading or fetching them again, within a timeout.
  // After an error, Get gives the old ones.
  virtual absl::Status Refresh(const Credentials& refused) = 0;

  // Ends calls of other threads with Cancelled, and every later one that would have to
  // wait: for a process that ends.
  virtual void EndCalls() {}
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CREDENTIALS_H_
