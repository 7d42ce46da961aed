#ifndef OCI_BACKEND_DRAIN_BASE_GOOD_H_
#define OCI_BACKEND_DRAIN_BASE_GOOD_H_

#include <string>

namespace base {

int Good(const std::string& text);

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_GOOD_H_
