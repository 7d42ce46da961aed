// Who answers with tokens, regions and certificates: a checked value, or an error that
// shows nothing of what came.
#include "absl/strings/match.h"
#include "fuzz/fuzzer.h"
#include "oci/certificate.h"
#include "oci/ingress_secret.h"
#include "oci/region_table.h"
#include "oci/security_token.h"
#include "oci/workload_identity.h"

namespace {

void CheckError(const absl::Status& status) {
  fuzz::Require(absl::IsInvalidArgument(status), "an error says that the answer is wrong");
  fuzz::Require(status.message().size() < 512, "a message has a bound");
}

void CheckToken(const absl::StatusOr<oci::SecurityToken>& token) {
  if (!token.ok()) return CheckError(token.status());
  fuzz::Require(token->expires > absl::UnixEpoch(), "a token has an end");
  fuzz::Require(token->text.find_first_of(" \"\r\n\\") == std::string::npos,
                "a token fits into a quoted string of a header");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  CheckToken(oci::ParseSecurityToken(text, "token"));
  CheckToken(oci::ParseWorkloadAnswer(text));
  const auto region = oci::ParseRegionMetadata(text, "region");
  if (region.ok()) {
    oci::RegionTable regions;
    regions.Add(*region);
    const auto endpoint = regions.Endpoint("iaas", region->identifier);
    fuzz::Require(endpoint.ok(), "a region that was taken has an endpoint");
    fuzz::Require(endpoint->find_first_of(" /@?#", 8) == std::string::npos,
                  "an endpoint is a host and nothing else");
  } else {
    CheckError(region.status());
  }
  const auto certificates = oci::ParseCertificates(text, "certificates");
  if (certificates.ok()) {
    fuzz::Require(!certificates->empty() && certificates->size() <= 10, "1 to 10 certificates");
  } else {
    CheckError(certificates.status());
  }
  const auto secret = oci::ParseIngressSecretConfig(std::string(text), "secret");
  if (!secret.ok()) CheckError(secret.status());
  return 0;
}
