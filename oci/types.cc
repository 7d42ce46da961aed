#include "oci/types.h"

#include "absl/strings/str_cat.h"

namespace oci {

BackendName MakeBackendName(const std::string& ip, int port) {
  return BackendName(absl::StrCat(ip, ":", port));
}

}  // namespace oci
