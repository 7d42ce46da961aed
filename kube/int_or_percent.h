// Kubernetes' IntOrString where it means a number of Pods or a share of them.
#ifndef OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_
#define OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_

#include "absl/strings/string_view.h"
#include "kube/json_fields.h"

namespace kube {

struct IntOrPercent {
  int value = 0;
  bool is_percent = false;

  static IntOrPercent Count(int value) { return {value, false}; }
  static IntOrPercent Percent(int value) { return {value, true}; }

  int RoundedDown(int replicas) const;
  int RoundedUp(int replicas) const;
};

// 3 or "25%". Fails the document on anything else; null gives `missing`.
IntOrPercent ReadIntOrPercent(const Fields& object, absl::string_view name, IntOrPercent missing);

struct RolloutLimits {
  int max_unavailable = 0;
  int max_surge = 0;
};

// As the Deployment controller resolves them: unavailable rounded down and at
// most `replicas`, surge rounded up, and never both zero.
RolloutLimits ResolveRolloutLimits(IntOrPercent max_unavailable, IntOrPercent max_surge,
                                   int replicas);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_INT_OR_PERCENT_H_
