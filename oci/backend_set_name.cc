#include "oci/backend_set_name.h"

#include <openssl/sha.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace oci {

BackendSetName GenerateBackendSetName(absl::string_view ns, absl::string_view service, int port) {
  const std::string text = absl::StrCat(ns, service, port);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
  return BackendSetName(absl::StrCat("bs_", absl::string_view(hex).substr(0, 15)));
}

}  // namespace oci
