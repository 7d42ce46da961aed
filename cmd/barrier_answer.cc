#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/json.h"
#include "cmd/barrier_client.h"

namespace cmd {
namespace {

constexpr absl::string_view kDrained[] = {"Drained", "NotRegistered"};
constexpr absl::string_view kReleased[] = {"LastBackend", "DeadlineMissed"};
constexpr absl::string_view kWaits[] = {"Waiting"};

template <size_t kCount>
bool Knows(const absl::string_view (&outcomes)[kCount], absl::string_view outcome) {
  return std::find(std::begin(outcomes), std::end(outcomes), outcome) != std::end(outcomes);
}

BarrierReply Useless(absl::string_view why) { return {BarrierVerdict::kUseless, std::string(why)}; }

// nullopt unless the head says how long the body is.
std::optional<size_t> ContentLength(absl::string_view head) {
  for (absl::string_view line : absl::StrSplit(head, "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    size_t length = 0;
    if (absl::EqualsIgnoreCase(field.first, "content-length") &&
        absl::SimpleAtoi(absl::StripAsciiWhitespace(field.second), &length)) {
      return length;
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\": expected HOST:PORT, such as barrier.example.svc:8090"));
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return wrong;
  absl::string_view host = text.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[") != absl::ConsumeSuffix(&host, "]")) return wrong;
  HostPort parsed{std::string(host), 0};
  if (host.empty() || !absl::SimpleAtoi(text.substr(colon + 1), &parsed.port)) return wrong;
  if (parsed.port < 1 || parsed.port > 65535) return wrong;
  return parsed;
}

BarrierReply ParseBarrierAnswer(absl::string_view bytes) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == absl::string_view::npos) return Useless("an answer that breaks off");
  const absl::string_view head = bytes.substr(0, end);
  const absl::string_view body = bytes.substr(end + 4);
  const std::vector<absl::string_view> words =
      absl::StrSplit(head.substr(0, head.find("\r\n")), absl::MaxSplits(' ', 2));
  int status = 0;
  if (words.size() < 2 || !absl::StartsWith(words[0], "HTTP/1.") ||
      !absl::SimpleAtoi(words[1], &status)) {
    return Useless("an answer that is not HTTP");
  }
  if (status != 200 && status != 202) return Useless(absl::StrCat("HTTP ", status));
  const std::optional<size_t> length = ContentLength(head);
  if (!length.has_value()) return Useless("an answer without content-length");
  if (body.size() < *length) return Useless("an answer that breaks off");
  const auto json = base::ParseJson(body.substr(0, *length), "the answer");
  if (!json.ok()) return Useless(json.status().message());
  const rapidjson::Value* member = base::FindMember(*json, "outcome");
  const absl::string_view outcome = member == nullptr ? "" : base::StringOf(*member);
  if (status == 200 && Knows(kDrained, outcome)) {
    return {BarrierVerdict::kDrained, std::string(outcome)};
  }
  if (status == 200 && Knows(kReleased, outcome)) {
    return {BarrierVerdict::kReleased, std::string(outcome)};
  }
  if (status == 202 && Knows(kWaits, outcome)) {
    return {BarrierVerdict::kWait, std::string(outcome)};
  }
  return Useless(absl::StrCat("HTTP ", status, " without an outcome that is known"));
}

}  // namespace cmd
