#include "sim/json_log.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

std::string Member(absl::string_view name, absl::string_view text) {
  return absl::StrCat("\"", name, "\":", base::QuoteJson(text));
}

std::string Member(absl::string_view name, const std::vector<std::string>& texts) {
  return absl::StrCat("\"", name, "\":[",
                      absl::StrJoin(texts, ",",
                                    [](std::string* out, const std::string& text) {
                                      absl::StrAppend(out, base::QuoteJson(text));
                                    }),
                      "]");
}

}  // namespace

std::string RequestLogLine(const RequestRecord& record) {
  std::vector<std::string> headers;
  for (const auto& [name, value] : record.request.headers) {
    const std::string lower = absl::AsciiStrToLower(name);
    // A fake's keys protect nothing, but logs that people copy from should not
    // teach them to show such lines.
    headers.push_back(
        absl::StrCat(base::QuoteJson(lower), ":",
                     base::QuoteJson(lower == "authorization" ? absl::string_view("(not shown)")
                                                              : absl::string_view(value))));
  }
  return absl::StrCat("{", Member("time", Timestamp(record.time)), ",",
                      Member("client", record.client), ",", Member("method", record.request.method),
                      ",", Member("target", record.request.target), ",\"headers\":{",
                      absl::StrJoin(headers, ","), "},", Member("body", record.request.body),
                      ",\"status\":", record.status, "}");
}

std::string WriteLogLine(const WriteRecord& record) {
  const WriteEffect& effect = record.effect;
  return absl::StrCat(
      "{",
      absl::StrJoin(
          {Member("accepted", Timestamp(record.accepted)),
           Member("finished", Timestamp(record.finished)), Member("client", record.client),
           Member("type", record.type), Member("loadBalancer", record.load_balancer),
           Member("backendSet", record.backend_set),
           Member("workRequestId", record.work_request_id), Member("requestId", record.request_id),
           Member("result", record.state == WorkState::kSucceeded ? "SUCCEEDED" : "FAILED"),
           Member("error", record.error_message), Member("added", effect.added),
           Member("removed", effect.removed), Member("drained", effect.drained),
           Member("undrained", effect.undrained), Member("setOffline", effect.set_offline),
           Member("setOnline", effect.set_online), Member("changed", effect.changed)},
          ","),
      "}");
}

}  // namespace sim
