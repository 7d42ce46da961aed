#include "http/url.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace http {
namespace {

using ::testing::HasSubstr;

TEST(ServerUrl, LeavesTheSchemesOwnPortOutOfTheAuthority) {
  EXPECT_EQ(ParseServerUrl("https://Example.COM")->Authority(), "example.com");
  EXPECT_EQ(ParseServerUrl("https://example.com:443/")->Authority(), "example.com");
  EXPECT_EQ(ParseServerUrl("http://example.com:80")->ToString(), "http://example.com");
  EXPECT_EQ(ParseServerUrl("https://10.0.0.1:6443")->ToString(), "https://10.0.0.1:6443");
  EXPECT_EQ(ParseServerUrl("http://h:443")->Authority(), "h:443");
}

TEST(ServerUrl, RefusesWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "does not start with http:// or https://"},
      {"ftp://x", "does not start with http:// or https://"},
      {"https://", "the host is empty"},
      {"https://:443", "the host is empty"},
      {"https://h/path", "a path or query is not supported"},
      {"https://h?x=1", "a path or query is not supported"},
      {"https://user@h", "user information is not supported"},
      {"https://[::1]:443", "an IPv6 literal is not supported, use a host name"},
      {"https://h:0", "the port is not a number from 1 to 65535"},
      {"https://h:65536", "the port is not a number from 1 to 65535"},
      {"https://h:x", "the port is not a number from 1 to 65535"},
      {"https://iaas..oraclecloud.com", "the host has an empty label"},
      {"https://a b", "a character that no host name has"},
  };
  for (const auto& [text, why] : cases) {
    const auto url = ParseServerUrl(text);
    EXPECT_EQ(url.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(url.status().message()), HasSubstr(why)) << text;
  }
}

TEST(EncodePathSegment, LeavesBackendNamesAndOcidsAsTheyAre) {
  EXPECT_EQ(EncodePathSegment("10.0.0.3:8080"), "10.0.0.3:8080");
  EXPECT_EQ(EncodePathSegment("ocid1.loadbalancer.oc1.iad.x"), "ocid1.loadbalancer.oc1.iad.x");
  EXPECT_EQ(EncodePathSegment("a/b c%\xc3\xa9?"), "a%2Fb%20c%25%C3%A9%3F");
}

TEST(EncodeQueryValue, EncodesColons) { EXPECT_EQ(EncodeQueryValue("a:b&c"), "a%3Ab%26c"); }

TEST(IsIpv4Literal, TellsAddressesFromNames) {
  EXPECT_TRUE(IsIpv4Literal("127.0.0.1"));
  EXPECT_FALSE(IsIpv4Literal("a.b.c.d"));
  EXPECT_FALSE(IsIpv4Literal("1.2.3"));
  EXPECT_FALSE(IsIpv4Literal("1.2.3.4.example"));
}

}  // namespace
}  // namespace http
