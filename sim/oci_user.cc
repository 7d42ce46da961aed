#include "sim/oci_user.h"

#include "absl/strings/str_cat.h"
#include "sim/program.h"

namespace sim {
namespace {

constexpr char kUser[] = "ocid1.user.oc1..example";
constexpr char kTenancy[] = "ocid1.tenancy.oc1..example";

}  // namespace

std::string OciUser::key_id() const {
  return absl::StrCat(kTenancy, "/", kUser, "/", key_.fingerprint);
}

absl::Status OciUser::AddTo(SignatureVerifier& verifier, const std::string& client) const {
  return verifier.AddKey(key_id(), client, key_.public_key_pem);
}

absl::Status OciUser::WriteConfig(const std::string& folder) const {
  const std::string key_file = absl::StrCat(folder, "/key.pem");
  absl::Status status = WriteFile(key_file, key_.private_key_pem);
  if (!status.ok()) return status;
  return WriteFile(
      absl::StrCat(folder, "/config"),
      absl::StrCat("[DEFAULT]\nuser=", kUser, "\nfingerprint=", key_.fingerprint,
                   "\ntenancy=", kTenancy, "\nregion=us-ashburn-1\nkey_file=", key_file, "\n"));
}

}  // namespace sim
