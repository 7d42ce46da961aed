// JSON Web Tokens as OCI and Kubernetes make them.
#ifndef OCI_BACKEND_DRAIN_SIM_WEB_TOKEN_H_
#define OCI_BACKEND_DRAIN_SIM_WEB_TOKEN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sim {

// With these claims, a JSON object; the signature is of no key.
std::string MakeWebToken(absl::string_view claims);

// With the claims sub and exp.
std::string MakeWebToken(absl::string_view subject, absl::Time expires);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_WEB_TOKEN_H_
