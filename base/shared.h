// A value that is shared, not copied, when it is handed on.
#ifndef OCI_BACKEND_DRAIN_BASE_SHARED_H_
#define OCI_BACKEND_DRAIN_BASE_SHARED_H_

#include <memory>
#include <utility>

namespace base {

// Holds a T that never changes; to change it is to assign another one. Copying
// costs a counter. Distinct copies may be used by distinct threads. A moved-from
// one may only be assigned to or destroyed.
//
//   base::Shared<oci::LoadBalancer> read = decoded;
//   read->backend_sets.size();
template <typename T>
class Shared {
 public:
  Shared() : value_(std::make_shared<const T>()) {}
  Shared(T value)  // NOLINT: stands for a T
      : value_(std::make_shared<const T>(std::move(value))) {}
  // A part of what another one holds, which lives as long as any of them.
  template <typename Whole>
  Shared(const Shared<Whole>& whole, const T& part) : value_(whole.value_, &part) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

 private:
  template <typename>
  friend class Shared;

  std::shared_ptr<const T> value_;
};

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_SHARED_H_
