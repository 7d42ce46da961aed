// The regions of OCI, and where their services are.
//
// A region has an identifier ("us-ashburn-1"), mostly a short code ("iad"), and the
// domain of its realm ("oraclecloud.com"). A service of it is at
// https://SERVICE.IDENTIFIER.DOMAIN. Oracle adds regions, so what is built in can be
// added to, in the ways that Oracle's SDKs know, of which the first counts:
//
//   ~/.oci/regions-config.json an array of objects as the next
//   OCI_REGION_METADATA        {"realmKey":"oc42","realmDomainComponent":"example.com",
//                               "regionKey":"abc","regionIdentifier":"xx-somewhere-1"}
//   the metadata service       /opc/v2/instance/regionInfo, one such object
//   OCI_DEFAULT_REALM          the domain of every region that nothing else knows
#ifndef OCI_BACKEND_DRAIN_OCI_REGION_TABLE_H_
#define OCI_BACKEND_DRAIN_OCI_REGION_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "oci/environment.h"

namespace oci {

struct RegionMetadata {
  std::string identifier;  // "us-ashburn-1"
  std::string short_code;  // "iad"
  std::string domain;      // "oraclecloud.com"
};

// One object of the form above; the fields come in lower case. InvalidArgument,
// beginning with `what`, for anything else, and for names that no host could have.
absl::StatusOr<RegionMetadata> ParseRegionMetadata(absl::string_view json, absl::string_view what);

// A value; const functions may be called by several threads.
class RegionTable {
 public:
  // What is built in.
  RegionTable() = default;

  // With what the environment and $HOME/.oci/regions-config.json add. InvalidArgument
  // names the variable or file. What is built in is not overridden.
  static absl::StatusOr<RegionTable> FromEnvironment(const Environment& environment);

  // Where it tells something new; what is known stays.
  void Add(const RegionMetadata& region);

  // "IAD" -> "us-ashburn-1"; anything that is no known short code stays, in lower case.
  std::string Identifier(absl::string_view region) const;

  // Whether its domain is known, by identifier or short code; also true for one with a
  // dot, which names its domain itself.
  bool Knows(absl::string_view region) const;

  // Endpoint("iaas", "iad") is "https://iaas.us-ashburn-1.oraclecloud.com". A region
  // that is not known has OCI_DEFAULT_REALM's domain, else oraclecloud.com; one with a
  // dot, "my-region.example.com", is at https://iaas.my-region.example.com.
  // InvalidArgument for an empty region or one with characters that none has.
  absl::StatusOr<std::string> Endpoint(absl::string_view service, absl::string_view region) const;

 private:
  // The domain; empty if it is not known.
  std::string DomainOf(absl::string_view identifier) const;

  std::vector<RegionMetadata> added_;
  std::string default_domain_;
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_REGION_TABLE_H_
