// Who gives out session tokens, and refuses calls without a good one.
#ifndef OCI_BACKEND_DRAIN_SIM_TOKEN_ISSUER_H_
#define OCI_BACKEND_DRAIN_SIM_TOKEN_ISSUER_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "sim/http_server.h"
#include "sim/request_signature.h"

namespace sim {

// Thread-safe. `clock` is the servers' and must outlive it.
class TokenIssuer {
 public:
  explicit TokenIssuer(base::Clock& clock) : clock_(clock) {}

  // A token for that key, good from now on for `life`. A key that had one before is
  // InvalidArgument: a session's key is new.
  absl::StatusOr<std::string> Issue(absl::string_view public_key_pem, absl::string_view subject);

  void set_life(absl::Duration life);
  // Told of each, as "ST$<token>", before anybody has it.
  void OnIssue(std::function<void(const std::string& key_id, const std::string& public_key_pem)> f);

  // As OCI's API looks at a call: the signature is that of a token's key, the token was
  // given out here and has not ended, the date is within five minutes. Unauthenticated
  // says what is wrong.
  absl::Status Verify(const http::Request& request) const;
  // From now on no token that was given out so far is good.
  void Revoke();

  int issued() const;
  // Every token and the text of no other secret.
  std::vector<std::string> tokens() const;

 private:
  base::Clock& clock_;
  mutable std::mutex mutex_;
  absl::Duration life_ = absl::Hours(1);
  SignatureVerifier verifier_;
  std::map<std::string, absl::Time> expires_;  // by key id
  std::set<std::string> keys_;
  std::set<std::string> revoked_;
  std::function<void(const std::string&, const std::string&)> on_issue_;
};

// An error as OCI's services answer, with the date of `now`.
http::Response OciError(int status, absl::string_view code, absl::string_view message,
                        absl::Time now);

// A service of OCI that answers whoever TokenIssuer::Verify finds good with a load
// balancer "x", and others with 401. The references must outlive the server.
std::unique_ptr<HttpServer> StartOciService(TokenIssuer& issuer, base::Clock& clock);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_TOKEN_ISSUER_H_
