#ifndef OCI_BACKEND_DRAIN_BASE_GOOD_H_
#define OCI_BACKEND_DRAIN_BASE_GOOD_H_

#include <string>

namespace base {

inline constexpr int kMaxGoodBytes = 2;

int Good(const std::string& text);

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_GOOD_H_
