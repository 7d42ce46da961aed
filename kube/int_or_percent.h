// Reading Kubernetes' IntOrString.
#ifndef OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_
#define OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_

#include "absl/strings/string_view.h"
#include "kube/json_fields.h"
#include "kube/types.h"

namespace kube {

// 3 or "25%". Fails the document on anything else; null gives `missing`.
IntOrPercent ReadIntOrPercent(const Fields& object, absl::string_view name, IntOrPercent missing);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_
