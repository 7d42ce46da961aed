// What a cluster says of itself and of our rights there: /version and
// SelfSubjectAccessReview.
#ifndef OCI_BACKEND_DRAIN_KUBE_ACCESS_H_
#define OCI_BACKEND_DRAIN_KUBE_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

struct ServerVersion {
  int major = 0;
  int minor = 0;
  std::string text;  // "v1.36.2", one line
};

// May we do this?
struct AccessQuestion {
  std::string verb;
  std::string group;  // empty: the core group
  std::string resource;
  std::string subresource = {};  // empty: none
  std::string ns = {};           // empty: in all namespaces, or not namespaced
};

struct AccessAnswer {
  bool allowed = false;
  // Why, or what kept the server from telling; one line, often empty.
  std::string reason;
};

// "patch pods/status in namespace shop"
std::string ToText(const AccessQuestion& question);

// A SelfSubjectAccessReview of authorization.k8s.io/v1.
std::string EncodeAccessQuestion(const AccessQuestion& question);

// InvalidArgument: not the object that the API says.
absl::StatusOr<AccessAnswer> DecodeAccessAnswer(absl::string_view json);
// A distribution may add to the numbers: "27+".
absl::StatusOr<ServerVersion> DecodeServerVersion(absl::string_view json);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_ACCESS_H_
