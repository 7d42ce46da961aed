// Every annotation, label and condition name of this project: the one place.
#ifndef OCI_BACKEND_DRAIN_ANNOTATIONS_TABLE_H_
#define OCI_BACKEND_DRAIN_ANNOTATIONS_TABLE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace annotations {

// On a Service.
inline constexpr absl::string_view kBackendDraining =
    "oci-native-ingress.oraclecloud.com/backend-draining";
inline constexpr absl::string_view kServing =
    "oci-native-ingress.oraclecloud.com/backend-drain-serving";
inline constexpr absl::string_view kShutdown =
    "oci-native-ingress.oraclecloud.com/backend-drain-shutdown";
inline constexpr absl::string_view kStickyCutoff =
    "oci-native-ingress.oraclecloud.com/backend-drain-sticky-cutoff";
inline constexpr absl::string_view kReserve =
    "oci-native-ingress.oraclecloud.com/backend-drain-reserve";
inline constexpr absl::string_view kMinimum =
    "oci-native-ingress.oraclecloud.com/backend-drain-min";

// On an IngressClass.
inline constexpr absl::string_view kLoadBalancerId = "oci-native-ingress.oraclecloud.com/id";
inline constexpr absl::string_view kIsDefaultClass = "ingressclass.kubernetes.io/is-default-class";
inline constexpr absl::string_view kPaused =
    "oci-native-ingress.oraclecloud.com/backend-drain-paused";
inline constexpr absl::string_view kCarry =
    "oci-native-ingress.oraclecloud.com/backend-drain-carry";

// On a Pod.
inline constexpr absl::string_view kPublishedLabel = "oci-native-ingress.oraclecloud.com/published";
inline constexpr absl::string_view kReadyCondition =
    "oci-native-ingress.oraclecloud.com/load-balancer-ready";
inline constexpr absl::string_view kDrainedCondition =
    "oci-native-ingress.oraclecloud.com/load-balancer-drained";

enum class Kind { kAnnotation, kLabel, kCondition };
enum class Place { kService, kIngressClass, kPod };
enum class Type {
  kBoolean,
  kDuration,
  kReserve,  // "auto", a number of backends, or a percentage
  kAll,      // "all"
  kOcid,     // of a load balancer
  kText,     // any
};

struct Definition {
  absl::string_view name;
  Kind kind = Kind::kAnnotation;
  Place place = Place::kService;
  Type type = Type::kText;
  // As one would write it; empty: there is none.
  absl::string_view default_value;
  // One sentence.
  absl::string_view meaning;
  // Whether this version acts on it. What it does not act on it still checks.
  bool acts = false;
};

// Durations lie in [0, kLongestDuration], reserves in [0, kLargestReserve].
inline constexpr absl::Duration kLongestDuration = absl::Hours(1);
inline constexpr int kLargestReserve = 512;

// In the order of the documentation.
absl::Span<const Definition> Table();

// nullptr if there is no such name.
const Definition* Find(absl::string_view name);

// "\"true\" or \"false\"": what a value may be, for messages and documentation.
std::string Allowed(Type type);

// "Service", "IngressClass", "Pod".
absl::string_view PlaceName(Place place);

}  // namespace annotations

#endif  // OCI_BACKEND_DRAIN_ANNOTATIONS_TABLE_H_
