// Text of a server, made fit for one line of a log or an event.
#ifndef OCI_BACKEND_DRAIN_OCI_TEXT_H_
#define OCI_BACKEND_DRAIN_OCI_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace oci {

inline constexpr size_t kMaxMessageBytes = 400;

// At most `max_bytes` of `text`: printable ASCII; runs of white space become one
// space, other characters "?". A cut is marked by "...". What looks like a secret that
// a server echoes, a JSON Web Token, a PEM block, a signature, becomes "[redacted]".
std::string OneLine(absl::string_view text, size_t max_bytes = kMaxMessageBytes);

// "2026-11-30T12:00:00Z".
std::string TimeText(absl::Time time);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_TEXT_H_
