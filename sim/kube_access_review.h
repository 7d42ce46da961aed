// SelfSubjectAccessReview as a Kubernetes API server answers it.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_ACCESS_REVIEW_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_ACCESS_REVIEW_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"

namespace sim {

inline constexpr absl::string_view kAccessReviewPath =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

// 400 for another kind and for members of another type; 422 for metadata, and unless it
// asks about exactly one of a resource and a path.
std::optional<KubeError> CheckAccessReview(const JsonTree& review);

// What is asked about. Empty members mean all, as the API says; "*" does, too.
struct AccessAttributes {
  std::string verb;
  std::string resource;  // plural, with "/status" for a subresource; empty: a path
  std::string ns;
};
AccessAttributes AttributesOf(const JsonTree& review);

// The answer: the review with its status.
JsonTree AnswerAccessReview(const JsonTree& review, bool allowed, const std::string& user,
                            const std::string& time);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_ACCESS_REVIEW_H_
