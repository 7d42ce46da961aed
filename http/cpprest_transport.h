// The real Transport, on cpprestsdk.
//
// cpprestsdk is confined to cpprest_transport.cc: another library for HTTP is a
// change of that file alone.
#ifndef OCI_BACKEND_DRAIN_HTTP_CPPREST_TRANSPORT_H_
#define OCI_BACKEND_DRAIN_HTTP_CPPREST_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "http/transport.h"

namespace http {

struct TransportOptions {
  // "https://host[:port]" or "http://...", see url.h. A request's Host header and
  // the name that the certificate must have come from it.
  std::string base_url = {};
  // PEM texts, not paths. With CAs given, no other CA is trusted; without, the
  // system's are.
  std::string ca_pem = {};
  // For mutual TLS: the certificate, its chain after it, and its unencrypted key.
  std::string client_certificate_pem = {};
  std::string client_key_pem = {};
};

// InvalidArgument if the address, a certificate or the key is not usable; nothing
// is connected yet. Connections are kept and used again for up to a minute.
//
// Beyond the contract of Transport: headers go out sorted by name; a redirect is
// answered as it is, never followed; a GET or HEAD that finds its kept connection
// closed by the server is sent again on another one, anything else is not.
// The transport must outlive the calls on it. All transports of a process share
// four threads, which no call blocks.
absl::StatusOr<std::unique_ptr<Transport>> MakeCpprestTransport(const TransportOptions& options);

// Has one of those four threads run `task`, which must not throw; waits for nothing.
// While all four are stuck it does not run, which is how one finds out.
void PostToPool(std::function<void()> task);

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_CPPREST_TRANSPORT_H_
