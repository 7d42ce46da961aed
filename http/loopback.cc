#include "http/loopback.h"

#include "absl/strings/match.h"
#include "http/url.h"

namespace http {

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || (IsIpv4Literal(host) && absl::StartsWith(host, "127."));
}

}  // namespace http
