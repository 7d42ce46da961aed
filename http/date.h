// The Date header: "Sun, 05 Jan 2014 21:31:40 GMT".
#ifndef OCI_BACKEND_DRAIN_HTTP_DATE_H_
#define OCI_BACKEND_DRAIN_HTTP_DATE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace http {

// RFC 7231's preferred form, whatever the process's locale.
std::string FormatDate(absl::Time time);

// nullopt unless it is of that form. The name of the day is not checked.
std::optional<absl::Time> ParseDate(absl::string_view text);

}  // namespace http

#endif  // OCI_BACKEND_DRAIN_HTTP_DATE_H_
