#include "oci/http_status.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "http/date.h"
#include "oci/clock_skew.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr absl::string_view kHttpStatus = "oci/http-status";
constexpr absl::string_view kErrorCode = "oci/error-code";
constexpr absl::string_view kRequestId = "oci/opc-request-id";
constexpr absl::string_view kRetryAfter = "oci/retry-after-seconds";

constexpr absl::Duration kMaxRetryAfter = absl::Minutes(5);
// An error of the API is small; what is larger is somebody else's page.
constexpr size_t kMaxErrorBytes = 16 << 10;
constexpr size_t kMaxCodeBytes = 64;
constexpr size_t kMaxRequestIdBytes = 128;
constexpr size_t kMaxExcerptBytes = 120;

struct ErrorBody {
  std::string code;
  std::string message;
};

// "<title>502 Bad Gateway</title>" -> "502 Bad Gateway".
absl::string_view HtmlTitle(absl::string_view body) {
  constexpr absl::string_view kOpen = "<title>";
  const absl::string_view head = body.substr(0, kMaxErrorBytes);
  const size_t open = head.find(kOpen);
  if (open == absl::string_view::npos) return {};
  const absl::string_view rest = head.substr(open + kOpen.size());
  return rest.substr(0, rest.find('<'));
}

ErrorBody ReadBody(absl::string_view body) {
  if (body.size() <= kMaxErrorBytes) {
    const absl::StatusOr<rapidjson::Document> document = base::ParseJson(body, "error");
    if (document.ok() && document->IsObject()) {
      return {.code = OneLine(base::ReadString(*document, "code").value_or(""), kMaxCodeBytes),
              .message = OneLine(base::ReadString(*document, "message").value_or(""))};
    }
  }
  if (body.empty()) return {.code = "", .message = "empty answer"};
  const absl::string_view title = HtmlTitle(body);
  const std::string excerpt =
      OneLine(title.empty() ? body.substr(0, kMaxErrorBytes) : title, kMaxExcerptBytes);
  return {
      .code = "",
      .message = absl::StrCat("answer of ", body.size(), " bytes, not from the API: ", excerpt)};
}

absl::StatusCode CodeFor(int http_status, absl::string_view code) {
  switch (http_status) {
    case 400:
      return code == "LimitExceeded" || code == "QuotaExceeded"
                 ? absl::StatusCode::kResourceExhausted
                 : absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 408:
    case 429:
      return absl::StatusCode::kUnavailable;
    case 409:
      return code == "IncorrectState" || code == "ExternalServerIncorrectState" ||
                     code == "InvalidatedRetryToken"
                 ? absl::StatusCode::kAborted
                 : absl::StatusCode::kFailedPrecondition;
    case 412:
      return absl::StatusCode::kAborted;
    case 501:
      return absl::StatusCode::kUnimplemented;
    default:
      break;
  }
  if (http_status >= 300 && http_status < 500) return absl::StatusCode::kInvalidArgument;
  return absl::StatusCode::kUnavailable;
}

std::string RedirectHint(const http::Response& response) {
  if (response.status < 300 || response.status >= 400) return "";
  return absl::StrCat("; redirect to \"",
                      OneLine(http::FindHeader(response.headers, "location"), kMaxExcerptBytes),
                      "\", is the endpoint right?");
}

std::optional<absl::Duration> ReadRetryAfter(const http::Response& response, absl::Time now) {
  const absl::string_view value = http::FindHeader(response.headers, "retry-after");
  if (value.empty()) return std::nullopt;
  int64_t seconds = 0;
  if (absl::SimpleAtoi(value, &seconds)) {
    return std::clamp(absl::Seconds(seconds), absl::ZeroDuration(), kMaxRetryAfter);
  }
  const std::optional<absl::Time> date = http::ParseDate(value);
  if (!date.has_value()) return std::nullopt;
  return std::clamp(*date - now, absl::ZeroDuration(), kMaxRetryAfter);
}

std::string PayloadOf(const absl::Status& status, absl::string_view type) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type);
  return payload.has_value() ? std::string(*payload) : "";
}

}  // namespace

absl::Status StatusOf(const http::Response& response, absl::string_view what, absl::Time now) {
  if (response.status >= 200 && response.status < 300) return absl::OkStatus();
  const ErrorBody error = ReadBody(response.body);
  const std::string request_id =
      OneLine(http::FindHeader(response.headers, "opc-request-id"), kMaxRequestIdBytes);
  std::string message =
      absl::StrCat(what, ": HTTP ", response.status, error.code.empty() ? "" : " ", error.code,
                   ": ", error.message, RedirectHint(response));
  if (response.status == 401) absl::StrAppend(&message, ClockHint(response.headers, now));
  if (!request_id.empty()) absl::StrAppend(&message, " (opc-request-id ", request_id, ")");

  absl::Status status(CodeFor(response.status, error.code), message);
  status.SetPayload(kHttpStatus, absl::Cord(absl::StrCat(response.status)));
  if (!error.code.empty()) status.SetPayload(kErrorCode, absl::Cord(error.code));
  if (!request_id.empty()) status.SetPayload(kRequestId, absl::Cord(request_id));
  if (const auto retry_after = ReadRetryAfter(response, now); retry_after.has_value()) {
    status.SetPayload(
        kRetryAfter,
        absl::Cord(absl::StrCat(absl::ToInt64Seconds(absl::Ceil(*retry_after, absl::Seconds(1))))));
  }
  return status;
}

int HttpStatusOf(const absl::Status& status) {
  int http_status = 0;
  return absl::SimpleAtoi(PayloadOf(status, kHttpStatus), &http_status) ? http_status : 0;
}

std::string OciErrorCodeOf(const absl::Status& status) { return PayloadOf(status, kErrorCode); }

std::string OpcRequestIdOf(const absl::Status& status) { return PayloadOf(status, kRequestId); }

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(PayloadOf(status, kRetryAfter), &seconds)) return std::nullopt;
  return absl::Seconds(seconds);
}

}  // namespace oci
