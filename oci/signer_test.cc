#include "oci/signer.h"

#include "base/file.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/request_signature.h"

namespace oci {
namespace {

using ::testing::HasSubstr;

class SignerVectors : public ::testing::Test {
 protected:
  SignerVectors()
      : document_(
            base::ParseJson(base::ReadFile("testdata/oci/signing-vectors.json").value(), "vectors")
                .value()),
        credentials_{
            .key_id = base::ReadString(document_, "key_id").value(),
            .key = PrivateKey::FromPem(base::ReadString(document_, "private_key_pem").value(), "")
                       .value()} {}

  void Reproduce(const char* method) {
    for (const rapidjson::Value& vector : document_["vectors"].GetArray()) {
      const auto text = [&](const char* name) { return base::ReadString(vector, name).value(); };
      if (text("method") != method) continue;
      http::Request request = {.method = method, .target = text("target"), .body = text("body")};
      request.headers = {{"date", text("date")}};
      if (!text("content_type").empty()) {
        request.headers.emplace_back("content-type", text("content_type"));
      }
      ASSERT_TRUE(SignRequest(credentials_, text("host"), absl::UnixEpoch(), request).ok());
      EXPECT_EQ(SigningString(request, text("host")), text("signing_string"));
      EXPECT_THAT(std::string(http::FindHeader(request.headers, "authorization")),
                  HasSubstr("signature=\"" + text("signature") + "\""));
      return;
    }
    FAIL() << "no vector of " << method;
  }

  const rapidjson::Document document_;
  const Credentials credentials_;
};

TEST_F(SignerVectors, ReproducesThePublishedGetVector) { Reproduce("GET"); }

TEST_F(SignerVectors, ReproducesThePublishedPostVector) { Reproduce("POST"); }

class Signer : public ::testing::Test {
 protected:
  // The headers of the wire: what the transport adds.
  http::Request OnTheWire(http::Request request) {
    request.headers.emplace_back("Host", "lb.example:8443");
    if (request.method != "GET") {
      request.headers.emplace_back("Content-Length", std::to_string(request.body.size()));
    }
    return request;
  }

  void SetUp() override { ASSERT_TRUE(verifier_.AddKey("k", "us", pair_.public_key_pem).ok()); }

  const sim::KeyPair pair_ = sim::MakeKeyPair();
  const Credentials credentials_{.key_id = "k",
                                 .key = PrivateKey::FromPem(pair_.private_key_pem, "").value()};
  sim::SignatureVerifier verifier_;
  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
};

TEST_F(Signer, SignsWhatAnIndependentVerifierAccepts) {
  for (const std::string method : {"GET", "DELETE", "PUT", "POST", "PATCH"}) {
    for (const std::string body : {"", "{\"drain\":true}"}) {
      http::Request request = {.method = method, .target = "/a/10.0.0.3:8080?x=%20", .body = body};
      ASSERT_TRUE(SignRequest(credentials_, "lb.example:8443", now_, request).ok());
      const auto verified = verifier_.Verify(OnTheWire(request), now_);
      EXPECT_TRUE(verified.ok()) << method << ": " << verified.status();
    }
  }
}

TEST_F(Signer, AnyChangeOfTheRequestBreaksTheSignature) {
  http::Request request = {.method = "PUT", .target = "/a", .body = "{}"};
  ASSERT_TRUE(SignRequest(credentials_, "lb.example:8443", now_, request).ok());
  const http::Request good = OnTheWire(request);
  ASSERT_TRUE(verifier_.Verify(good, now_).ok());
  http::Request other = good;
  other.target = "/b";
  EXPECT_FALSE(verifier_.Verify(other, now_).ok());
  other = good;
  other.method = "POST";
  EXPECT_FALSE(verifier_.Verify(other, now_).ok());
  other = good;
  other.body = "[]";
  EXPECT_FALSE(verifier_.Verify(other, now_).ok());
}

TEST_F(Signer, SigningAgainReplacesTheSignatureButNotTheDate) {
  http::Request request = {.method = "PUT", .target = "/a", .body = "{}"};
  ASSERT_TRUE(SignRequest(credentials_, "lb.example:8443", now_, request).ok());
  const size_t headers = request.headers.size();
  request.body = "[]";
  ASSERT_TRUE(SignRequest(credentials_, "lb.example:8443", now_, request).ok());
  EXPECT_EQ(request.headers.size(), headers);
  EXPECT_TRUE(verifier_.Verify(OnTheWire(request), now_).ok());
}

}  // namespace
}  // namespace oci
