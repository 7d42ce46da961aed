#include "sim/kube_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sim {
namespace {

JsonTree DetailsOf(const KubeObjectRef& ref) {
  JsonTree details = JsonTree::Object{{"name", ref.name}};
  if (!ref.resource->group.empty()) details.Set("group", ref.resource->group);
  details.Set("kind", ref.resource->plural);
  return details;
}

}  // namespace

JsonTree KubeError::ToJson() const {
  JsonTree metadata = JsonTree::Object{};
  if (!continue_token.empty()) metadata.Set("continue", continue_token);
  JsonTree status = JsonTree::Object{{"kind", "Status"},
                                     {"apiVersion", "v1"},
                                     {"metadata", metadata},
                                     {"status", "Failure"},
                                     {"message", message}};
  if (!reason.empty()) status.Set("reason", reason);
  if (!details.is_null()) status.Set("details", details);
  status.Set("code", code);
  return status;
}

http::Response KubeError::ToResponse() const {
  http::Response response{.status = code,
                          .headers = {{"Content-Type", "application/json"}},
                          .body = ToJson().Dump() + "\n"};
  if (code == 429 || code == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

namespace field_error {

FieldError Invalid(std::string field, absl::string_view value, absl::string_view why) {
  return {std::move(field), "FieldValueInvalid", absl::StrCat("Invalid value: ", value, ": ", why)};
}

FieldError Required(std::string field, absl::string_view why) {
  return {std::move(field), "FieldValueRequired",
          absl::StrCat("Required value", why.empty() ? "" : ": ", why)};
}

FieldError NotSupported(std::string field, absl::string_view value, absl::string_view supported) {
  return {std::move(field), "FieldValueNotSupported",
          absl::StrCat("Unsupported value: ", value, ": supported values: ", supported)};
}

FieldError TooLong(std::string field, absl::string_view why) {
  return {std::move(field), "FieldValueTooLong", absl::StrCat("Too long: ", why)};
}

FieldError Forbidden(std::string field, absl::string_view why) {
  return {std::move(field), "FieldValueForbidden", absl::StrCat("Forbidden: ", why)};
}

FieldError Duplicate(std::string field, absl::string_view value) {
  return {std::move(field), "FieldValueDuplicate", absl::StrCat("Duplicate value: ", value)};
}

}  // namespace field_error

namespace kube_error {

KubeError BadRequest(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

KubeError Unauthorized() {
  return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"};
}

KubeError NotFound(const KubeObjectRef& ref) {
  return {.code = 404,
          .reason = "NotFound",
          .message = absl::StrCat(ref.resource->group_resource(), " \"", ref.name, "\" not found"),
          .details = DetailsOf(ref)};
}

KubeError AlreadyExists(const KubeObjectRef& ref) {
  return {
      .code = 409,
      .reason = "AlreadyExists",
      .message = absl::StrCat(ref.resource->group_resource(), " \"", ref.name, "\" already exists"),
      .details = DetailsOf(ref)};
}

KubeError Conflict(const KubeObjectRef& ref, absl::string_view why) {
  return {.code = 409,
          .reason = "Conflict",
          .message = absl::StrCat("Operation cannot be fulfilled on ",
                                  ref.resource->group_resource(), " \"", ref.name, "\": ", why),
          .details = DetailsOf(ref)};
}

KubeError Modified(const KubeObjectRef& ref) {
  return Conflict(ref,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

KubeError Invalid(const KubeObjectRef& ref, const std::vector<FieldError>& errors) {
  JsonTree causes = JsonTree::Array{};
  // The message has each reason once, the causes as often as they were found.
  std::vector<std::string> texts;
  for (const FieldError& error : errors) {
    causes.Append(JsonTree::Object{
        {"reason", error.reason}, {"message", error.message}, {"field", error.field}});
    std::string text = absl::StrCat(error.field, ": ", error.message);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  JsonTree details = JsonTree::Object{{"name", ref.name}};
  const std::string group_kind = ref.resource->group_kind();
  if (group_kind != ref.resource->kind) details.Set("group", ref.resource->group);
  details.Set("kind", ref.resource->kind);
  details.Set("causes", causes);
  const std::string all =
      texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  return {.code = 422,
          .reason = "Invalid",
          .message = absl::StrCat(group_kind, " \"", ref.name, "\" is invalid: ", all),
          .details = details};
}

KubeError MethodNotAllowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = JsonTree::Object{}};
}

KubeError NotAcceptable(absl::string_view why) {
  return {.code = 406, .reason = "NotAcceptable", .message = std::string(why)};
}

KubeError UnsupportedMediaType(absl::string_view supported) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = absl::StrCat("the body of the request was in an unknown format - accepted "
                                  "media types include: ",
                                  supported)};
}

KubeError Expired(int64_t asked, int64_t oldest) {
  return {.code = 410,
          .reason = "Expired",
          .message = absl::StrCat("too old resource version: ", asked, " (", oldest, ")")};
}

KubeError ContinueExpired(std::string continue_token) {
  return {.code = 410,
          .reason = "Expired",
          .message =
              "The provided continue parameter is too old to display a consistent list result. You "
              "can start a new list without the continue parameter, or use the continue token in "
              "this response to retrieve the remainder of the results. Continuing with the "
              "provided token results in an inconsistent list - objects that were created, "
              "modified, or deleted between the time the first chunk was returned and now may "
              "show up in the list.",
          .continue_token = std::move(continue_token)};
}

KubeError TooLargeResourceVersion(int64_t asked, int64_t current) {
  return {
      .code = 504,
      .reason = "Timeout",
      .message =
          absl::StrCat("Timeout: Too large resource version: ", asked, ", current: ", current),
      .details = JsonTree::Object{
          {"causes", JsonTree::Array{JsonTree::Object{{"reason", "ResourceVersionTooLarge"},
                                                      {"message", "Too large resource version"}}}},
          {"retryAfterSeconds", 1}}};
}

}  // namespace kube_error

}  // namespace sim
