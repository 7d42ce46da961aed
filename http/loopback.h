// Addresses of this machine itself.
#ifndef OCI_BACKEND_DRAIN_HTTP_LOOPBACK_H_
#define OCI_BACKEND_DRAIN_HTTP_LOOPBACK_H_

#include "absl/strings/string_view.h"

namespace http {

// True for 127.0.0.0/8 and localhost: what is sent there leaves no machine, so it needs
// no TLS.
bool IsLoopback(absl::string_view host);

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_LOOPBACK_H_
