// How the Kubernetes API says no.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_ERROR_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_ERROR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "http/transport.h"
#include "sim/json_tree.h"
#include "sim/kube_resources.h"

namespace sim {

// Becomes a metav1.Status object.
struct KubeError {
  int code = 500;
  std::string reason = {};
  std::string message;
  JsonTree details = {};            // null: none
  std::string continue_token = {};  // metadata.continue of an expired list

  JsonTree ToJson() const;
  http::Response ToResponse() const;
};

// One reason why an object is invalid.
struct FieldError {
  std::string field;    // "spec.template.metadata.labels"
  std::string reason;   // "FieldValueInvalid", "FieldValueRequired", ...
  std::string message;  // "Invalid value: ...: must be ..."
};

namespace field_error {
// `value` as JSON text.
FieldError Invalid(std::string field, absl::string_view value, absl::string_view why);
FieldError Required(std::string field, absl::string_view why = "");
FieldError NotSupported(std::string field, absl::string_view value, absl::string_view supported);
FieldError TooLong(std::string field, absl::string_view why);
FieldError Forbidden(std::string field, absl::string_view why);
FieldError Duplicate(std::string field, absl::string_view value);
}  // namespace field_error

namespace kube_error {
KubeError BadRequest(std::string message);
KubeError Unauthorized();
KubeError NotFound(const KubeObjectRef& ref);
KubeError AlreadyExists(const KubeObjectRef& ref);
KubeError Conflict(const KubeObjectRef& ref, absl::string_view why);
KubeError Modified(const KubeObjectRef& ref);
KubeError Invalid(const KubeObjectRef& ref, const std::vector<FieldError>& errors);
KubeError MethodNotAllowed();
KubeError NotAcceptable(absl::string_view why);
KubeError UnsupportedMediaType(absl::string_view supported);
// "too old resource version: 1 (306)"
KubeError Expired(int64_t asked, int64_t oldest);
KubeError ContinueExpired(std::string continue_token);
KubeError TooLargeResourceVersion(int64_t asked, int64_t current);
}  // namespace kube_error

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_ERROR_H_
