// What the identity services verify of a request.
#ifndef OCI_BACKEND_DRAIN_SIM_FEDERATION_REQUEST_H_
#define OCI_BACKEND_DRAIN_SIM_FEDERATION_REQUEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace sim {

struct FederationRequest {
  std::string tenancy;         // of the certificate
  std::string public_key_pem;  // of the session
};

// A POST /v1/x509 as it came over the wire. Unauthenticated if the date, the chain of
// certificates up to `root_pem`, the key's name or the signature are wrong, or another
// set of headers is signed than the endpoint wants; InvalidArgument if the body is not
// what it should be.
absl::StatusOr<FederationRequest> ReadFederationRequest(const http::Request& request,
                                                        absl::string_view root_pem, absl::Time now);

// The RSA public key in {"podKey":"-----BEGIN PUBLIC KEY-----..."}, in PEM form.
absl::StatusOr<std::string> ReadPodKey(absl::string_view body);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FEDERATION_REQUEST_H_
