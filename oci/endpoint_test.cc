#include "oci/endpoint.h"

#include "gtest/gtest.h"
#include "http/url.h"

namespace oci {
namespace {

TEST(LoadBalancerEndpoint, FollowsTheRegionsRealm) {
  const std::pair<const char*, const char*> cases[] = {
      {"us-ashburn-1", "https://iaas.us-ashburn-1.oraclecloud.com"},
      {"iad", "https://iaas.us-ashburn-1.oraclecloud.com"},
      {" PHX\n", "https://iaas.us-phoenix-1.oraclecloud.com"},
      {"fra", "https://iaas.eu-frankfurt-1.oraclecloud.com"},
      {"US-GOV-PHOENIX-1", "https://iaas.us-gov-phoenix-1.oraclegovcloud.com"},
      {"uk-gov-london-1", "https://iaas.uk-gov-london-1.oraclegovcloud.uk"},
      {"eu-frankfurt-2", "https://iaas.eu-frankfurt-2.oraclecloud.eu"},
      {"ap-chiyoda-1", "https://iaas.ap-chiyoda-1.oraclecloud8.com"},
      {"xx-newtown-1", "https://iaas.xx-newtown-1.oraclecloud.com"},
      {"xx-newtown-1.cloud.example", "https://iaas.xx-newtown-1.cloud.example"},
  };
  for (const auto& [region, endpoint] : cases) {
    EXPECT_EQ(LoadBalancerEndpoint(region).value(), endpoint);
    EXPECT_TRUE(http::ParseServerUrl(endpoint).ok());
  }
}

TEST(LoadBalancerEndpoint, AnUnknownRegionHasTheDefaultDomain) {
  EXPECT_EQ(LoadBalancerEndpoint("xx-newtown-1", "cloud.example").value(),
            "https://iaas.xx-newtown-1.cloud.example");
  EXPECT_EQ(LoadBalancerEndpoint("eu-madrid-2", "cloud.example").value(),
            "https://iaas.eu-madrid-2.oraclecloud.eu");
}

TEST(LoadBalancerEndpoint, RefusesWhatIsNoRegion) {
  for (const char* region : {"", "  ", "a/b", "x y", "https://x", "a\nb"}) {
    EXPECT_EQ(LoadBalancerEndpoint(region).status().code(), absl::StatusCode::kInvalidArgument)
        << region;
  }
}

}  // namespace
}  // namespace oci
