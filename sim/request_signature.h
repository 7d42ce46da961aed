// Verifies OCI request signatures as the real gateway does.
#ifndef OCI_BACKEND_DRAIN_SIM_REQUEST_SIGNATURE_H_
#define OCI_BACKEND_DRAIN_SIM_REQUEST_SIGNATURE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/transport.h"

namespace sim {

// Accepts date or x-date, header names in any case, any order of them; insists on
// what Oracle insists on: (request-target) over the target as it came, host, a
// date within five minutes, and for a body its length, type and digest. Not
// thread-safe.
class SignatureVerifier {
 public:
  SignatureVerifier();
  ~SignatureVerifier();

  // From now on `key_id` is known and speaks for `client`. InvalidArgument unless
  // `public_key_pem` is a PEM public key.
  absl::Status AddKey(const std::string& key_id, const std::string& client,
                      absl::string_view public_key_pem);

  // The client. Unauthenticated says what is wrong. `request.headers` are those of
  // the wire, Host and Content-Length included.
  absl::StatusOr<std::string> Verify(const http::Request& request, absl::Time now) const;

 private:
  struct Key;
  std::map<std::string, std::unique_ptr<Key>> keys_;
};

// Makes an RSA key of 2048 bits: for tests, and for fake_oci to hand out.
struct KeyPair {
  std::string private_key_pem;
  std::string public_key_pem;
  std::string fingerprint;  // "20:3b:97:...", MD5 of the public key's DER, as OCI shows it
};
KeyPair MakeKeyPair();

// What a client of that key does to a request before it is sent. `host` goes into
// the signature; the transport must send the same.
void SignRequest(const KeyPair& key, const std::string& key_id, absl::string_view host,
                 absl::Time now, http::Request& request);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_REQUEST_SIGNATURE_H_
