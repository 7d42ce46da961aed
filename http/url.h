// The parts of a server's address, and encoding of what goes into a target.
#ifndef OCI_BACKEND_DRAIN_HTTP_URL_H_
#define OCI_BACKEND_DRAIN_HTTP_URL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace http {

struct ServerUrl {
  bool tls = false;
  std::string host;  // a name or an IPv4 address, lower case
  int port = 0;

  // What the transport sends as Host and a signature covers: "name", or
  // "name:8443" where the port is not the scheme's own.
  std::string Authority() const;
  // "https://name:8443".
  std::string ToString() const;
};

// "http://host", "https://host:port", with or without a closing slash.
// InvalidArgument that says what is wrong for anything else: a path, a query,
// user information, an IPv6 literal (give a name), a port out of range.
absl::StatusOr<ServerUrl> ParseServerUrl(absl::string_view text);

// True for dotted IPv4 such as "10.0.0.1".
bool IsIpv4Literal(absl::string_view host);

// One segment of a path: letters, digits, "-._~" and ":" stay, the rest becomes
// %XX. "10.0.0.3:8080" stays as it is.
std::string EncodePathSegment(absl::string_view segment);

// A query value: as above, but ":" becomes %3A.
std::string EncodeQueryValue(absl::string_view value);

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_URL_H_
