// The status for people: one HTML page that needs nothing but itself.
#ifndef OCI_BACKEND_DRAIN_HEALTH_STATUS_PAGE_H_
#define OCI_BACKEND_DRAIN_HEALTH_STATUS_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "health/status.h"
#include "health/vitals.h"

namespace health {

// Readable on a phone, in the dark, by a screen reader and without script. Its own
// script asks for the page again every two seconds, puts in what has changed, and says
// so when no answer comes. Whatever the texts of the status hold is shown as text.
std::string StatusPage(const Status& status, const VitalsReport& vitals);

// For the header Content-Security-Policy: what a browser may do with the page. It lets
// run the page's own script, by its hash, and nothing else.
absl::string_view StatusPagePolicy();

// What the hashes of the policy are of.
absl::string_view StatusPageStyle();
absl::string_view StatusPageScript();

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_STATUS_PAGE_H_
