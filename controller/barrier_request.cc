#include "controller/barrier_request.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "annotations/annotations.h"
#include "base/json.h"
#include "drain/explain.h"

namespace controller {
namespace {

constexpr size_t kLongestName = 253;

// Names and UIDs of objects need no escaping.
bool IsPlain(absl::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
         });
}

absl::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

std::string Encode(int status, absl::string_view more, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, " ", ReasonPhrase(status),
                      "\r\nContent-Type: application/json\r\nContent-Length: ", body.size(),
                      "\r\nCache-Control: no-store\r\nConnection: close\r\n", more, "\r\n", body);
}

int StatusOf(DrainOutcome outcome) {
  if (outcome == DrainOutcome::kUnknownPod) return 404;
  return outcome == DrainOutcome::kWaiting ? 202 : 200;
}

}  // namespace

absl::StatusOr<BarrierRequest> ParseBarrierTarget(absl::string_view target) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  const std::vector<absl::string_view> path = absl::StrSplit(parts.first, '/');
  if (path.size() != 5 || !path[0].empty() || path[1] != "v1" || path[2] != "drained") {
    return absl::NotFoundError("the path is /v1/drained/{namespace}/{pod}");
  }
  if (!IsPlain(path[3]) || !IsPlain(path[4])) {
    return absl::InvalidArgumentError("namespace and pod: names of objects are allowed");
  }
  BarrierRequest request;
  request.pod.key = {std::string(path[3]), std::string(path[4])};
  for (const absl::string_view parameter : absl::StrSplit(parts.second, '&')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(parameter, absl::MaxSplits('=', 1));
    if (pair.first == "uid") {
      if (!IsPlain(pair.second)) return absl::InvalidArgumentError("uid: a Pod's UID is allowed");
      request.pod.uid = std::string(pair.second);
    } else if (pair.first == "timeout") {
      const std::optional<absl::Duration> hold = annotations::ParseDuration(pair.second);
      if (!hold.has_value()) {
        return absl::InvalidArgumentError("timeout: a duration such as 25s is allowed");
      }
      request.hold = std::min(*hold, kLongestHold);
    } else if (pair.first == "confirm") {
      if (pair.second != "1") return absl::InvalidArgumentError("confirm: 1 is allowed");
      request.confirm = true;
    }
  }
  if (request.pod.uid.empty()) return absl::InvalidArgumentError("uid: is required");
  return request;
}

std::string EncodeBarrierAnswer(const DrainAnswer& answer) {
  const std::string sets =
      absl::StrJoin(answer.sets, ",", [](std::string* out, const DrainAnswer::Set& set) {
        absl::StrAppend(out, "{\"loadBalancer\":", base::QuoteJson(set.load_balancer.value()),
                        ",\"set\":", base::QuoteJson(set.key.set.value()),
                        ",\"backend\":", base::QuoteJson(set.key.backend.value()),
                        ",\"progress\":", base::QuoteJson(drain::Name(set.progress)), "}");
      });
  return Encode(StatusOf(answer.outcome), "",
                absl::StrCat("{\"outcome\":", base::QuoteJson(Name(answer.outcome)), ",\"sets\":[",
                             sets, "]}\n"));
}

std::string EncodeBarrierBody(int status, absl::string_view body) {
  return Encode(status, "", body);
}

std::string EncodeBarrierError(int status, absl::string_view message) {
  const absl::string_view more = status == 503   ? "Retry-After: 1\r\n"
                                 : status == 405 ? "Allow: GET\r\n"
                                                 : "";
  return Encode(status, more, absl::StrCat("{\"error\":", base::QuoteJson(message), "}\n"));
}

}  // namespace controller
