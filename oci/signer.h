// OCI's request signatures (draft-cavage-http-signatures, version 1, rsa-sha256).
#ifndef OCI_BACKEND_DRAIN_OCI_SIGNER_H_
#define OCI_BACKEND_DRAIN_OCI_SIGNER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"
#include "oci/credentials.h"

namespace oci {

// Adds date, authorization and, for POST, PUT and PATCH, content-type and
// x-content-sha256, in place of those that `request` may have from an earlier
// signature (a date of its own stays: tests have one). `authority` is what the
// transport sends as Host (http::ServerUrl::Authority). Everything but those
// headers must be final: the signature covers method, target and body.
absl::Status SignRequest(const Credentials& credentials, absl::string_view authority,
                         absl::Time now, http::Request& request);

// The same for the federation endpoint, which does not want the host signed:
// "date (request-target) content-length content-type x-content-sha256".
absl::Status SignWithoutHost(const Credentials& credentials, absl::Time now,
                             http::Request& request);

// The text that is signed; every header it names must be in `request`.
// Without a host, so is the text.
std::string SigningString(const http::Request& request, std::optional<absl::string_view> authority);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_SIGNER_H_
