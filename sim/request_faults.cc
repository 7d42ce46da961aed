#include "sim/request_faults.h"

#include "absl/strings/str_cat.h"

namespace sim {

http::Response ErrorResponse(int status, const std::string& code) {
  return {.status = status,
          .headers = {{"content-type", "application/json"}},
          .body = absl::StrCat(R"({"code":")", code, R"(","message":"An injected fault"})")};
}

http::Response TooManyRequests(absl::Duration retry_after) {
  http::Response response = ErrorResponse(429, "TooManyRequests");
  response.headers.emplace_back("retry-after", absl::StrCat(absl::ToInt64Seconds(retry_after)));
  return response;
}

http::Response HtmlError(int status, size_t bytes) {
  http::Response response{
      .status = status, .headers = {{"content-type", "text/html"}}, .body = "<html><body>\n"};
  while (response.body.size() < bytes) response.body += "<p>The upstream is unwell.</p>\n";
  response.body += "</body></html>\n";
  return response;
}

std::optional<RequestFault> RequestFaults::Take(const RequestRecord& request) {
  for (RequestFault& fault : faults_) {
    if (fault.times <= 0 || (fault.matches && !fault.matches(request))) continue;
    if (fault.skip > 0) {
      --fault.skip;
      continue;
    }
    --fault.times;
    return fault;
  }
  return std::nullopt;
}

}  // namespace sim
