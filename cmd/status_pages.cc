#include "cmd/status_pages.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "health/status_json.h"
#include "health/status_page.h"

namespace cmd {
namespace {

constexpr char kJsonType[] = "application/json";

int StatusOf(const absl::Status& status) {
  return absl::IsNotFound(status) ? 404 : absl::IsInvalidArgument(status) ? 400 : 503;
}

}  // namespace

const health::Status& StatusPages::Fresh(absl::Duration now) {
  if (now - made_at_ >= kFresh) {
    status_ = sources_.status();
    made_at_ = now;
  }
  return status_;
}

health::HttpAnswer StatusPages::Explain(absl::string_view pod, bool json) const {
  health::HttpAnswer answer;
  const auto key = controller::ParsePodName(pod);
  const auto explanation =
      key.ok() ? sources_.explain(*key) : absl::StatusOr<controller::PodExplanation>(key.status());
  if (!explanation.ok()) {
    answer.status = StatusOf(explanation.status());
    answer.body = absl::StrCat(explanation.status().message(), "\n");
    return answer;
  }
  if (json) answer.content_type = kJsonType;
  answer.body = json ? controller::ExplanationToJson(*explanation)
                     : controller::FormatExplanation(*explanation);
  return answer;
}

std::optional<health::HttpAnswer> StatusPages::Answer(absl::string_view target,
                                                      const health::VitalsReport& vitals,
                                                      absl::Duration now) {
  const bool json = absl::ConsumeSuffix(&target, "?output=json");
  if (absl::ConsumePrefix(&target, "/explainz/")) return Explain(target, json);
  if (json) return std::nullopt;
  health::HttpAnswer answer;
  if (target == "/statusz") {
    answer.content_type = "text/html; charset=utf-8";
    answer.content_security_policy = std::string(health::StatusPagePolicy());
    answer.body = health::StatusPage(Fresh(now), vitals);
    return answer;
  }
  if (target == "/statusz.json") {
    answer.content_type = kJsonType;
    answer.body = health::StatusToJson(Fresh(now), vitals);
    return answer;
  }
  return std::nullopt;
}

}  // namespace cmd
