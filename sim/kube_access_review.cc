#include "sim/kube_access_review.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace sim {
namespace {

constexpr char kGroupVersion[] = "authorization.k8s.io/v1";
constexpr char kKind[] = "SelfSubjectAccessReview";
constexpr char kResourceAttributes[] = "resourceAttributes";
constexpr char kPathAttributes[] = "nonResourceAttributes";

// It is stored nowhere, so it has no row among the resources.
constexpr KubeResource kReview = {
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", kKind, "", {.namespaced = false}, ""};

std::optional<KubeError> CheckTypes(const JsonTree& review) {
  const auto wrong = [](absl::string_view field, absl::string_view expected) {
    return kube_error::BadRequest(absl::StrCat(
        kKind, " in version \"v1\" cannot be handled as a ", kKind,
        ": json: cannot unmarshal into Go struct field ", field, " of type ", expected));
  };
  if (!review.is_object()) return wrong("", kKind);
  const JsonTree& spec = review["spec"];
  if (!spec.is_null() && !spec.is_object()) return wrong("spec", "v1.SelfSubjectAccessReviewSpec");
  for (const char* attributes : {kResourceAttributes, kPathAttributes}) {
    const JsonTree& given = spec[attributes];
    if (!given.is_null() && !given.is_object()) return wrong(attributes, "object");
    for (const auto& [name, value] : given.members()) {
      // The selectors are objects.
      if (!value.is_string() && !value.is_object()) return wrong(name, "string");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<KubeError> CheckAccessReview(const JsonTree& review) {
  if (auto error = CheckTypes(review); error.has_value()) return error;
  const std::string& kind = review["kind"].AsString();
  const std::string& version = review["apiVersion"].AsString();
  if ((!kind.empty() && kind != kKind) || (!version.empty() && version != kGroupVersion)) {
    return kube_error::BadRequest(absl::StrCat(version, ", Kind=", kind,
                                               " in request body does not match the expected ",
                                               kGroupVersion, ", Kind=", kKind));
  }
  std::vector<FieldError> errors;
  const JsonTree& spec = review["spec"];
  const bool resource = spec[kResourceAttributes].is_object();
  const bool path = spec[kPathAttributes].is_object();
  if (resource && path) {
    errors.push_back(field_error::Invalid("spec.nonResourceAttributes",
                                          spec[kPathAttributes].Dump(),
                                          "cannot be specified in combination with "
                                          "resourceAttributes"));
  }
  if (!resource && !path) {
    errors.push_back(field_error::Invalid(
        "spec.resourceAttributes", "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (!review["metadata"].members().empty()) {
    errors.push_back(field_error::Invalid("metadata", review["metadata"].Dump(), "must be empty"));
  }
  if (errors.empty()) return std::nullopt;
  return kube_error::Invalid({&kReview, "", ""}, errors);
}

AccessAttributes AttributesOf(const JsonTree& review) {
  const JsonTree& resource = review["spec"][kResourceAttributes];
  if (!resource.is_object()) return {review["spec"][kPathAttributes]["verb"].AsString(), "", ""};
  const std::string& subresource = resource["subresource"].AsString();
  return {
      resource["verb"].AsString(),
      absl::StrCat(resource["resource"].AsString(), subresource.empty() ? "" : "/", subresource),
      resource["namespace"].AsString()};
}

JsonTree AnswerAccessReview(const JsonTree& review, bool allowed, const std::string& user,
                            const std::string& time) {
  const JsonTree entry =
      JsonTree::Object{{"manager", "unknown"},
                       {"operation", "Update"},
                       {"apiVersion", kGroupVersion},
                       {"time", time},
                       {"fieldsType", "FieldsV1"},
                       {"fieldsV1", JsonTree::Object{{"f:spec", JsonTree::Object{}}}}};
  JsonTree status = JsonTree::Object{{"allowed", allowed}};
  if (allowed) {
    status.Set("reason", absl::StrCat("RBAC: allowed by ClusterRoleBinding \"", user,
                                      "\" of ClusterRole \"", user, "\" to User \"", user, "\""));
  }
  return JsonTree::Object{{"kind", kKind},
                          {"apiVersion", kGroupVersion},
                          {"metadata", JsonTree::Object{{"managedFields", JsonTree::Array{entry}}}},
                          {"spec", review["spec"]},
                          {"status", status}};
}

}  // namespace sim
