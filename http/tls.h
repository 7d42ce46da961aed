// TLS of the transport: whom it trusts, who it is, and why a certificate was
// refused. Private to http/; no header of OpenSSL leaves tls.cc.
#ifndef OCI_BACKEND_DRAIN_HTTP_TLS_H_
#define OCI_BACKEND_DRAIN_HTTP_TLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct ssl_ctx_st;

namespace http {

struct TlsOptions {
  std::string server_name = {};  // a name or IPv4 address that the certificate must name
  std::string ca_pem = {};       // empty: the system's
  std::string client_certificate_pem = {};
  std::string client_key_pem = {};
};

// Parsed once, applied to the SSL_CTX of each new connection. Thread-safe.
class Tls {
 public:
  // InvalidArgument if a certificate or key cannot be read or they do not fit.
  static absl::StatusOr<std::shared_ptr<Tls>> Make(const TlsOptions& options);
  ~Tls();

  // Trusts our CAs and nothing else, presents the client certificate, demands
  // TLS 1.2, checks the server's name. `self` must outlive the context.
  void Apply(ssl_ctx_st* context);

  // What was wrong with the last certificate that was refused:
  // "certificate CN=x (issuer CN=y): certificate has expired".
  std::string LastRefusal() const;

 private:
  struct State;
  explicit Tls(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The text of an error code that came out of OpenSSL, for example "certificate
// verify failed"; empty if it is not one.
std::string TlsErrorText(int code);

// True if the code says that our certificate or the handshake was refused by the
// server, so that no request was taken.
bool IsTlsRefusalByServer(int code);
bool IsCertificateRefusal(int code);

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_TLS_H_
