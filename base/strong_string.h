// Text that must not be confused with other text: an OCID is not an ETag.
#ifndef OCI_BACKEND_DRAIN_BASE_STRONG_STRING_H_
#define OCI_BACKEND_DRAIN_BASE_STRONG_STRING_H_

#include <compare>
#include <ostream>
#include <string>
#include <utility>

namespace base {

// `Tag` is any type; it is never defined or instantiated. A value type: copied
// freely, hashable with absl, ordered by bytes.
//
//   using Ocid = base::StrongString<struct OcidTag>;
template <typename Tag>
class StrongString {
 public:
  StrongString() = default;
  explicit StrongString(std::string value) : value_(std::move(value)) {}

  const std::string& value() const { return value_; }
  bool empty() const { return value_.empty(); }

  friend bool operator==(const StrongString&, const StrongString&) = default;
  friend auto operator<=>(const StrongString&, const StrongString&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const StrongString& s) {
    return H::combine(std::move(state), s.value_);
  }
  friend std::ostream& operator<<(std::ostream& out, const StrongString& s) {
    return out << s.value_;
  }

 private:
  std::string value_;
};

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_STRONG_STRING_H_
