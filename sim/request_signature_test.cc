#include "sim/request_signature.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1800000000);
constexpr char kKeyId[] = "ocid1.tenancy/ocid1.user/aa:bb";
constexpr char kHost[] = "127.0.0.1:4711";

const KeyPair& Key() {
  static const KeyPair& key = *new KeyPair(MakeKeyPair());
  return key;
}

// A request as it arrives: signed, with the headers that a transport adds.
http::Request Arrived(const std::string& method, const std::string& body) {
  http::Request request{.method = method,
                        .target = "/20170115/loadBalancers/ocid1/backends/10.0.0.1%3A80?limit=5",
                        .headers = {},
                        .body = body};
  SignRequest(Key(), kKeyId, kHost, kNow, request);
  request.headers.emplace_back("Host", kHost);
  if (!body.empty()) {
    request.headers.emplace_back("Content-Length", std::to_string(body.size()));
  }
  return request;
}

std::string& Header(http::Request& request, const std::string& name) {
  for (auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no header " << name;
  return request.headers.front().second;
}

class SignatureVerifierTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(verifier_.AddKey(kKeyId, "controller", Key().public_key_pem).ok());
  }

  std::string Refusal(const http::Request& request, absl::Time now = kNow) {
    const auto client = verifier_.Verify(request, now);
    EXPECT_EQ(client.status().code(), absl::StatusCode::kUnauthenticated);
    return std::string(client.status().message());
  }

  SignatureVerifier verifier_;
};

TEST_F(SignatureVerifierTest, KnowsWhoSignedAReadAndAWrite) {
  EXPECT_EQ(*verifier_.Verify(Arrived("GET", ""), kNow), "controller");
  EXPECT_EQ(*verifier_.Verify(Arrived("PUT", "{}"), kNow), "controller");
}

TEST_F(SignatureVerifierTest, RefusesARequestThatWasChangedOnTheWay) {
  http::Request other_target = Arrived("GET", "");
  other_target.target = absl::StrReplaceAll(other_target.target, {{"%3A", ":"}});
  EXPECT_THAT(Refusal(other_target), HasSubstr("Failed to verify"));
  http::Request other_method = Arrived("GET", "");
  other_method.method = "DELETE";
  EXPECT_THAT(Refusal(other_method), HasSubstr("Failed to verify"));
  http::Request other_body = Arrived("PUT", "{}");
  other_body.body = "[]";
  EXPECT_THAT(Refusal(other_body), HasSubstr("x-content-sha256"));
  http::Request other_host = Arrived("GET", "");
  Header(other_host, "Host") = "elsewhere";
  EXPECT_THAT(Refusal(other_host), HasSubstr("Failed to verify"));
}

TEST_F(SignatureVerifierTest, RefusesAClockMoreThanFiveMinutesOff) {
  const http::Request request = Arrived("GET", "");
  EXPECT_TRUE(verifier_.Verify(request, kNow + absl::Minutes(5)).ok());
  EXPECT_THAT(Refusal(request, kNow + absl::Seconds(301)), HasSubstr("allowed clock skew"));
  EXPECT_THAT(Refusal(request, kNow - absl::Seconds(301)), HasSubstr("allowed clock skew"));
}

TEST_F(SignatureVerifierTest, RefusesWhatIsMissingOrUnknown) {
  http::Request unsigned_request = Arrived("GET", "");
  unsigned_request.headers.clear();
  EXPECT_THAT(Refusal(unsigned_request), HasSubstr("no Authorization"));
  http::Request bearer = Arrived("GET", "");
  Header(bearer, "authorization") = "Bearer x";
  EXPECT_THAT(Refusal(bearer), HasSubstr("not a Signature"));
  http::Request stranger = Arrived("GET", "");
  std::string& authorization = Header(stranger, "authorization");
  authorization = absl::StrReplaceAll(authorization, {{kKeyId, "nobody"}});
  EXPECT_THAT(Refusal(stranger), HasSubstr("keyId"));
  // A read's signature does not cover a body.
  http::Request unsigned_body = Arrived("GET", "");
  unsigned_body.method = "PUT";
  EXPECT_THAT(Refusal(unsigned_body), HasSubstr("content-length is not signed"));
}

TEST_F(SignatureVerifierTest, NamesOfSignedHeadersMayHaveAnyCase) {
  http::Request request = Arrived("GET", "");
  std::string& authorization = Header(request, "authorization");
  authorization = absl::StrReplaceAll(
      authorization, {{"date (request-target) host", "Date (request-target) HOST"}});
  EXPECT_TRUE(verifier_.Verify(request, kNow).ok());
}

TEST_F(SignatureVerifierTest, RefusesTextThatIsNoKey) {
  EXPECT_EQ(verifier_.AddKey("id", "client", "nonsense").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MakeKeyPair, ShowsItsFingerprintAsOciDoes) {
  EXPECT_EQ(Key().fingerprint.size(), 47u);
  EXPECT_THAT(Key().fingerprint, ::testing::MatchesRegex("([0-9a-f]{2}:){15}[0-9a-f]{2}"));
}

}  // namespace
}  // namespace sim
