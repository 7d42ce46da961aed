#include "sim/write_record.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

absl::string_view StateName(WorkState state) {
  switch (state) {
    case WorkState::kAccepted:
      return "ACCEPTED";
    case WorkState::kInProgress:
      return "IN_PROGRESS";
    case WorkState::kSucceeded:
      return "SUCCEEDED";
    case WorkState::kFailed:
      break;
  }
  return "FAILED";
}

}  // namespace

std::string WorkRequestJson(const WriteRecord& record) {
  const bool failed = record.state == WorkState::kFailed;
  std::string json = absl::StrCat(
      R"({"id":)", base::QuoteJson(record.work_request_id), R"(,"loadBalancerId":)",
      base::QuoteJson(record.load_balancer), R"(,"type":)", base::QuoteJson(record.type),
      R"(,"compartmentId":"ocid1.compartment.oc1..example","lifecycleState":")",
      StateName(record.state), R"(","message":)",
      base::QuoteJson(failed ? record.error_message
                             : absl::StrCat(record.type, " ", record.backend_set)),
      R"(,"timeAccepted":")", Timestamp(record.accepted), R"(")");
  if (record.done()) {
    absl::StrAppend(&json, R"(,"timeFinished":")", Timestamp(record.finished), R"(")");
  }
  absl::StrAppend(&json, R"(,"errorDetails":[)");
  if (failed) {
    absl::StrAppend(&json, R"({"errorCode":)", base::QuoteJson(record.error_code), R"(,"message":)",
                    base::QuoteJson(record.error_message), "}");
  }
  absl::StrAppend(&json, "]}");
  return json;
}

}  // namespace sim
