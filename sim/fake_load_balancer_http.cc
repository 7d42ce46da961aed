#include "sim/fake_load_balancer_http.h"

#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

constexpr absl::string_view kBasePath = "20170115";

std::string DecodePercent(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

// The target in parts: {"loadBalancers", "ocid1...", "backendSets", ...}; empty if
// it is not under the API's base path.
struct Target {
  std::vector<std::string> path;
  std::map<std::string, std::string> query;

  // Whether path[at], path[at + 1], ... are `names`; "" stands for any value.
  bool Is(std::initializer_list<absl::string_view> names) const {
    if (path.size() != names.size()) return false;
    size_t at = 0;
    for (absl::string_view name : names) {
      if (!name.empty() && path[at] != name) return false;
      if (path[at++].empty()) return false;
    }
    return true;
  }
};

Target ParseTarget(absl::string_view text) {
  Target target;
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(text, absl::MaxSplits('?', 1));
  std::vector<absl::string_view> segments = absl::StrSplit(halves.first, '/');
  if (segments.size() < 3 || !segments[0].empty() || segments[1] != kBasePath) return target;
  for (size_t i = 2; i < segments.size(); ++i) target.path.push_back(DecodePercent(segments[i]));
  for (absl::string_view pair : absl::StrSplit(halves.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    target.query[DecodePercent(parts.first)] = DecodePercent(parts.second);
  }
  return target;
}

WriteHeaders ReadWriteHeaders(const RequestRecord& record) {
  WriteHeaders headers;
  const absl::string_view if_match = http::FindHeader(record.request.headers, "if-match");
  if (if_match.data() != nullptr) headers.if_match = std::string(if_match);
  headers.retry_token = std::string(http::FindHeader(record.request.headers, "opc-retry-token"));
  headers.request_id = std::string(http::FindHeader(record.request.headers, "opc-request-id"));
  headers.client = record.client;
  return headers;
}

http::Response ToHttp(ApiReply reply) {
  http::Response response;
  response.status = reply.status;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) response.headers.emplace_back(name, value);
  };
  if (!reply.body.empty()) add("content-type", "application/json");
  add("etag", reply.etag);
  add("opc-work-request-id", reply.work_request_id);
  add("opc-next-page", reply.next_page);
  response.body = std::move(reply.body);
  return response;
}

}  // namespace

ApiReply FakeLoadBalancerHttp::Dispatch(const RequestRecord& record) {
  const http::Request& request = record.request;
  const absl::Time now = record.time;
  const Target target = ParseTarget(request.target);
  const std::vector<std::string>& path = target.path;
  const bool set = target.Is({"loadBalancers", "", "backendSets", ""});
  const bool backend = target.Is({"loadBalancers", "", "backendSets", "", "backends", ""});
  if (request.method == "PUT" && set) {
    return core_.UpdateBackendSet({path[1], path[3]}, request.body, ReadWriteHeaders(record), now);
  }
  if (request.method == "PUT" && backend) {
    return core_.UpdateBackend({path[1], path[3], path[5]}, request.body, ReadWriteHeaders(record),
                               now);
  }
  if (request.method != "GET") {
    return Refusal({405, "MethodNotAllowed",
                    absl::StrCat("The API does not support ", request.method, " here")});
  }
  if (target.Is({"loadBalancers", ""})) return core_.GetLoadBalancer(path[1], now);
  if (target.Is({"loadBalancers", "", "health"})) return core_.GetLoadBalancerHealth(path[1], now);
  if (target.Is({"loadBalancers", "", "workRequests"})) {
    int limit = 0;
    const auto given = target.query.find("limit");
    if (given != target.query.end() && (!absl::SimpleAtoi(given->second, &limit) || limit < 1)) {
      return Refusal({400, "InvalidParameter", "limit must be between 1 and 1000"});
    }
    const auto page = target.query.find("page");
    return core_.ListWorkRequests(path[1], limit, page == target.query.end() ? "" : page->second,
                                  now);
  }
  if (target.Is({"loadBalancerWorkRequests", ""})) return core_.GetWorkRequest(path[1], now);
  if (set) return core_.GetBackendSet(path[1], path[3], now);
  if (backend) return core_.GetBackend(path[1], path[3], path[5], now);
  if (target.Is({"loadBalancers", "", "backendSets", "", "health"})) {
    return core_.GetBackendSetHealth(path[1], path[3], now);
  }
  if (target.Is({"loadBalancers", "", "backendSets", "", "backends", "", "health"})) {
    return core_.GetBackendHealth(path[1], path[3], path[5], now);
  }
  return Refusal({404, "NotFound", absl::StrCat("No operation at ", request.target)});
}

Exchange FakeLoadBalancerHttp::Handle(const http::Request& request, absl::Time now) {
  RequestRecord record{now, "", request};
  absl::StatusOr<std::string> client = keys_.Verify(request, now);
  if (client.ok()) {
    record.client = *std::move(client);
    return Carry(std::move(record));
  }
  record.status = 401;
  Exchange exchange;
  exchange.response =
      ToHttp(Refusal({401, "NotAuthenticated", std::string(client.status().message())}));
  exchange.response.headers.emplace_back("date", HttpDate(now + clock_ahead_));
  Remember(std::move(record));
  return exchange;
}

Exchange FakeLoadBalancerHttp::HandleTrusted(const http::Request& request,
                                             const std::string& client, absl::Time now) {
  return Carry(RequestRecord{now, client, request});
}

Exchange FakeLoadBalancerHttp::Carry(RequestRecord record) {
  Exchange exchange;
  const std::optional<RequestFault> fault = faults_.Take(record);
  if (fault.has_value()) {
    exchange.damage = fault->damage;
    exchange.delay = fault->delay;
  }
  exchange.response =
      fault.has_value() && fault->answer.has_value() ? *fault->answer : ToHttp(Dispatch(record));
  const absl::string_view asked = http::FindHeader(record.request.headers, "opc-request-id");
  exchange.response.headers.emplace_back(
      "opc-request-id",
      asked.empty() ? absl::StrCat("fake-request-", ++requests_seen_) : std::string(asked));
  exchange.response.headers.emplace_back("date", HttpDate(record.time + clock_ahead_));
  if (exchange.damage == Damage::kTruncateJson) {
    exchange.response.body.resize(exchange.response.body.size() / 2);
  }
  record.status = exchange.response.status;
  Remember(std::move(record));
  return exchange;
}

void FakeLoadBalancerHttp::Remember(RequestRecord record) {
  ++answers_[{record.client, record.status}];
  requests_.push_back(std::move(record));
  if (requests_.size() > kKeptRequests) requests_.pop_front();
  if (on_answered_) on_answered_(requests_.back());
}

absl::StatusOr<http::Response> Deliver(const http::Request& request, Exchange exchange,
                                       base::Clock& clock) {
  if (exchange.delay > request.timeout) {
    clock.SleepFor(request.timeout);
    return absl::DeadlineExceededError("the fake gave no answer within the timeout");
  }
  if (exchange.delay > absl::ZeroDuration()) clock.SleepFor(exchange.delay);
  if (exchange.damage == Damage::kLoseReply || exchange.damage == Damage::kCutBody) {
    return absl::DeadlineExceededError("the connection closed before the whole answer came");
  }
  if (exchange.response.body.size() > request.max_response_bytes) {
    return absl::ResourceExhaustedError("the answer is too long");
  }
  return std::move(exchange.response);
}

absl::StatusOr<http::Response> InMemoryTransport::Send(const http::Request& request) {
  http::Request sent = request;
  sent.headers.emplace_back("host", kHost);
  if (!sent.body.empty() || sent.method == "PUT" || sent.method == "POST") {
    sent.headers.emplace_back("content-length", absl::StrCat(sent.body.size()));
  }
  Exchange exchange = client_.empty() ? server_.Handle(sent, clock_.Now())
                                      : server_.HandleTrusted(sent, client_, clock_.Now());
  return Deliver(request, std::move(exchange), clock_);
}

absl::Status InMemoryTransport::Stream(const http::Request&, http::StreamHandler&,
                                       std::shared_ptr<http::Cancellation>) {
  return absl::UnimplementedError("the load balancer's API has no streams");
}

}  // namespace sim
