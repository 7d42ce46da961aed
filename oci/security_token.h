// The tokens that OCI and Kubernetes give: JSON Web Tokens, of which only the claims
// are read. Who checks the signature is the server that gets the token.
#ifndef OCI_BACKEND_DRAIN_OCI_SECURITY_TOKEN_H_
#define OCI_BACKEND_DRAIN_OCI_SECURITY_TOKEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace oci {

struct SecurityToken {
  std::string text;    // a secret: never log it
  absl::Time expires;  // claim exp
};

// `text` without surrounding white space. It can be sent in a header: of base64url and
// two dots, at most 32 KiB. InvalidArgument, beginning with `what`, for anything else;
// the message shows nothing of the token.
absl::StatusOr<SecurityToken> ParseSecurityToken(absl::string_view text, absl::string_view what);

// Shorter than this before its end a token is not used any more: the call has to
// arrive, and clocks differ.
inline constexpr absl::Duration kLeastTokenLife = absl::Seconds(30);

// OK if a token that the server sent just now can be used. Else Unauthenticated: it
// says when the token ended, and by the answer's Date header how far this machine's
// clock is off, which is the usual cause.
absl::Status CheckNewToken(const SecurityToken& token, const http::Response& answer, absl::Time now,
                           absl::string_view what);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_SECURITY_TOKEN_H_
