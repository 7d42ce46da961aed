#include "kube/access.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/json_object.h"
#include "kube/http_status.h"
#include "kube/json_fields.h"

namespace kube {
namespace {

constexpr size_t kMaxTextBytes = 256;

// The number that the text begins with, of at most four digits.
absl::StatusOr<int> LeadingNumber(absl::string_view name, absl::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  int number = 0;
  if (digits == 0 || digits > 4 || !absl::SimpleAtoi(text.substr(0, digits), &number)) {
    return absl::InvalidArgumentError(absl::StrCat("version: ", name, ": expected a number, got ",
                                                   base::QuoteJson(OneLine(text, kMaxTextBytes))));
  }
  return number;
}

}  // namespace

std::string ToText(const AccessQuestion& question) {
  return absl::StrCat(question.verb, " ", question.resource,
                      question.subresource.empty() ? "" : "/", question.subresource,
                      question.group.empty() ? "" : ".", question.group,
                      question.ns.empty() ? "" : " in namespace ", question.ns);
}

std::string EncodeAccessQuestion(const AccessQuestion& question) {
  base::JsonObject attributes;
  attributes.Text("verb", question.verb)
      .Text("group", question.group)
      .Text("resource", question.resource);
  if (!question.subresource.empty()) attributes.Text("subresource", question.subresource);
  if (!question.ns.empty()) attributes.Text("namespace", question.ns);
  return base::JsonObject()
      .Text("apiVersion", "authorization.k8s.io/v1")
      .Text("kind", "SelfSubjectAccessReview")
      .Raw("spec", base::JsonObject().Raw("resourceAttributes", attributes.Json()).Json())
      .Json();
}

absl::StatusOr<AccessAnswer> DecodeAccessAnswer(absl::string_view json) {
  const auto document = base::ParseJson(json, "access review");
  if (!document.ok()) return document.status();
  const rapidjson::Value* allowed = base::FindPath(*document, {"status", "allowed"});
  // Without it there is no answer: a request that came back as it was sent.
  if (allowed == nullptr || !allowed->IsBool()) {
    return absl::InvalidArgumentError("access review: status.allowed: missing");
  }
  absl::Status error;
  const Fields root(*document, error);
  const Fields status = root.Object("status");
  std::string reason = status.String("reason");
  if (reason.empty()) reason = status.String("evaluationError");
  if (!error.ok()) return error;
  return AccessAnswer{allowed->GetBool(), OneLine(reason, kMaxTextBytes)};
}

absl::StatusOr<ServerVersion> DecodeServerVersion(absl::string_view json) {
  const auto document = base::ParseJson(json, "version");
  if (!document.ok()) return document.status();
  absl::Status error;
  const Fields root(*document, error);
  const std::string major = root.String("major");
  const std::string minor = root.String("minor");
  const std::string text = root.String("gitVersion");
  if (!error.ok()) return error;
  const absl::StatusOr<int> first = LeadingNumber("major", major);
  if (!first.ok()) return first.status();
  const absl::StatusOr<int> second = LeadingNumber("minor", minor);
  if (!second.ok()) return second.status();
  return ServerVersion{*first, *second, OneLine(text, kMaxTextBytes)};
}

}  // namespace kube
