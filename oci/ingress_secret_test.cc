#include "oci/ingress_secret.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/certificates.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConfig[] =
    "auth:\n"
    "  region: us-ashburn-1\n"
    "  tenancy: ocid1.tenancy.oc1..t\n"
    "  user: ocid1.user.oc1..u\n"
    "  fingerprint: 20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34\n"
    "  passphrase: top-secret\n";

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ParseIngressSecretConfig, ReadsTheIngressControllersLayout) {
  const auto profile = ParseIngressSecretConfig(kConfig, "config");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->region, "us-ashburn-1");
  EXPECT_EQ(profile->tenancy, "ocid1.tenancy.oc1..t");
  EXPECT_EQ(profile->user, "ocid1.user.oc1..u");
  EXPECT_EQ(profile->fingerprint, "20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34");
  EXPECT_EQ(profile->pass_phrase, "top-secret");
}

TEST(ParseIngressSecretConfig, RefusesOtherThingsWithoutShowingThem) {
  for (const char* text : {"", "secret", "[secret]", "auth: secret", "auth: {passphrase: [secret]}",
                           "auth: {user: {secret: 1}}", "auth: *secret", "{secret: ["}) {
    const auto profile = ParseIngressSecretConfig(text, "config");
    if (profile.ok()) {
      // Nothing is set then, which is told when it is used.
      EXPECT_THAT(Message(ApiKeyId(*profile, ": ").status()), HasSubstr("tenancy: missing"));
      continue;
    }
    EXPECT_EQ(profile.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(Message(profile.status()), AllOf(HasSubstr("config: "), Not(HasSubstr("secret"))));
  }
}

class IngressSecret : public ::testing::Test {
 protected:
  // As the kubelet mounts a Secret: a folder for each version, and a link to it.
  void Write(const std::string& version, const std::string& config, const std::string& key) {
    const std::string place = absl::StrCat(folder_, "/..", version);
    mkdir(folder_.c_str(), 0700);
    mkdir(place.c_str(), 0700);
    std::ofstream(place + "/config") << config;
    std::ofstream(place + "/private-key") << key;
    const std::string next = folder_ + "/..data_tmp";
    ASSERT_EQ(symlink(absl::StrCat("..", version).c_str(), next.c_str()), 0);
    ASSERT_EQ(std::rename(next.c_str(), (folder_ + "/..data").c_str()), 0);
  }

  std::string ErrorWith(const std::string& from, const std::string& to) {
    Write("wrong", absl::StrReplaceAll(kConfig, {{from, to}}), key_);
    const auto loaded = IngressSecretCredentials::Load(folder_);
    EXPECT_THAT(Message(loaded.status()), Not(HasSubstr("top-secret")));
    return Message(loaded.status());
  }

  const std::string folder_ = ::testing::TempDir() + "/secret";
  inline static const std::string key_ = sim::MakeRsaKeyPem();
  inline static const std::string new_key_ = sim::MakeRsaKeyPem();
};

TEST_F(IngressSecret, GivesTheApiKeysNameAndKey) {
  Write("1", kConfig, key_);
  const auto loaded = IngressSecretCredentials::Load(folder_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->region(), "us-ashburn-1");
  const Credentials credentials = (*loaded)->Get().value();
  EXPECT_EQ(
      credentials.key_id,
      "ocid1.tenancy.oc1..t/ocid1.user.oc1..u/20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34");
  EXPECT_EQ(credentials.key->PublicKeyPem(), PrivateKey::FromPem(key_, "").value()->PublicKeyPem());
}

TEST_F(IngressSecret, IsReadAgainWhenItIsRefused) {
  Write("1", kConfig, key_);
  const auto loaded = IngressSecretCredentials::Load(folder_).value();
  const Credentials before = loaded->Get().value();
  Write("2", absl::StrReplaceAll(kConfig, {{"20:3b", "21:3b"}}), new_key_);
  EXPECT_EQ(loaded->Get()->key_id, before.key_id);
  EXPECT_EQ(loaded->Refresh(before), absl::OkStatus());
  const Credentials after = loaded->Get().value();
  EXPECT_THAT(after.key_id, HasSubstr("/21:3b"));
  EXPECT_NE(after.key->PublicKeyPem(), before.key->PublicKeyPem());
  Write("3", "nonsense", new_key_);
  EXPECT_EQ(loaded->Refresh(before), absl::OkStatus());
  EXPECT_FALSE(loaded->Refresh(after).ok());
  EXPECT_EQ(loaded->Get()->key_id, after.key_id);
}

TEST_F(IngressSecret, ErrorsNameTheFolderTheKeyAndTheCure) {
  EXPECT_THAT(ErrorWith("user: ", "x: "),
              HasSubstr(absl::StrCat("OCI Secret in ", folder_,
                                     ": key config: auth: user: missing; add user: <its OCID")));
  EXPECT_THAT(ErrorWith("20:3b", "20"), HasSubstr("auth: fingerprint: "));
  EXPECT_THAT(ErrorWith("region: us-ashburn-1", ""), HasSubstr("auth: region: missing"));
  EXPECT_THAT(ErrorWith("auth:", "auht:"), HasSubstr("key config: there is no auth:"));
  Write("key", kConfig, "nonsense");
  EXPECT_THAT(Message(IngressSecretCredentials::Load(folder_).status()),
              HasSubstr("key private-key: it has no private key in PEM form"));
  const auto missing = IngressSecretCredentials::Load("/nonexistent");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(missing.status()), HasSubstr("cannot read /nonexistent/config"));
}

}  // namespace
}  // namespace oci
