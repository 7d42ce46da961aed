// What the annotations of one object ask for, and everything in them that cannot
// be understood.
//
//   ServiceAnnotations parsed = ParseServiceAnnotations(service.annotations);
//   for (const BadValue& bad : parsed.bad) Warn("InvalidAnnotation", bad.ToString());
//   if (parsed.values.backend_draining) ...
#ifndef OCI_BACKEND_DRAIN_ANNOTATIONS_ANNOTATIONS_H_
#define OCI_BACKEND_DRAIN_ANNOTATIONS_ANNOTATIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/types.h"

namespace annotations {

// A value that is not allowed; its default applies, but for
// backend-drain-paused, where it counts as "true". Or a name that this object
// cannot carry.
struct BadValue {
  std::string key;
  std::string value;
  std::string allowed;

  // One line: names key, value (its beginning, if long) and what is allowed.
  std::string ToString() const;
  friend bool operator==(const BadValue&, const BadValue&) = default;
};

struct Reserve {
  enum class Kind { kAuto, kBackends, kPercent };
  Kind kind = Kind::kAuto;
  int value = 0;
  friend bool operator==(const Reserve&, const Reserve&) = default;
};

struct ServiceValues {
  bool backend_draining = false;
  absl::Duration serving = absl::ZeroDuration();
  absl::Duration shutdown = absl::Seconds(30);
  std::optional<absl::Duration> sticky_cutoff;
  std::optional<Reserve> reserve;  // absent: --default_reserve
  absl::Duration minimum = absl::Seconds(5);
};

struct ServiceAnnotations {
  ServiceValues values;
  std::vector<BadValue> bad;
};

struct IngressClassValues {
  std::string load_balancer_id;  // empty: there is none yet
  bool is_default = false;
  bool paused = false;
  bool carry_all = false;
};

struct IngressClassAnnotations {
  IngressClassValues values;
  std::vector<BadValue> bad;
};

ServiceAnnotations ParseServiceAnnotations(const kube::Annotations& annotations);
IngressClassAnnotations ParseIngressClassAnnotations(const kube::Annotations& annotations);

// The strict readers behind the above; nullopt: not allowed.
// Exactly "true" or "false".
std::optional<bool> ParseBoolean(absl::string_view text);
// Whole numbers with h, m, s, ms, each unit once and in this order; at most
// kLongestDuration.
std::optional<absl::Duration> ParseDuration(absl::string_view text);
// "auto", "20", "10%".
std::optional<Reserve> ParseReserve(absl::string_view text);

}  // namespace annotations

#endif  // OCI_BACKEND_DRAIN_ANNOTATIONS_ANNOTATIONS_H_
