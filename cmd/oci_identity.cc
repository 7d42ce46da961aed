#include "cmd/oci_identity.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "cmd/command_line.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "oci/config_file.h"
#include "oci/environment.h"
#include "oci/ingress_secret.h"
#include "oci/instance_principal.h"
#include "oci/metadata_service.h"
#include "oci/region_table.h"
#include "oci/secure_url.h"
#include "oci/session_credentials.h"
#include "oci/workload_identity.h"

DEFINE_string(auth, "config",
              "Who speaks to OCI: config: an API key or session token of a configuration file; "
              "session: its session token in any case; secret: the ingress controller's Secret, "
              "mounted; instance: this node (instance principal); workload: this Pod's service "
              "account (OKE workload identity)");
DEFINE_string(oci_config_file, "",
              "--auth=config, session: OCI configuration file; empty: ~/.oci/config");
DEFINE_string(oci_profile, "DEFAULT",
              "--auth=config, session: profile of the OCI configuration file");
DEFINE_string(oci_secret_folder, "/etc/oci",
              "--auth=secret: folder where the Secret with config and private-key is mounted");
DEFINE_string(oci_region, "",
              "Region, such as us-ashburn-1 or iad; empty: that of the profile, of the Secret, of "
              "OCI_RESOURCE_PRINCIPAL_REGION (workload) or of this node (instance)");
DEFINE_string(
    oci_endpoint, "",
    "Address of the load-balancer API, such as https://iaas.us-ashburn-1.oraclecloud.com; "
    "empty: that of the region");
DEFINE_string(oci_ca_file, "",
              "PEM file of the CAs to trust for OCI instead of the system's; empty: the system's");

namespace cmd {
namespace {

constexpr char kFederationVariable[] = "OCI_SDK_AUTH_CLIENT_REGION_URL";

class IdentityMaker {
 public:
  explicit IdentityMaker(absl::Duration patience) : patience_(patience) {}

  absl::StatusOr<OciIdentity> Make() {
    absl::StatusOr<oci::RegionTable> regions = oci::RegionTable::FromEnvironment(environment_);
    if (!regions.ok()) return regions.status();
    regions_ = *std::move(regions);
    region_ = FLAGS_oci_region;
    if (!FLAGS_oci_ca_file.empty()) {
      absl::StatusOr<std::string> ca = base::ReadFile(FLAGS_oci_ca_file);
      if (!ca.ok()) return Prefixed("--oci_ca_file", ca.status());
      identity_.ca_pem = *std::move(ca);
    }
    const absl::Status made = MakeCredentials();
    if (!made.ok()) return made;
    identity_.endpoint = FLAGS_oci_endpoint;
    if (identity_.endpoint.empty()) {
      absl::StatusOr<std::string> endpoint = EndpointOf("iaas");
      if (!endpoint.ok()) return endpoint.status();
      identity_.endpoint = *std::move(endpoint);
    }
    if (!region_.empty()) identity_.region = regions_.Identifier(region_);
    const auto url = oci::ParseSecureUrl(identity_.endpoint, "--oci_endpoint");
    if (!url.ok()) return url.status();
    return std::move(identity_);
  }

 private:
  absl::Status MakeCredentials() {
    if (FLAGS_auth == "config" || FLAGS_auth == "session") return UseConfigFile();
    if (FLAGS_auth == "secret") return UseSecret();
    if (FLAGS_auth == "instance") return UseInstance();
    if (FLAGS_auth == "workload") return UseWorkload();
    return absl::InvalidArgumentError(absl::StrCat(
        "--auth=", FLAGS_auth, ": expected config, session, secret, instance or workload"));
  }

  absl::Status UseConfigFile() {
    oci::ConfigFileOptions options;
    options.path = FLAGS_oci_config_file;
    options.profile = FLAGS_oci_profile;
    options.session_token = FLAGS_auth == "session";
    auto credentials = oci::ConfigFileCredentials::Load(options);
    if (!credentials.ok()) return credentials.status();
    if (region_.empty()) region_ = (*credentials)->region();
    identity_.credentials = *std::move(credentials);
    return absl::OkStatus();
  }

  absl::Status UseSecret() {
    auto credentials = oci::IngressSecretCredentials::Load(FLAGS_oci_secret_folder);
    if (!credentials.ok()) return Prefixed("--oci_secret_folder", credentials.status());
    if (region_.empty()) region_ = (*credentials)->region();
    identity_.credentials = *std::move(credentials);
    return absl::OkStatus();
  }

  absl::Status UseWorkload() {
    oci::WorkloadIdentityOptions options;
    options.environment = environment_;
    options.seed = base::SeedFromSystem();
    auto source = oci::WorkloadIdentity::Make(options, base::RealClock());
    if (!source.ok()) return source.status();
    if (region_.empty()) {
      const absl::StatusOr<std::string> region = oci::WorkloadIdentity::Region(environment_);
      if (!region.ok()) return region.status();
      region_ = *region;
    }
    UseSession(*std::move(source));
    return absl::OkStatus();
  }

  absl::Status UseInstance() {
    auto metadata = oci::MetadataService::Make({.environment = environment_}, base::RealClock());
    if (!metadata.ok()) return metadata.status();
    oci::InstancePrincipalOptions options;
    options.ca_pem = identity_.ca_pem;
    options.federation_url = oci::ValueOf(environment_, kFederationVariable);
    const bool given = !options.federation_url.empty();
    if (region_.empty() && (!given || FLAGS_oci_endpoint.empty())) {
      const absl::StatusOr<std::string> region = (*metadata)->Region();
      if (!region.ok()) {
        return Prefixed("the region of this node, which --oci_region can give", region.status());
      }
      region_ = *region;
    }
    if (!given) {
      const absl::StatusOr<std::string> endpoint = EndpointOf("auth");
      if (!endpoint.ok()) return endpoint.status();
      options.federation_url = *endpoint;
    } else if (!absl::StrContains(options.federation_url, "://")) {
      options.federation_url = absl::StrCat("https://", options.federation_url);
    }
    auto source = oci::InstancePrincipal::Make(*std::move(metadata), options, base::RealClock());
    if (!source.ok()) return source.status();
    UseSession(*std::move(source));
    return absl::OkStatus();
  }

  void UseSession(std::unique_ptr<oci::SessionSource> source) {
    oci::SessionOptions options;
    options.patience = patience_;
    options.seed = base::SeedFromSystem();
    options.on_try = [](const absl::Status& result, const std::string& text) {
      if (result.ok()) {
        LOG(INFO) << text;
      } else {
        LOG(WARNING) << text;
      }
    };
    identity_.credentials = std::make_unique<oci::SessionCredentials>(
        std::move(source), base::RealClock(), std::move(options));
  }

  absl::StatusOr<std::string> EndpointOf(absl::string_view service) {
    const bool in_cloud = FLAGS_auth != "config" && FLAGS_auth != "session";
    if (!region_.empty() && !regions_.Knows(region_) && in_cloud) LearnRegion();
    absl::StatusOr<std::string> endpoint = regions_.Endpoint(service, region_);
    if (endpoint.ok()) return endpoint;
    return absl::InvalidArgumentError(
        absl::StrCat(endpoint.status().message(),
                     "; set --oci_region, or region in the OCI configuration file"));
  }

  // A region that is newer than this program is known to the nodes that are in it.
  void LearnRegion() {
    auto metadata = oci::MetadataService::Make({.environment = environment_}, base::RealClock());
    const absl::StatusOr<oci::RegionMetadata> told =
        metadata.ok() ? (*metadata)->RegionInfo() : metadata.status();
    if (told.ok()) regions_.Add(*told);
    if (regions_.Knows(region_)) return;
    LOG(WARNING) << "the region " << region_
                 << " is not known, and taken for one of the commercial "
                 << "realm or OCI_DEFAULT_REALM; OCI_REGION_METADATA can describe it ("
                 << (told.ok() ? "the metadata service tells of another" : told.status().message())
                 << ")";
  }

  const absl::Duration patience_;
  const oci::Environment environment_ = oci::ProcessEnvironment();
  oci::RegionTable regions_;
  std::string region_;
  OciIdentity identity_;
};

}  // namespace

std::string OciAuthFlag() { return FLAGS_auth; }

absl::StatusOr<OciIdentity> OciIdentityFromFlags(absl::Duration patience) {
  return IdentityMaker(patience).Make();
}

}  // namespace cmd
