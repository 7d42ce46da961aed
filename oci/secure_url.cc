#include "oci/secure_url.h"

#include "absl/strings/str_cat.h"
#include "http/loopback.h"

namespace oci {

absl::StatusOr<http::ServerUrl> ParseSecureUrl(absl::string_view text, absl::string_view what) {
  absl::StatusOr<http::ServerUrl> url = http::ParseServerUrl(text);
  if (!url.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", url.status().message()));
  }
  if (!url->tls && !http::IsLoopback(url->host)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", url->ToString(),
                     ": http:// is for this machine itself; expected https://host[:port]"));
  }
  return url;
}

}  // namespace oci
