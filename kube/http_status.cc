#include "kube/http_status.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace kube {
namespace {

constexpr absl::string_view kRetryAfterPayload = "kube/retry-after-seconds";
// A server that asks for more is not waited for longer than this.
constexpr int64_t kMaxRetryAfterSeconds = 300;
// The API's own reasons are single words.
constexpr size_t kMaxReasonBytes = 64;

absl::StatusCode CodeOf(const ApiStatus& api_status, bool is_write) {
  // The last is what a server says whose storage was restored from an older state.
  if (api_status.reason == "Expired" || api_status.reason == "Gone" ||
      absl::StrContains(api_status.message, "Too large resource version")) {
    return absl::StatusCode::kOutOfRange;
  }
  switch (api_status.code) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return api_status.reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                                  : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 504:
      return is_write ? absl::StatusCode::kDeadlineExceeded : absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

absl::Duration BoundedSeconds(int64_t seconds) {
  return absl::Seconds(std::clamp<int64_t>(seconds, 0, kMaxRetryAfterSeconds));
}

void ReadStatusBody(absl::string_view body, ApiStatus& api_status) {
  constexpr size_t kMaxQuotedBytes = 120;
  // A Status is small; what is larger is somebody else's page.
  constexpr size_t kMaxStatusBodyBytes = 64 << 10;
  if (body.size() <= kMaxStatusBodyBytes) {
    const absl::StatusOr<rapidjson::Document> document = base::ParseJson(body, "status");
    if (document.ok() && document->IsObject()) {
      api_status.reason = base::ReadString(*document, "reason").value_or("");
      api_status.message = base::ReadString(*document, "message").value_or("");
      if (const rapidjson::Value* details = base::FindMember(*document, "details")) {
        const int64_t seconds = base::ReadInt(*details, "retryAfterSeconds").value_or(0);
        api_status.retry_after = BoundedSeconds(seconds);
      }
      return;
    }
  }
  if (!body.empty()) {
    api_status.message = absl::StrCat("answer of ", body.size(), " bytes that begins with \"",
                                      OneLine(body, kMaxQuotedBytes), "\"");
  }
}

}  // namespace

absl::string_view ClipUtf8(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

std::string OneLine(absl::string_view text, size_t max_bytes) {
  std::string line(ClipUtf8(text, max_bytes));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

absl::Status ToStatus(const ApiStatus& api_status, absl::string_view what, bool is_write) {
  const std::string reason = OneLine(api_status.reason, kMaxReasonBytes);
  const std::string message = OneLine(api_status.message, kMaxStatusMessageBytes);
  absl::Status status(CodeOf(api_status, is_write),
                      absl::StrCat(what, ": HTTP ", api_status.code, reason.empty() ? "" : " ",
                                   reason, message.empty() ? "" : ": ", message));
  if (api_status.retry_after > absl::ZeroDuration()) {
    status.SetPayload(kRetryAfterPayload,
                      absl::Cord(absl::StrCat(absl::ToInt64Seconds(api_status.retry_after))));
  }
  return status;
}

absl::Status StatusOfResponse(const http::Response& response, absl::string_view what,
                              bool is_write) {
  if (response.status >= 200 && response.status < 300) return absl::OkStatus();
  ApiStatus api_status;
  api_status.code = response.status;
  ReadStatusBody(response.body, api_status);
  int64_t seconds = 0;
  if (absl::SimpleAtoi(http::FindHeader(response.headers, "Retry-After"), &seconds)) {
    api_status.retry_after = BoundedSeconds(seconds);
  }
  return ToStatus(api_status, what, is_write);
}

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryAfterPayload);
  if (!payload.has_value()) return std::nullopt;
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(std::string(*payload), &seconds)) return std::nullopt;
  return absl::Seconds(seconds);
}

}  // namespace kube
