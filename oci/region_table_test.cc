#include "oci/region_table.h"

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/url.h"

namespace oci {
namespace {

using ::testing::HasSubstr;

std::string Endpoint(absl::string_view region) {
  return RegionTable().Endpoint("iaas", region).value_or("");
}

TEST(RegionTable, KnowsShortCodesInAnyCase) {
  const RegionTable table;
  EXPECT_EQ(table.Identifier("IAD"), "us-ashburn-1");
  EXPECT_EQ(table.Identifier(" phx\n"), "us-phoenix-1");
  EXPECT_EQ(table.Identifier("EU-Frankfurt-1"), "eu-frankfurt-1");
  EXPECT_EQ(table.Identifier("xx-new-1"), "xx-new-1");
  EXPECT_TRUE(table.Knows("iad"));
  EXPECT_TRUE(table.Knows("us-ashburn-1"));
  EXPECT_TRUE(table.Knows("my.example.com"));
  EXPECT_FALSE(table.Knows("xx-new-1"));
  EXPECT_FALSE(table.Knows(""));
}

TEST(RegionTable, HasOneDomainForEachRealm) {
  EXPECT_EQ(Endpoint("us-ashburn-1"), "https://iaas.us-ashburn-1.oraclecloud.com");
  EXPECT_EQ(Endpoint("fra"), "https://iaas.eu-frankfurt-1.oraclecloud.com");
  EXPECT_EQ(Endpoint("us-langley-1"), "https://iaas.us-langley-1.oraclegovcloud.com");
  EXPECT_EQ(Endpoint("us-gov-phoenix-1"), "https://iaas.us-gov-phoenix-1.oraclegovcloud.com");
  EXPECT_EQ(Endpoint("ltn"), "https://iaas.uk-gov-london-1.oraclegovcloud.uk");
  EXPECT_EQ(Endpoint("nja"), "https://iaas.ap-chiyoda-1.oraclecloud8.com");
  EXPECT_EQ(Endpoint("eu-dcc-milan-1"), "https://iaas.eu-dcc-milan-1.oraclecloud14.com");
  EXPECT_EQ(Endpoint("vll"), "https://iaas.eu-madrid-2.oraclecloud.eu");
  EXPECT_EQ(Endpoint("eu-budapest-1"), "https://iaas.eu-budapest-1.oraclecloud51.com");
  EXPECT_EQ(RegionTable().Endpoint("auth", "ams").value(),
            "https://auth.eu-amsterdam-1.oraclecloud.com");
}

TEST(RegionTable, GuessesTheDomainOfARegionThatItDoesNotKnow) {
  EXPECT_EQ(Endpoint("xx-new-1"), "https://iaas.xx-new-1.oraclecloud.com");
  EXPECT_EQ(Endpoint("my-region.example.com"), "https://iaas.my-region.example.com");
}

TEST(RegionTable, RefusesWhatIsNoRegion) {
  for (const absl::string_view region :
       {"", "  ", "us ashburn", "evil.example/x", "a..b", ".b", "a@b", "r\xc3\xa9gion"}) {
    EXPECT_EQ(RegionTable().Endpoint("iaas", region).status().code(),
              absl::StatusCode::kInvalidArgument)
        << region;
  }
}

TEST(RegionTable, GivesAddressesThatCanBeReached) {
  for (const absl::string_view region : {"iad", "xsp", "my-region.example.com"}) {
    EXPECT_TRUE(http::ParseServerUrl(Endpoint(region)).ok()) << region;
  }
}

constexpr char kNew[] =
    R"({"realmKey":"oc99","realmDomainComponent":"Example.COM","regionKey":"NEW",)"
    R"("regionIdentifier":"xx-new-1"})";

TEST(RegionTable, TakesWhatTheMetadataServiceTells) {
  RegionTable table;
  table.Add(ParseRegionMetadata(kNew, "regionInfo").value());
  EXPECT_EQ(table.Endpoint("iaas", "new").value(), "https://iaas.xx-new-1.example.com");
  EXPECT_TRUE(table.Knows("xx-new-1"));
  // What is known stays.
  table.Add({.identifier = "us-ashburn-1", .short_code = "iad", .domain = "elsewhere.com"});
  EXPECT_EQ(table.Endpoint("iaas", "iad").value(), Endpoint("iad"));
}

TEST(ParseRegionMetadata, RefusesWhatIsNoRegion) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {"", "regionInfo: JSON error"},
      {"[]", "regionInfo: regionIdentifier: "},
      {"{}", "regionInfo: regionIdentifier: missing"},
      {R"({"regionIdentifier":"x","regionKey":7})", "regionInfo: regionKey: expected a string"},
      {R"({"regionIdentifier":"x/y","regionKey":"x","realmDomainComponent":"e.com"})",
       "regionInfo: regionIdentifier is not a name that a host could have"},
      {R"({"regionIdentifier":"x","regionKey":"x","realmDomainComponent":"e.com@evil"})",
       "regionInfo: realmDomainComponent is not a name that a host could have"},
  };
  for (const auto& test : kCases) {
    const auto parsed = ParseRegionMetadata(test.json, "regionInfo");
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << test.json;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(test.error));
  }
  EXPECT_FALSE(ParseRegionMetadata(std::string(100000, ' '), "regionInfo").ok());
}

class RegionEnvironment : public ::testing::Test {
 protected:
  RegionEnvironment() { mkdir((home_ + "/.oci").c_str(), 0700); }
  ~RegionEnvironment() override { std::remove(File().c_str()); }

  std::string File() const { return home_ + "/.oci/regions-config.json"; }

  absl::StatusOr<RegionTable> Table() {
    variables_["HOME"] = home_;
    return RegionTable::FromEnvironment(
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = variables_.find(name);
          if (found == variables_.end()) return std::nullopt;
          return found->second;
        });
  }

  const std::string home_ = ::testing::TempDir();
  std::map<std::string, std::string> variables_;
};

TEST_F(RegionEnvironment, WithoutAnythingIsWhatIsBuiltIn) {
  EXPECT_EQ(Table()->Endpoint("iaas", "xx-new-1").value(), Endpoint("xx-new-1"));
}

TEST_F(RegionEnvironment, DefaultRealmIsTheDomainOfUnknownRegionsOnly) {
  variables_["OCI_DEFAULT_REALM"] = "realm.example";
  EXPECT_EQ(Table()->Endpoint("iaas", "xx-new-1").value(), "https://iaas.xx-new-1.realm.example");
  EXPECT_EQ(Table()->Endpoint("iaas", "iad").value(), Endpoint("iad"));
  variables_["OCI_DEFAULT_REALM"] = "https://evil";
  EXPECT_THAT(std::string(Table().status().message()), HasSubstr("OCI_DEFAULT_REALM: expected"));
}

TEST_F(RegionEnvironment, RegionMetadataAddsARegion) {
  variables_["OCI_REGION_METADATA"] = kNew;
  EXPECT_EQ(Table()->Endpoint("iaas", "new").value(), "https://iaas.xx-new-1.example.com");
  variables_["OCI_REGION_METADATA"] = "{";
  EXPECT_THAT(std::string(Table().status().message()),
              HasSubstr("the environment variable OCI_REGION_METADATA: JSON error"));
}

TEST_F(RegionEnvironment, TheFileAddsRegionsAndComesFirst) {
  std::ofstream(File()) << "[" << kNew << "]";
  variables_["OCI_REGION_METADATA"] =
      R"({"realmDomainComponent":"other.com","regionKey":"new","regionIdentifier":"xx-new-1"})";
  EXPECT_EQ(Table()->Endpoint("iaas", "new").value(), "https://iaas.xx-new-1.example.com");
  std::ofstream(File()) << kNew;
  EXPECT_THAT(std::string(Table().status().message()),
              HasSubstr("regions-config.json: expected an array"));
  std::ofstream(File()) << "[{}]";
  EXPECT_THAT(std::string(Table().status().message()),
              HasSubstr("regions-config.json: regionIdentifier: missing"));
}

}  // namespace
}  // namespace oci
