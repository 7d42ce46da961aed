// Who speaks to OCI, and where that is, as the flags say.
#ifndef OCI_BACKEND_DRAIN_CMD_OCI_IDENTITY_H_
#define OCI_BACKEND_DRAIN_CMD_OCI_IDENTITY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "oci/credentials.h"

namespace cmd {

struct OciIdentity {
  std::unique_ptr<oci::CredentialsProvider> credentials;
  std::string region;    // "us-ashburn-1"; empty: not known, since the endpoint is given
  std::string endpoint;  // "https://iaas.us-ashburn-1.oraclecloud.com"
  std::string ca_pem;    // of --oci_ca_file; empty: the system's CAs
};

// Of --auth, for messages.
std::string OciAuthFlag();

// Reads files; asks the metadata service for the region where --auth=instance needs it,
// or where nothing else knows it, for at most some seconds. No token is fetched yet.
// `patience`: how long a call waits for a token. Errors name flag, file or variable, and
// the cure.
absl::StatusOr<OciIdentity> OciIdentityFromFlags(absl::Duration patience);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_OCI_IDENTITY_H_
