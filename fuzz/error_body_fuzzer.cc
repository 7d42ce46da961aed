// An answer that is no success, of OCI and of Kubernetes: the HTTP status on the
// first line, then headers, an empty line and the body.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fuzz/fuzzer.h"
#include "http/transport.h"
#include "kube/http_status.h"
#include "oci/http_status.h"

namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'790'000'000);
constexpr size_t kMaxMessageBytes = 1024;

absl::string_view TakeLine(absl::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const absl::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

http::Response ReadResponse(absl::string_view text) {
  http::Response response;
  if (!absl::SimpleAtoi(TakeLine(text), &response.status)) response.status = 500;
  for (;;) {
    const absl::string_view line = TakeLine(text);
    if (line.empty()) break;
    const std::pair<std::string, std::string> header =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    response.headers.push_back(header);
  }
  response.body = std::string(text);
  return response;
}

void RequireAnswer(const http::Response& response, const absl::Status& status,
                   std::optional<absl::Duration> retry_after) {
  const bool is_success = response.status >= 200 && response.status < 300;
  fuzz::Require(status.ok() == is_success, "2xx is OK, and nothing else is");
  const std::string message(status.message());
  fuzz::Require(message.size() <= kMaxMessageBytes, "a message has a bound");
  fuzz::Require(std::none_of(message.begin(), message.end(),
                             [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
                "a message is one line");
  fuzz::Require(!retry_after.has_value() ||
                    (*retry_after >= absl::ZeroDuration() && *retry_after <= absl::Minutes(5)),
                "a wait is within its bounds");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const http::Response response = ReadResponse(fuzz::TextOf(data, size));
  const absl::Status oci_status = oci::StatusOf(response, "GetLoadBalancer x", kNow);
  RequireAnswer(response, oci_status, oci::RetryAfterOf(oci_status));
  fuzz::Require(oci_status.ok() || oci::HttpStatusOf(oci_status) == response.status,
                "a status remembers the answer that it came from");
  for (const bool is_write : {false, true}) {
    const absl::Status kube_status = kube::StatusOfResponse(response, "list pods", is_write);
    RequireAnswer(response, kube_status, kube::RetryAfter(kube_status));
  }
  return 0;
}
